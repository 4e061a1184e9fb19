"""The terms of a text, with their frequencies.

A term is the stem of a word, or a pair of adjacent Chinese or Japanese characters. Stop words are not terms, nor are
numbers (page numbers, prices and dates occur in unrelated texts) and single letters (initials, list items, parts of
formulas). Combinations of letters and digits, such as utf8, are.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from importlib import resources
from itertools import chain
from operator import add
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

AUTO = "auto"
MAX_CHARS = 100_000  # of a text: 15,000 words, a chapter of a book; more would hardly change the cosine
MAX_WORD = 40  # letters of a word; longer ones are encoded data, or a script without spaces that is not supported
STEM_CACHE = 50_000  # words, some 8 MB: stemming a word takes 20 µs, a cached one 0.1 µs

#: ISO 639-1 codes of the languages with stemmers, and their accepted names.
LANGUAGES = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
CHINESE = ("zh", "chinese")

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"  # Japanese endings and particles: ignored
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff"  # Japanese loanwords: words without stemming
_LETTER = rf"[^\W_{_HAN}{_HIRAGANA}{_KATAKANA}]"
# Vowel signs of Indian scripts, points of Hebrew and Arabic: parts of words, but not matched by \w.
_MARKS = "".join(char for char in map(chr, range(0x300, 0x1000)) if unicodedata.category(char)[0] == "M")
_WORD = re.compile(rf"{_LETTER}+(?:['{_MARKS}]{_LETTER}*)*|[{_KATAKANA}]+")
_HAN_RUN = re.compile(f"[{_HAN}]+")


class Terms:
    """Counts the terms of texts; not thread-safe.

    *language* selects the stemmer and the stop words: `auto` decides for each word by its script (Latin letters are
    English, Cyrillic ones Russian), `zh` stems no words, and all others are in `LANGUAGES`. There are stop words for
    English, Russian and Chinese. Chinese characters are terms in every language. Raises `ConfigError` for an unknown
    *language*.

    >>> terms = Terms()
    >>> terms("The encodings: an encoding of 1991").most_common()
    [('encod', 2)]
    >>> sorted(terms("О кодировках текста")), sorted(terms("字符的编码"))
    (['кодировк', 'текст'], ['字符', '编码'])
    """

    def __init__(self, language: str = AUTO) -> None:
        self.language = language_code(language)
        codes = ("en", "ru") if self.language == AUTO else (self.language,)
        self._stem = {code: _stemmer(code) for code in codes}
        self._stop_words = {code: _stop_words(code) for code in codes}
        self._term = lru_cache(STEM_CACHE)(self._new_term)

    def __call__(self, text: str) -> Counter[str]:
        """Return the terms of the first `MAX_CHARS` characters of *text*, with their frequencies."""
        plain = unicodedata.normalize("NFKC", text[:MAX_CHARS]).lower()
        plain = plain.replace("\u2019", "'").replace("\xad", "")  # one apostrophe; no soft hyphens
        counts = Counter(chain.from_iterable(map(_characters, _HAN_RUN.findall(plain))))
        for word, times in Counter(_WORD.findall(plain)).items():
            if term := self._term(word):
                counts[term] += times
        return counts

    def _new_term(self, word: str) -> str | None:
        word = word.strip("'")
        code = _script(word) if self.language == AUTO else self.language
        if not 2 <= len(word) <= MAX_WORD or word.isdecimal() or word in self._stop_words.get(code, ()):
            return None
        return self._stem[code](word) if code in self._stem else word


def language_code(name: str, origin: str = "language") -> str:
    """Return the code of the language *name*, which is a code or an English name.

    Raises `ConfigError` for an unknown one; *origin* is the setting or place in a file that the message names.

    >>> language_code("Russian"), language_code("auto")
    ('ru', 'auto')
    """
    plain = name.strip().lower()
    if plain in LANGUAGES or plain == AUTO:
        return plain
    if plain in CHINESE:
        return CHINESE[0]
    for code, language in LANGUAGES.items():
        if plain == language:
            return code
    raise ConfigError(f"{origin}: unknown language {name[:40]!r}; choose one of: auto zh {' '.join(LANGUAGES)}")


def _script(word: str) -> str:
    first = word[:1]
    if first < "\u0250":
        return "en"
    return "ru" if "\u0400" <= first <= "\u052f" else ""


def _stemmer(code: str) -> Callable[[str], str]:
    if code not in LANGUAGES:
        return str
    import snowballstemmer  # stemmers of all languages

    stem: Callable[[str], str] = snowballstemmer.stemmer(LANGUAGES[code]).stemWord
    return stem


def _stop_words(code: str) -> frozenset[str]:
    """Return the stop words of a language; empty if it has no list."""
    file = resources.files(__package__).joinpath("stop_words", f"{code}.txt")
    if not file.is_file():
        return frozenset()
    lines = file.read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


_CUT = re.compile("|".join(sorted(_stop_words("zh"), key=len, reverse=True)))


def _characters(run: str) -> list[str]:
    """Return the pairs of adjacent characters between stop words; an isolated character is a term itself."""
    terms: list[str] = []
    for piece in _CUT.split(run):
        terms.extend(map(add, piece, piece[1:]) if len(piece) > 1 else piece)
    return terms

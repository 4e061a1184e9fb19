"""A topic as a vector of terms, and the similarity of texts to it.

Before a page is read, its relevance is estimated from the text around links to it and from its distance; afterwards it
is computed from its own text.

References
----------
.. [1] Wang, Zhu, Li, Pan (2004), Design of a Multi-strategy Topic Specific Web Crawler (in Chinese).
.. [2] Menczer, Pant, Srinivasan, Ruiz (2001), Evaluating Topic-Driven Web Crawlers.

A term is the stem of a word, or a pair of adjacent Chinese or Japanese characters. Stop words are not terms, nor are
numbers (page numbers, prices and dates occur in unrelated texts) and single letters (initials, list items, parts of
formulas). Combinations of letters and digits, such as utf8, are.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from dataclasses import astuple, dataclass
from functools import cache, lru_cache
from heapq import nsmallest
from importlib import resources
from itertools import chain
from operator import add
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

AUTO = "auto"
MAX_CHARS = 100_000  # of a text: 15,000 words, a chapter of a book; more would hardly change the cosine
MAX_WORD = 40  # letters of a word; longer ones are encoded data, or a script without spaces that is not supported
STEM_CACHE = 50_000  # words, some 8 MB: stemming a word takes 20 µs, a cached one 0.1 µs

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
    English, Cyrillic ones Russian), `zh` stems no words, and all others are in `languages`. There are stop words for
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


@cache
def languages() -> Mapping[str, str]:
    """Return the names of the languages with stemmers, in lower case, by their ISO 639-1 codes, which are in order."""
    import snowballstemmer  # stemmers of all languages
    from babel import Locale

    codes = {name.lower(): code for code, name in Locale("en").languages.items()} | {"sesotho": "st"}
    return dict(sorted((codes[name], name) for name in snowballstemmer.algorithms() if name in codes))


def language_code(name: str, origin: str = "language") -> str:
    """Return the code of the language *name*, which is a code or an English name.

    Raises `ConfigError` for an unknown one; *origin* is the setting or place in a file that the message names.

    >>> language_code("Russian"), language_code("auto")
    ('ru', 'auto')
    """
    plain = name.strip().lower()
    if plain == AUTO or plain in languages():
        return plain
    if plain in CHINESE:
        return CHINESE[0]
    for code, language in languages().items():
        if plain == language:
            return code
    raise ConfigError(f"{origin}: unknown language {name[:40]!r}; choose one of: auto zh {' '.join(languages())}")


def _script(word: str) -> str:
    first = word[:1]
    if first < "\u0250":
        return "en"
    return "ru" if "\u0400" <= first <= "\u052f" else ""


def _stemmer(code: str) -> Callable[[str], str]:
    if code not in languages():
        return str
    import snowballstemmer

    stem: Callable[[str], str] = snowballstemmer.stemmer(languages()[code]).stemWord
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


TOPIC_TERMS = 50  # terms kept of example pages: the weaker ones are words that occur on any page


class Topic:
    """A topic: the weights of its `terms`, in descending order, as a vector of length 1.

    *terms* contains at least one, with weights > 0.

    >>> Topic({"encod": 3, "unicod": 4}).terms
    {'unicod': 0.8, 'encod': 0.6}
    """

    def __init__(self, terms: Mapping[str, float]) -> None:
        norm = _norm(terms)
        strongest = sorted(terms.items(), key=_by_weight)
        self.terms = {term: weight / norm for term, weight in strongest}

    def anchor_relevance(self, counts: Mapping[str, float]) -> float:
        """Return the cosine of the topic and a text with these *counts* of terms, in [0, 1]; 0 for an empty text.

        >>> Topic({"encod": 3, "unicod": 4}).anchor_relevance({"unicod": 2})
        0.8
        """
        return _cosine(self.terms, counts)

    def tf_idf_similarity(self, counts: Mapping[str, float], seen: DocumentFrequencies) -> float:
        """Return the cosine with each term of both vectors weighted by `DocumentFrequencies.idf`, in [0, 1].

        *seen* holds the document frequencies of the collection: frequent terms count less than rare ones.
        """
        return _cosine(
            {term: weight * seen.idf(term) for term, weight in self.terms.items()},
            {term: count * seen.idf(term) for term, count in counts.items()},
        )


class DocumentFrequencies:
    """The number of documents that contain each term."""

    def __init__(self, documents: Iterable[Iterable[str]] = ()) -> None:
        self.documents = 0
        self._frequencies: Counter[str] = Counter()
        for terms in documents:
            self.add(terms)

    def add(self, terms: Iterable[str]) -> None:
        """Add a document with these *terms*."""
        self.documents += 1
        self._frequencies.update(set(terms))

    def idf(self, term: str) -> float:
        """Return 1 + ln(|S|/n_k): |S| documents, n_k of them with *term*, or 1 if none has it.

        >>> DocumentFrequencies([["encod"], ["encod"]]).idf("encod")
        1.0
        """
        return 1.0 + math.log(max(self.documents, 1) / (self._frequencies[term] or 1))


def topic_of(keywords: Mapping[str, float], examples: Iterable[Mapping[str, float]]) -> Topic:
    """Return the topic defined by weighted *keywords* (terms) and by the term counts of *examples*, pages about it.

    The examples are averaged as vectors of length 1, and the `TOPIC_TERMS` strongest terms are kept. Both parts are
    normalised and added: keywords count as much as all examples together. Raises `ConfigError` if there are no terms.

    >>> topic_of({"unicod": 2}, [{"unicod": 5}, {"unicod": 1}]).terms
    {'unicod': 1.0}
    """
    sums: Counter[str] = Counter()
    for counts in examples:
        sums.update(_normalized(counts))
    profile = dict(nsmallest(TOPIC_TERMS, sums.items(), key=_by_weight))
    terms = Counter(_normalized(keywords))
    terms.update(_normalized(profile))
    if not terms:
        raise ConfigError("the topic has no terms; give keywords, or example pages with text")
    return Topic(terms)


def distance_relevance(level: int) -> float:
    """Return R_d = 1/d of a page *level* >= 0 clicks from the root pages, where d = *level* + 1."""
    return 1.0 / (level + 1)


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the parts of a score. Each is in [0, 1]; they sum to 1, and gamma or delta is 0.

    Raises `ConfigError` otherwise. With gamma, the scores of pages that wait fall while others are read; the URLs that
    are compared by what was learnt are chosen by scores that only rise.
    """

    alpha: float  # R_a, the text of links
    beta: float  # R_d, the distance
    gamma: float  # TR, TimelyRank
    delta: float = 0.0  # R_l, what was learnt of links, see `topic_scores.LinkRelevance`; 0: nothing is learnt

    def __post_init__(self) -> None:
        weights = astuple(self)
        shown = ", ".join(f"{name}={weight:.12g}" for name, weight in zip(self.__slots__, weights, strict=True))
        if not all(0.0 <= weight <= 1.0 for weight in weights):
            raise ConfigError(f"{shown}: each weight must be from 0 to 1; change them so that they sum to 1")
        if self.gamma and self.delta:
            raise ConfigError(f"{shown}: gamma and delta can't be combined; leave out either")
        total = math.fsum(weights)
        if abs(total - 1.0) > 1e-9:
            raise ConfigError(f"{shown} sum to {total:.12g}, expected 1; divide each by their sum")


#: The strategies by name; all but `learnt` are those of [1].
STRATEGIES = {
    "learnt": Weights(0.5, 0.0, 0.0, 0.5),
    "anchor": Weights(1.0, 0.0, 0.0),
    "breadth": Weights(0.0, 1.0, 0.0),
    "links": Weights(0.0, 0.0, 1.0),
    "mixed": Weights(0.4, 0.3, 0.3),
}
DEFAULT_STRATEGY = "learnt"  # it finds most pages about a topic on nearly every web that was measured


def _by_weight(entry: tuple[str, float]) -> tuple[float, str]:
    term, weight = entry
    return -weight, term


def _norm(vector: Mapping[str, float]) -> float:
    return math.hypot(*vector.values())


def _normalized(vector: Mapping[str, float]) -> dict[str, float]:
    norm = _norm(vector)
    return {term: weight / norm for term, weight in vector.items()}


def _cosine(topic: Mapping[str, float], text: Mapping[str, float]) -> float:
    shared = math.fsum(topic[term] * count for term, count in text.items() if term in topic)
    return min(1.0, shared / (_norm(topic) * _norm(text))) if shared else 0.0

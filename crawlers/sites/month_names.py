"""The months that names mean in the languages of CLDR (month_names.json, by `python -m bench.quality.month_names`).

A name may mean different months: Croatian "listopada" is October, Polish "listopada" November. So the language of the
text decides; without it, such a name means no month.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from crawlers.sites.calendars import PERSIAN_MONTHS, is_persian

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TABLE = "month_names.json"
ENGLISH = ("en",)  # machines write English months in texts of any language

_MIN_PREFIX = 3  # letters: some programs abbreviate names otherwise than CLDR
_MAX_WORDS = 5  # of a name
_CODE_LETTERS = 2  # of a language in ISO 639-1
_COUNTRIES = {"uk": "gb"}  # top-level domains that differ from ISO 3166
# Top-level domains that are sold to everybody, so that they tell nothing about the language.
_GENERIC = re.compile("a[cdims]|bz|c[cdo]|dj|fm|gg|i[mo]|l[ay]|m[es]|nu|s[chrtu]|t[kov]|vc|ws")

# Marks that only some writers set: accents, Arabic vowels and hamza, lengthening; and invisible signs.
_OPTIONAL = re.compile("[\u0300-\u036f\u0640\u064b-\u0655\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_VARIANTS = str.maketrans({"ı": "i", "ي": "ی", "ى": "ی", "ك": "ک", "<": " ", ">": " "})
_RUN = re.compile(r"[^\d\s,;:!?/()\[\]|<>«»\"“”„'’`ʼ–—_~+=،؛。、・।-]+")


class _Table(NamedTuple):
    names: Mapping[str, Mapping[int, frozenset[str]]]  # of languages, by the folded name and the month
    countries: Mapping[str, tuple[str, ...]]  # languages by ISO 3166


@cache
def _table() -> _Table:
    text = resources.files(__package__).joinpath(TABLE).read_text("utf-8")
    table = json.loads(text)
    names = {
        name: {int(month): frozenset(languages.split()) for month, languages in months.items()}
        for name, months in table["names"].items()
    }
    return _Table(names, {country: tuple(languages.split()) for country, languages in table["countries"].items()})


def folded(text: str) -> str:
    """Return *text* in lower case and ASCII digits, without accents and other optional marks.

    >>> folded("٣ MÄRZ ２０２４")
    '3 marz 2024'
    """
    if text.isascii():
        return text.lower().replace("<", " ").replace(">", " ")
    text = _OPTIONAL.sub("", unicodedata.normalize("NFKD", text.casefold())).translate(_VARIANTS)
    digits = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
    return unicodedata.normalize("NFC", digits)  # syllables of Hangul again


def name_key(text: str) -> str:
    """Return the key of the *folded* name of a month in the table: its words without punctuation."""
    return " ".join(found[0].replace(".", "") for found in _RUN.finditer(text))


def languages_of(declared: str, url: str) -> tuple[str, ...]:
    """Return the languages that dates at *url* may be in: that of the text, then all of the country, if it is known.

    That of the text is the *declared* one, else the first of the country.

    >>> languages_of("en-US", "https://example.hr/1"), languages_of("", "https://example.ca/1")
    (('en', 'hr'), ('en', 'en', 'fr'))
    >>> languages_of("en", "https://example.co/1"), languages_of("", "https://example.org/1")
    (('en',), ())
    """
    label = (urlsplit(url).hostname or "").rpartition(".")[2]
    spoken = () if _GENERIC.fullmatch(label) else _table().countries.get(_COUNTRIES.get(label, label), ())
    code = declared.strip().lower().replace("_", "-").partition("-")[0]
    return (code, *spoken) if len(code) == _CODE_LETTERS else (*spoken[:1], *spoken)


def with_months(text: str, languages: Sequence[str] | None) -> str:
    """Return the *folded* text with each name of a month in *languages* replaced by its number: "3 <5> 2024".

    With None, names that mean one month in all languages are replaced. Persian months are numbered as in `calendars`.
    """
    runs = list(_RUN.finditer(text))
    keys = [run[0].replace(".", "") for run in runs]
    parts = []
    end = first = 0
    while first < len(runs):
        for last in range(min(len(runs), first + _MAX_WORDS), first, -1):
            month = _month(" ".join(keys[first:last]), None if languages is None else tuple(languages))
            if month:
                parts += [text[end : runs[first].start()], f"<{month}>"]
                end = runs[last - 1].end()
                first = last
                break
        else:
            first += 1
    return "".join([*parts, text[end:]])


@lru_cache(maxsize=4096)
def _month(key: str, languages: tuple[str, ...] | None) -> int:
    """Return the month that *key* means; 0 if none, or several."""
    known = _table().names.get(key, {})
    if languages is None:
        return next(iter(known)) if len(known) == 1 and len(key) >= _MIN_PREFIX else 0
    for language in languages:
        if is_persian(language) and key in PERSIAN_MONTHS:
            return PERSIAN_MONTHS[key]
        months = [month for month, users in known.items() if language in users] or _abbreviated(key, language)
        if months:
            return months[0] if len(months) == 1 else 0
    return 0


def _abbreviated(key: str, language: str) -> list[int]:
    """Return the months whose names begin with *key*."""
    if len(key) < _MIN_PREFIX:
        return []
    return sorted({month for name, month in _names_of(language) if name.startswith(key)})


@lru_cache(maxsize=256)
def _names_of(language: str) -> tuple[tuple[str, int], ...]:
    return tuple(
        (name, month) for name, months in _table().names.items() for month, users in months.items() if language in users
    )

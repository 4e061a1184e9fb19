"""Extracts author names from bylines: "By Ann Lee and Bo Ek", addresses, accounts, the site."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_AUTHORS = 20
_MAX_NAME = 80  # letters; longer ones are sentences

_TAG = re.compile(r"<[^>]*>")
_NO_NAME = re.compile(r"\S+@\S+\.\S+|(?:https?://|www\.)\S*|@\w*|\b[\w.-]+\[at\]\S+", re.I)
# Words that precede names, in the languages where this is common.
_BY = re.compile(
    r"\A(?:(?:written|words|reported|story|text|texte|artikel|article|geschrieben)\s+)?(?:by|von|de|par|por|di|av|af|door|"
    r"przez|от|автор|autor(?:a|en|in|es)?|authors?|auteure?s?|text|texte?s?|words|foto|fotos|photo|quelle)(?:\s*:\s*|\s+|\Z)",
    re.I,
)
_BETWEEN = re.compile(r"\s*[;|/,、，•·\n]\s*|\s+(?:and|und|et|og|och|en|&|и|та|ja|ve|dan)\s+", re.I)
_BETWEEN_FULL_NAMES = re.compile(r"(?<=\w )(?:y|e|i)(?= \w+[ -]\w)")
_NO_PERSON = re.compile(
    r"(?:ph\.?d|m\.?[adsb]|m\.?sc|md|rd|mph|dds|jd|esq|jr|sr|dr|prof|admin|administrator|guest|none|null|unknown)\W*",
    re.I,
)
_STAFF = re.compile(r"(?:staff|news|editors?|redaktion|redaktor(?:in)?|reporter|correspondent|nachrichten)\W*", re.I)
_EDGES = " \t,:;-–—|•·*\"'()[]\u00a0"
_FULL_STOP = re.compile(r"(?<=\w{4})\.\Z")
_LETTERS = re.compile(r"[\W\d_]+")


def authors(sources: Iterable[Iterable[str]], site_names: Iterable[str]) -> tuple[str, ...]:
    """Return the names in the first of *sources* that has any, without duplicates, at most `MAX_AUTHORS`.

    The site (one of *site_names*) or its staff is the author only if no source has another name.

    >>> authors([["The Example"], ["By Ann Lee and Bo Ek, PhD", "https://example.org/ann", "Ann Lee"]], ["The Example"])
    ('Ann Lee', 'Bo Ek')
    """
    sites = {_letters(name) for name in site_names}
    anybody: tuple[str, ...] = ()
    for declared in sources:
        names = _names(declared)
        persons = [name for letters, name in names.items() if letters not in sites and not _is_staff(name)]
        if persons:
            return tuple(persons[:MAX_AUTHORS])
        anybody = anybody or tuple(names.values())[:1]
    return anybody


def _names(declared: Iterable[str]) -> dict[str, str]:
    """Return the names in *declared*, keyed by their letters."""
    found: dict[str, str] = {}
    for line in declared:
        text = _NO_NAME.sub(" ", _TAG.sub(" ", unescape(line)))
        text = _BY.sub("", " ".join(text.split()).strip(_EDGES))
        for part in _BETWEEN.split(_BETWEEN_FULL_NAMES.sub(";", text)):
            name = _FULL_STOP.sub("", _BY.sub("", part.strip(_EDGES)).strip(_EDGES))
            letters = _letters(name)
            if letters and len(name) <= _MAX_NAME and not _NO_PERSON.fullmatch(name):
                found.setdefault(letters, name)
    return found


def _is_staff(name: str) -> bool:
    return _STAFF.fullmatch(name) is not None


def _letters(name: str) -> str:
    return _LETTERS.sub("", name).casefold()

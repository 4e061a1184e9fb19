"""Extracts author names from bylines: "By Ann Lee and Bo Ek", "Ann Lee, Reuters", addresses, accounts, the site."""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlers.missions.news.article.byline_words import AGENCY, BEFORE, ROLE
from crawlers.missions.news.article.shown_authors import MAX_WORDS, looks_like_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MAX_AUTHORS = 20
_MAX_NAME = 80  # letters; longer ones are sentences
_MAX_LINE = 2_000  # letters that are read: twenty names are shorter
_MAX_SHOWN = 30  # bylines of a page that are read
_LABEL = 5  # letters of a host's label that make a name with it that of the site

_TAG = re.compile(r"<[^>]*>")
_NO_NAME = re.compile(r"\S+@\S+\.\S+|(?:https?://|www\.)\S*|@\w*|\b[\w.-]+\[at\]\S+", re.I)
_AND = r"(?:and|und|et|og|och|en|&|и|та|і|ja|ve|dan|και|és|și|và|และ|y|و)\s+"
_BETWEEN = re.compile(rf"\s*[;|/／,、，،•·\n]\s*(?:{_AND})?|\s+[–—-]\s+|\s+{_AND}", re.I)
_TAIL = re.compile(
    r"\s+(?:for|of|from|at|in|is|reports?|special to|para|pour|für|per|dla)\s+(?:the\s+)?\S.*\Z"
    r"|(?<=\S) +(?:staff (?:writer|reporter)|correspondent|reporter|contributor)\Z|\s*[(\[（【].*\Z",
    re.I,
)
_EDGES = " \t,:;-–—|•·*\"'()[]\u00a0"
_LETTERS = re.compile(r"[\W\d_]+")


def authors(
    sources: Iterable[Iterable[str]],
    site_names: Iterable[str],
    url: str = "",
    shown: Iterable[Iterable[str]] = (),
) -> tuple[str, ...]:
    """Return the persons in the first of *sources* that names any, without duplicates, at most `MAX_AUTHORS`.

    *shown* are bylines of the page, which are read if no source names a person. The site (one of *site_names*, or the
    host of *url*) or an agency is the author only if there is no person.

    >>> authors([["The Example"], ["By Ann Lee and Bo Ek, PhD", "https://example.org/ann", "Ann Lee"]], ["The Example"])
    ('Ann Lee', 'Bo Ek')
    >>> authors([["Reuters"]], [], shown=[["Analysis by Jane Doe, Political Editor"]])
    ('Jane Doe',)
    """
    sites = {_letters(name) for name in site_names}
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    anybody: tuple[str, ...] = ()
    for declared in sources:
        names = list(_names(declared).values())
        persons = [name for name in names if not _is_nobody(name, sites, host)]
        if len(persons) < len(names):  # the others may say where it is: "The Post, London"
            persons = list(filter(looks_like_name, persons))
        if persons:
            return tuple(persons[:MAX_AUTHORS])
        anybody = anybody or tuple(names[:1])
    guessed: tuple[str, ...] = ()
    for lines in islice(shown, _MAX_SHOWN):
        names = list(_names(lines).values())
        if names and all(looks_like_name(name) and not _is_nobody(name, sites, host) for name in names):
            return tuple(names[:MAX_AUTHORS])
        guessed = tuple(name for name in names[:MAX_AUTHORS] if len(name.split()) <= MAX_WORDS)
    return anybody or guessed


def _names(declared: Iterable[str]) -> dict[str, str]:
    """Return the names in *declared*, keyed by their letters."""
    found: dict[str, str] = {}
    for line in declared:
        text = _NO_NAME.sub(" ", _TAG.sub(" ", unescape(line[:_MAX_LINE])))
        names: list[str] = []
        for part in _BETWEEN.split(BEFORE.sub("", " ".join(text.split()).strip(_EDGES))):
            name = _TAIL.sub("", _without_words(part)).strip(_EDGES)
            # What stands behind a name is often what the person does, and where.
            is_role = names and (ROLE.search(part) or (name.islower() and not names[-1].islower()))
            if _letters(name) and len(name) <= _MAX_NAME and not is_role:
                names.append(name)
        for name in names:
            if not AGENCY.fullmatch(name) or all(map(AGENCY.fullmatch, names)):
                found.setdefault(_letters(name), name)
    return found


def _without_words(text: str) -> str:
    """Return *text* without the words of bylines at its beginning."""
    text = text.strip(_EDGES + "/")
    for _ in range(3):  # "Text: By Ann Lee"
        shorter = BEFORE.sub("", text).strip(_EDGES + "/")
        if shorter == text:
            break
        text = shorter
    return text


def _is_nobody(name: str, sites: Collection[str], host: str) -> bool:
    """Return whether *name* is that of an agency, or of the site at *host* with the names *sites*."""
    letters = _letters(name)
    if letters in sites or AGENCY.fullmatch(name):
        return True
    if _letters(host).startswith(letters) or (len(letters) >= _LABEL and letters in _letters(host)):
        return bool(host)
    return any(len(label) >= _LABEL and label in letters for label in map(_letters, host.split(".")))


def _letters(name: str) -> str:
    return _LETTERS.sub("", name).casefold()

"""Finds the title of an article among its copies on the page, without the name of the site."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SEPARATOR = re.compile(r"\s+(?:[-–—·•*»«›‹~/]|::|>)\s+|\s*(?:\|\|?|ǀ|｜|_)\s*|\s*:\s+(?=\S+\Z)|:\s+")
_NO_LETTERS = re.compile(r"[\W_]+")
_MIN_LABEL = 3  # letters of a host label that may be the site's name: "de" and "tv" are not
_SURE_LABEL = 5  # letters of a label that may begin a name: "example.org" is "Example Weekly"
_MAX_NAME = 4  # words
_MIN_SHARE = 0.6  # of an h1 that is the title, after a kicker


def headline(declared: str, visible: Sequence[str], shared: str, window: str, names: Iterable[str], url: str) -> str:
    """Return the title of the article from several places on the page; empty if all are empty.

    *declared* is the headline in its structured data, *visible* are its h1 elements, *shared* is its title for social
    networks and *window* that of the browser window. The title with most occurrences is returned; a single h1 that has
    no word of the others does not count against two that agree. The *names*
    that the page gives for its site, and the host of *url*, are removed from both ends.
    """
    sites = _site_names(names, url)
    # Some pages also give their title as the name of the site: then nothing is removed.
    declared, shared, window = (
        _without_site(title, sites) or " ".join(title.split()) for title in (declared, shared, window)
    )
    visible = [cut for title in visible if (cut := _without_site(title, sites))]
    # A single h1 is the title that readers see; several may include the site's name or sidebars.
    candidates = [*visible, declared, shared] if len(visible) == 1 else [declared, shared, *visible]
    candidates = [title for title in candidates if title]
    if not candidates:
        return max(_SEPARATOR.split(window), key=len)
    # Templates usually use one text for the window and social networks, so the two count as one vote.
    without_kicker = {letters_of(title) for title in candidates if any(_is_most_of(title, one) for one in visible)}
    votes = [_ends([declared]), _ends(visible) | without_kicker, _ends([shared, window])]
    best = max(candidates, key=lambda title: sum(letters_of(title) in vote for vote in votes))
    # Machine-readable copies have the right punctuation where an h1 shows its parts on separate lines.
    return next(title for title in (declared, shared, best) if letters_of(title) == letters_of(best))


def _site_names(names: Iterable[str], url: str) -> set[str]:
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    labels = [label for label in host.split(".") if len(label) >= _MIN_LABEL]
    known = [part for name in names for part in (name, *_SEPARATOR.split(name))]
    return {letters for name in (*known, host, *labels) if len(letters := letters_of(name)) > 1}


def _without_site(title: str, sites: set[str]) -> str:
    """Return *title* without the names of *sites* (letters only) at its ends; empty if nothing else remains."""
    title = " ".join(title.split())
    for _ in range(3):  # section, site, its owner
        for between in _SEPARATOR.finditer(title):
            if _is_site(title[between.end() :], sites):
                title = title[: between.start()]
                break
            if letters_of(title[: between.start()]) in sites:
                title = title[between.end() :]
                break
    return "" if letters_of(title) in sites else title


def _is_site(part: str, sites: set[str]) -> bool:
    letters = letters_of(part)
    if letters in sites or not letters:
        return True
    return len(part.split()) <= _MAX_NAME and any(
        len(site) >= _SURE_LABEL and letters.startswith(site) for site in sites
    )


def _ends(titles: Iterable[str]) -> set[str]:
    """Return *titles*, and their beginnings and ends up to a separator, as letters."""
    found = set()
    for title in titles:
        found.add(letters_of(title))
        for between in _SEPARATOR.finditer(title):
            found |= {letters_of(title[: between.start()]), letters_of(title[between.end() :])}
    return found


def _is_most_of(title: str, visible: str) -> bool:
    """Return whether the h1 *visible* is *title* after a kicker."""
    return letters_of(visible).endswith(letters_of(title)) and len(title) > _MIN_SHARE * len(visible)


def letters_of(text: str) -> str:
    """Return the letters and digits of *text*, whatever their case."""
    return _NO_LETTERS.sub("", text).casefold()

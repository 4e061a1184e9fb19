"""Finds the byline that a page shows to its readers, near its headline."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlers.missions.news.article.byline_words import BEFORE
from crawlers.missions.news.article.combining_marks import COMBINING_MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.missions.news.article.page_lines import PageLine, PageLines

MAX_WORDS = 4  # of a name, without particles
MAX_READ = 30  # lines that may be bylines

_MAX_CHARS = 120  # of a byline
_NEAR = 60  # elements between the headline and its byline
_NAMED = re.compile(r"author|byline|\bautor|verfasser|auteur|redacteur|writer|contributor|journalist", re.I)
_OTHER = re.compile(r"comment|related|teaser|recommend|follow|share|social|bio\b|description|avatar|image|photo", re.I)
_NAME = re.compile(rf"[^\W\d_][\w.'’ʼ{COMBINING_MARKS}-]*")
_PARTICLES = frozenset(
    "al bin da das de de' del della den der di do dos du el i la le ten ter van von und y e zu zur".split()  # noqa: SIM905
)


def shown_authors(page: PageLines) -> Iterator[list[str]]:
    """Yield the bylines that the *page* shows, the nearest to a headline first; none on a page without headlines."""
    if not page.headings:
        return
    lines = [(page.distance(line), line) for line in page.lines]
    near = sorted((one for one in lines if one[0] <= _NEAR), key=lambda one: one[0])
    tried = 0
    for _, line in near:
        if tried < MAX_READ and (found := _byline(line)):
            tried += 1
            yield [found]


def _byline(line: PageLine) -> str:
    """Return the byline in *line*; empty if it is none."""
    is_named = _NAMED.search(line.names) is not None and not _OTHER.search(line.names)
    if not (is_named or BEFORE.match(line.text)):
        return ""
    if next(line.node.iterancestors("figure", "figcaption"), None) is not None:
        return ""  # of a picture
    text = " ".join(line.node.text_content()[: 2 * _MAX_CHARS].split())
    return text if len(text) <= _MAX_CHARS else ""


def looks_like_name(text: str) -> bool:
    """Return whether *text* may be the name of a person, in any script.

    >>> looks_like_name("Ursula von der Leyen"), looks_like_name("Storm over the sea"), looks_like_name("山田太郎")
    (True, False, True)
    """
    words = text.split()
    if not 1 <= len([word for word in words if word not in _PARTICLES]) <= MAX_WORDS or any(
        _NAME.fullmatch(word) is None for word in words
    ):
        return False
    if text.upper() == text.lower():  # a script without capital letters
        return len(text) <= 30
    return len(words) > 1 and all(_begins_with_capital(word) or word in _PARTICLES for word in words)


def _begins_with_capital(word: str) -> bool:
    return word.removeprefix("d'").removeprefix("d’").removeprefix("l'")[:1].isupper()

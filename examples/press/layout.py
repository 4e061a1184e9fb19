"""The addresses of all pages except articles: three families of templates, which format and parse addresses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FIELD = re.compile(r"\{(\w+)\}")
_PATTERNS = {"article": ".+", "year": r"\d{4}", "month": r"\d{2}", "day": r"\d{2}"}
_NUMBERS = ("id", "page", "photo")


def _compiled(template: str) -> re.Pattern[str]:
    """Return the pattern of the addresses of *template*."""
    parts = _FIELD.split(template)  # text, field, text, field, …, text
    for at, part in enumerate(parts):
        if at % 2:
            value = r"[1-9]\d{0,9}" if part in _NUMBERS else _PATTERNS.get(part, "[^/?&.]+")
            parts[at] = f"(?P<{part}>{value})"
        else:
            parts[at] = re.escape(part)
    return re.compile("".join(parts))


class Layout:
    """Addresses by kind of page; the field `{article}` is the address of an article."""

    def __init__(self, templates: Mapping[str, str]) -> None:
        self._templates = templates
        self._patterns = {kind: _compiled(template) for kind, template in templates.items()}

    def address(self, kind: str, **fields: object) -> str:
        """Return path and query of a page of *kind*."""
        values = {name: value if name == "article" else quote(str(value)) for name, value in fields.items()}
        return self._templates[kind].format_map(values)

    def read(self, address: str) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield each kind of page that *address* matches, with its fields; the page need not exist."""
        for kind, pattern in self._patterns.items():
            if found := pattern.fullmatch(address):
                fields = found.groupdict()
                yield kind, {name: value if name == "article" else unquote(value) for name, value in fields.items()}


# The keys of queries are in alphabetical order, so that sorting does not change them.
LAYOUTS: Mapping[str, Layout] = {
    "folders": Layout(
        {
            "home": "/",
            "section": "/{section}/",
            "section_page": "/{section}/page/{page}/",
            "tag": "/tag/{tag}/",
            "tag_page": "/tag/{tag}/page/{page}/",
            "author": "/author/{author}/",
            "latest": "/latest/",
            "latest_page": "/latest/page/{page}/",
            "archive": "/archive/",
            "year": "/{year}/",
            "month": "/{year}/{month}/",
            "day": "/{year}/{month}/{day}/",
            "search": "/search?q={word}",
            "print": "/print/{id}",
            "comments": "/comments/{id}/",
            "comments_sorted": "/comments/{id}/?sort={order}",
            "gallery": "/gallery/{id}/",
            "photo": "/gallery/{id}/{photo}/",
            "send": "/send/{id}/",
            "second": "/amp/{id}/",
            "static": "/{static}/",
        }
    ),
    "suffixes": Layout(
        {
            "home": "/",
            "section": "/section/{section}",
            "section_page": "/section/{section}?page={page}",
            "tag": "/tags/{tag}",
            "tag_page": "/tags/{tag}?page={page}",
            "author": "/authors/{author}.html",
            "latest": "/latest.html",
            "latest_page": "/latest.html?page={page}",
            "archive": "/archive",
            "year": "/archive/{year}",
            "month": "/archive/{year}-{month}",
            "day": "/archive/{year}-{month}-{day}",
            "search": "/search/?query={word}",
            "print": "{article}?print=1",
            "comments": "{article}?comments=all",
            "comments_sorted": "{article}?comments=all&sort={order}",
            "gallery": "/photo/{id}.html",
            "photo": "/photo/{id}-{photo}.html",
            "send": "/send?id={id}",
            "second": "/m{article}",
            "static": "/{static}.html",
        }
    ),
    "scripts": Layout(
        {
            "home": "/",
            "section": "/section.php?name={section}",
            "section_page": "/section.php?name={section}&page={page}",
            "tag": "/tag.php?tag={tag}",
            "tag_page": "/tag.php?page={page}&tag={tag}",
            "author": "/author.php?name={author}",
            "latest": "/latest.php",
            "latest_page": "/latest.php?page={page}",
            "archive": "/archive.php",
            "year": "/archive.php?date={year}",
            "month": "/archive.php?date={year}-{month}",
            "day": "/archive.php?date={year}-{month}-{day}",
            "search": "/search.php?q={word}",
            "print": "{article}&print=1",
            "comments": "/comments.php?id={id}",
            "comments_sorted": "/comments.php?id={id}&sort={order}",
            "gallery": "/gallery.php?id={id}",
            "photo": "/gallery.php?id={id}&photo={photo}",
            "send": "/send.php?id={id}",
            "second": "/mobile.php?id={id}",
            "static": "/{static}.php",
        }
    ),
    # The layouts of papers with which nothing was tuned.
    "blog": Layout(
        {
            "home": "/",
            "section": "/category/{section}/",
            "section_page": "/category/{section}/page/{page}/",
            "tag": "/topics/{tag}",
            "tag_page": "/topics/{tag}/{page}",
            "author": "/people/{author}",
            "latest": "/all-stories/",
            "latest_page": "/all-stories/{page}/",
            "archive": "/archives/",
            "year": "/archives/{year}/",
            "month": "/archives/{year}/{month}/",
            "day": "/archives/{year}/{month}/{day}/",
            "search": "/?s={word}",
            "print": "{article}/print",
            "comments": "{article}/responses",
            "comments_sorted": "{article}/responses?by={order}",
            "gallery": "/galleries/{id}",
            "photo": "/galleries/{id}/{photo}",
            "send": "/share?story={id}",
            "second": "{article}/amp",
            "static": "/pages/{static}",
        }
    ),
    "portal": Layout(
        {
            "home": "/",
            "section": "/{section}",
            "section_page": "/{section}?p={page}",
            "tag": "/topic/{tag}",
            "tag_page": "/topic/{tag}?p={page}",
            "author": "/by/{author}",
            "latest": "/recent",
            "latest_page": "/recent?p={page}",
            "archive": "/overview",
            "year": "/overview/{year}",
            "month": "/overview/{year}/{month}",
            "day": "/overview/{year}/{month}/{day}",
            "search": "/find?terms={word}",
            "print": "/printable/{id}",
            "comments": "/discussion/{id}",
            "comments_sorted": "/discussion/{id}?o={order}",
            "gallery": "/slideshow/{id}",
            "photo": "/slideshow/{id}/{photo}",
            "send": "/email/{id}",
            "second": "/lite/{id}",
            "static": "/info/{static}",
        }
    ),
    "pages": Layout(
        {
            "home": "/",
            "section": "/ressort/{section}.html",
            "section_page": "/ressort/{section}.html?seite={page}",
            "tag": "/thema/{tag}.html",
            "tag_page": "/thema/{tag}.html?seite={page}",
            "author": "/autoren/{author}.html",
            "latest": "/alle.html",
            "latest_page": "/alle.html?seite={page}",
            "archive": "/archiv.html",
            "year": "/archiv/{year}.html",
            "month": "/archiv/{year}/{month}.html",
            "day": "/archiv/{year}/{month}/{day}.html",
            "search": "/suche?begriff={word}",
            "print": "/druck/{id}.html",
            "comments": "/forum/{id}.html",
            "comments_sorted": "/forum/{id}.html?ordnung={order}",
            "gallery": "/bilder/{id}.html",
            "photo": "/bilder/{id}-{photo}.html",
            "send": "/empfehlen/{id}.html",
            "second": "{article}?m=1",
            "static": "/service/{static}.html",
        }
    ),
    # Likewise, written when the features of the prior were fixed.
    "lists": Layout(
        {
            "home": "/",
            "section": "/rubriky/{section}/",
            "section_page": "/rubriky/{section}/strana-{page}/",
            "tag": "/stichworte/{tag}/",
            "tag_page": "/stichworte/{tag}/strana-{page}/",
            "author": "/redakce/{author}/",
            "latest": "/vse/",
            "latest_page": "/vse/strana-{page}/",
            "archive": "/arkiv/",
            "year": "/arkiv/{year}/",
            "month": "/arkiv/{year}/{month}/",
            "day": "/arkiv/{year}/{month}/{day}/",
            "search": "/hledani/?dotaz={word}",
            "print": "/tisk/{id}/",
            "comments": "/diskuse/{id}/",
            "comments_sorted": "/diskuse/{id}/?razeni={order}",
            "gallery": "/foto/{id}/",
            "photo": "/foto/{id}/{photo}/",
            "send": "/poslat/{id}/",
            "second": "/mobil/{id}/",
            "static": "/o-nas/{static}/",
        }
    ),
    "codes": Layout(
        {
            "home": "/",
            "section": "/c/{section}",
            "section_page": "/c/{section}/{page}",
            "tag": "/t/{tag}",
            "tag_page": "/t/{tag}/{page}",
            "author": "/u/{author}",
            "latest": "/newsfeed",
            "latest_page": "/newsfeed/{page}",
            "archive": "/history",
            "year": "/history/{year}",
            "month": "/history/{year}-{month}",
            "day": "/history/{year}-{month}-{day}",
            "search": "/lookup/{word}",
            "print": "{article}?view=plain",
            "comments": "{article}?view=talk",
            "comments_sorted": "{article}?view=talk&by={order}",
            "gallery": "/g/{id}",
            "photo": "/g/{id}/{photo}",
            "send": "/tell/{id}",
            "second": "/light/{id}",
            "static": "/{static}/",
        }
    ),
}

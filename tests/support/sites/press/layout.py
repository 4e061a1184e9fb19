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
}

"""Tells the URLs that lead into the past of a site: further pages of lists, calendars, archives."""

from __future__ import annotations

import re

_PAGE_WORDS = r"page|paged|pg|pagina|pagenum|page_?no|seite|sida|strona|stranica|stranitsa|p"
_QUERY = re.compile(
    rf"[?&;](?:(?:{_PAGE_WORDS}|start|offset|from|skip)=\d{{1,6}}|(?:date|day|month|year|archive)=[\d./-]{{4,10}})(?=[&;]|$)",
    re.I,
)
_PATH = re.compile(
    rf"/(?:(?:{_PAGE_WORDS})[/_-]?\d{{1,6}}(?:\.[a-z]{{3,5}})?"  # /page/7, /page-7.html, /p7
    r"|(?:archives?|archiv|archivo|archivio|arhiv|arkiv|calendar|kalender|sitemap)(?:[/.].*)?"
    r"|(?:.*/)?(?:19|20)\d\d(?:[/-]?(?:0?[1-9]|1[0-2])(?:[/-]?(?:0?[1-9]|[12]\d|3[01]))?)?"  # a year, month or day
    r")/?$",
    re.I,
)


def is_archive(url: str) -> bool:
    """Tell whether *url* looks like a further page of a list, a calendar or an archive; a guess, in any language.

    >>> [is_archive(f"http://a.example{path}") for path in ("/news/page/3", "/?page=2", "/2026/11/20/", "/archive/x")]
    [True, True, True, True]
    >>> [is_archive(f"http://a.example{path}") for path in ("/", "/2026/11/20/storm", "/story.php?id=12", "/sport/")]
    [False, False, False, False]
    """
    _, _, rest = url.partition("://")
    path = rest[rest.find("/") :] if "/" in rest else "/"
    path, mark, query = path.partition("?")
    if mark and _QUERY.search(f"?{query}"):
        return True
    return len(path) < 300 and any(_PATH.fullmatch(path[i:]) for i in _slashes(path))


def _slashes(path: str) -> list[int]:
    """Where the last segments begin: an archive may lie deep."""
    starts = [i for i, character in enumerate(path[:-1]) if character == "/"]
    return starts[-3:]

"""Recognises URLs that lead to older content of a site: pagination, calendars, archives."""

from __future__ import annotations

import re

_PAGE_WORDS = r"page|paged|pg|pagina|pagenum|page_?no|seite|sida|strona|stranica|stranitsa|p"
_QUERY = re.compile(
    rf"[?&;](?:(?:{_PAGE_WORDS}|start|offset|from|skip)=\d{{1,6}}|(?:date|day|month|year|archive)=[\d./-]{{4,10}})(?=[&;]|$)"
)
_PATH = re.compile(
    rf"/(?:(?:{_PAGE_WORDS})[/_-]?\d{{1,6}}(?:\.[a-z]{{3,5}})?"  # /page/7, /page-7.html, /p7
    r"|(?:archives?|archiv|archivo|archivio|arhiv|arkiv|calendar|kalender|sitemap)(?:[/.].*)?"
    r"|(?:19|20)\d\d(?:[/-]?(?:0?[1-9]|1[0-2])(?:[/-]?(?:0?[1-9]|[12]\d|3[01]))?)?"  # a year, month or day
    r")/?$"
)
_MAX_CHARS = 200  # of a path or query: pages of 60,000 links are classified in the reactor
_SEGMENTS = 3  # only the last ones are searched: a date has up to three segments


def is_archive(url: str) -> bool:
    """Return whether the absolute *url* looks like pagination, a calendar or an archive; a heuristic for any language.

    >>> [is_archive(f"http://a.example{path}") for path in ("/news/page/3", "/?page=2", "/2026/11/20/", "/archive/x")]
    [True, True, True, True]
    >>> [is_archive(f"http://a.example{path}") for path in ("/", "/2026/11/20/storm", "/story.php?id=12", "/sport/")]
    [False, False, False, False]
    """
    start = url.find("/", url.find("://") + 3)
    if start < 0:
        return False
    path, mark, query = url[start:].lower().partition("?")  # faster than a case-insensitive expression
    if mark and _QUERY.search(f"?{query[:_MAX_CHARS]}"):
        return True
    begin = len(path) - 1  # a trailing slash does not begin a segment
    for _ in range(_SEGMENTS):
        begin = max(0, path.rfind("/", 0, begin))
    return len(path) < _MAX_CHARS and _PATH.search(path, begin) is not None

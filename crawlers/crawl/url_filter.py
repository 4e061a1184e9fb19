"""Rejects new URLs that are not worth a request."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlers.algorithms.traps.trap_watch import shape_reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.items import Target


class UrlFilter:
    """Rejects by extension (*extensions*: lower case, without dot) and, with *traps*, by the URL's shape."""

    def __init__(self, extensions: Iterable[str] = (), *, traps: bool = True) -> None:
        self._extensions = frozenset(e.lower().lstrip(".") for e in extensions)
        self._traps = traps

    def reason_against(self, target: Target) -> str | None:
        """
        >>> from crawlers.algorithms.urls.resolution import resolve
        >>> UrlFilter(["pdf"]).reason_against(resolve("http://a.example/", "/x.PDF?page=2"))
        'extension pdf'
        """
        path = urlsplit(target.normalized).path  # all variants of a URL share one verdict
        _, dot, extension = path.rpartition("/")[2].rpartition(".")
        if dot and extension.lower() in self._extensions:
            return f"extension {extension.lower()}"
        return shape_reason(target.normalized) if self._traps else None

"""Signals of Scrapy that are sent for each page only if somebody listens to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydispatch import dispatcher  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Container

    from scrapy.crawler import Crawler


class _All:
    def __contains__(self, signal: object) -> bool:
        return True


ALL = _All()


def heard_signals(crawler: Crawler) -> Container[Any]:
    """Return the signals of *crawler* that somebody listens to now.

    To send a signal that nobody hears costs as much as to download a small page by libcurl.
    """
    if id(dispatcher.Any) in dispatcher.connections:
        return ALL
    heard = dispatcher.connections.get(id(crawler.signals.sender), {})
    return ALL if dispatcher.Any in heard else heard

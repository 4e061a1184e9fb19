"""Errors of downloads whose texts are stored as reasons."""

from __future__ import annotations

from scrapy.exceptions import DownloadFailedError, IgnoreRequest

from crawlers.items import State


class BadResponseError(DownloadFailedError):
    """The server sent something that is not a response; another attempt may have a better result."""


class RenderingInterruptedError(DownloadFailedError):
    """The browser ended while it rendered a page, by no fault of the page; another attempt may have a better result."""


class DownloadRefusedError(IgnoreRequest):
    """A request that is not made, or a response that is not read to its end.

    *state* is that of the URL. Unless it *is_transient*, another attempt would end likewise.
    """

    def __init__(self, reason: str, state: State = State.REFUSED, *, is_transient: bool = False) -> None:
        super().__init__(reason)
        self.state = state
        self.is_transient = is_transient

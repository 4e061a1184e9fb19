"""Wakes Scrapy's engine when something becomes due: the only private access to Scrapy.

After `next_request` returned None, the engine calls it again only when a download ends, or after five seconds.
There is no public way to schedule an earlier call; `tests/unit/schedulers/test_wakeup.py` fails if this one breaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.asyncio import call_later

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import CallLaterResult


class Wakeup:
    """At most one pending timer: the earliest wins."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._at = float("inf")
        self._timer: CallLaterResult | None = None

    def at(self, when: float, now: float) -> None:
        """Let the engine call `next_request` at *when* (seconds of the clock of *now*)."""
        if when >= self._at:
            return
        self.cancel()
        self._at = when
        self._timer = call_later(max(0.0, when - now), self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._at = float("inf")
        slot = self._crawler.engine._slot
        if slot is not None:
            slot.nextcall.schedule()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._at = float("inf")

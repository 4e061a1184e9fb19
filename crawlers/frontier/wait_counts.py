"""What the open sites of a frontier wait for: O(1) for each change of a site, whatever their number."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawlers.storage.worker_status import Wait

if TYPE_CHECKING:
    from crawlers.frontier.site_queue import SiteQueue


class WaitCounts:
    """The numbers of open sites by what they wait for."""

    def __init__(self) -> None:
        self._of: dict[int, Wait] = {}  # by site id
        self._counts: Counter[Wait] = Counter()

    def set(self, site_id: int, wait: Wait) -> None:
        """Note that a site waits for something, and for nothing else."""
        before = self._of.get(site_id)
        if before is not wait:
            self._of[site_id] = wait
            self._counts[wait] += 1
            if before is not None:
                self._counts[before] -= 1

    def drop(self, site_id: int) -> None:
        """Forget a site that was closed."""
        wait = self._of.pop(site_id, None)
        if wait is not None:
            self._counts[wait] -= 1

    def counts(self) -> dict[Wait, int]:
        """Return the numbers of sites that are not 0."""
        return {wait: number for wait, number in self._counts.items() if number}


def event_of(site: SiteQueue) -> Wait:
    """Return what a site waits for that sleeps, without being paused, until an event reschedules it."""
    if site.gate.in_flight:
        return Wait.RESPONSE
    if site.pending > site.revisiting:
        return Wait.RETRY  # all that waits of it rests, or waits for a nearer page that rests
    return Wait.REVISIT if site.revisiting else Wait.NOTHING

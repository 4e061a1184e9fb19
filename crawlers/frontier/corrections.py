"""What is learnt later about pages that were found before: where they wait, or that they are to be read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.frontier.protocols import BEFORE_ALL
from crawlers.storage.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlers.frontier.protocols import Position, SeenPage
    from crawlers.frontier.scoring import Scoring
    from crawlers.frontier.site_schedule import SiteSchedule
    from crawlers.items import QueueSlot


class Corrections:
    """A part of `core.QueuedFrontier`, for orders that have places; others have nothing to correct."""

    _scoring: Scoring | None
    _schedule: SiteSchedule

    def _submit(self, changes: ChangeSet, now: float) -> None:
        raise NotImplementedError

    def place(self, page_id: int) -> QueueSlot | None:
        """Where a page waits, or waited when it was handed out; None under an order without places."""
        return None if self._scoring is None else self._scoring.place(page_id)

    def place_again(
        self,
        site_id: int,
        site: str,
        place_of: Callable[[str, str], QueueSlot],
        now: float,
        after: Position = BEFORE_ALL,
    ) -> Position | None:
        """Let some waiting pages of a site, behind *after*, take the places that *place_of* gives them by site and URL.

        Returns behind which one to go on; None: all have their places.
        """
        if self._scoring is None:
            return None
        reached = self._scoring.place_again(site_id, site, place_of, after)
        if self._scoring.has_changes:
            self._submit(ChangeSet(), now)
        return reached

    def fetch_again(self, site: str, pages: Iterable[SeenPage], now: float) -> None:
        """Let *pages* of a site that were fetched, and don't come back, be fetched once more, and whole."""
        its = self._schedule.called(site)
        if self._scoring is None or its is None:  # a site that today's list leaves out
            return
        changes = ChangeSet()
        for page_id, reason, fetched_at in pages:
            if self._scoring.fetch_again(page_id):
                its.pending += 1
                its.revisiting += 1
                changes.seen_again.append([page_id, reason, fetched_at, None, None])
        self._submit(changes, now)

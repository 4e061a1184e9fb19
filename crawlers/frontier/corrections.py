"""What is learnt later about pages that were found before: where they wait, or that they are to be read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.storage.unit import Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlers.frontier.agenda import Agenda
    from crawlers.frontier.scoring import Scoring
    from crawlers.items import Place


class Corrections:
    """A part of `core.QueuedFrontier`, for orders that have places; others have nothing to correct."""

    _scoring: Scoring | None
    _agenda: Agenda

    def _submit(self, unit: Unit, now: float) -> None:
        raise NotImplementedError

    def place_again(self, site_id: int, site: str, place_of: Callable[[str, str], Place], now: float) -> None:
        """Let the waiting pages of a site take the places that *place_of* gives them by site and URL."""
        if self._scoring is not None:
            self._scoring.place_again(site_id, site, place_of)
            self._submit(Unit(), now)

    def fetch_again(self, site_id: int, page_ids: Iterable[int], now: float) -> None:
        """Let pages of a site that were fetched, and don't come back, be fetched once more."""
        if self._scoring is not None:
            site = self._agenda.site(site_id)
            number = sum(self._scoring.fetch_again(page_id) for page_id in page_ids)
            site.pending += number
            site.returning += number
            self._submit(Unit(), now)

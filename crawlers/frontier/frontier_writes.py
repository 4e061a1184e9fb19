"""Submits every change set of a frontier to its store, with the scores that changed.

An acknowledgement with many links is submitted in slices, which are one transaction.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from crawlers.algorithms.slices import SLICE_LINKS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from crawlers.algorithms.slices import Slices
    from crawlers.frontier.discovery import UrlDiscovery
    from crawlers.frontier.scoring import Scoring
    from crawlers.frontier.site_queue import SiteQueue
    from crawlers.frontier.site_schedule import SiteSchedule
    from crawlers.frontier.sql_store import SqlFrontierStore
    from crawlers.storage.change_set import ChangeSet


class FrontierWrites:
    """Submits change sets to *store*, with the scores that changed, and requeues the pages whose scores rose.

    Until the last slice of an acknowledgement nothing is leased, and whatever else changes the frontier calls
    `complete` first.
    """

    def __init__(
        self, store: SqlFrontierStore, scoring: Scoring | None, discovery: UrlDiscovery, schedule: SiteSchedule
    ) -> None:
        self._store = store
        self._scoring = scoring
        self._discovery = discovery
        self._schedule = schedule
        self._finish: Callable[[], object] | None = None  # acknowledges what is left; None: no page is between slices

    @property
    def are_open(self) -> bool:
        """Whether a page is between two slices of its acknowledgement."""
        return self._finish is not None

    def complete(self) -> None:
        """Acknowledge what is left of a page with many links."""
        if self._finish is not None:
            self._finish()

    def submit(self, changes: ChangeSet, now: float) -> None:
        """Submit *changes*."""
        self.raise_sites(self.write(changes), now)

    def write(self, changes: ChangeSet, most: int | None = None) -> Iterable[SiteQueue]:
        """Submit *changes* and the scores that changed, of *most* pages; return the sites for `raise_sites`."""
        head_urls = self._discovery.head_urls
        risen = self._scoring.write(changes, head_urls, most) if self._scoring is not None else ()
        self._store.submit(changes)
        return risen

    def raise_sites(self, risen: Iterable[SiteQueue], now: float) -> None:
        """Note that the sites *risen* have better pages, once everything is submitted."""
        self._discovery.trim()
        for site in risen:
            self._schedule.raise_index(site, now)

    def in_slices(
        self, work: Slices[Any], changes: ChangeSet, complete: Callable[[], object]
    ) -> Generator[None, None, tuple[list[SiteQueue], ExitStack | None]]:
        """Submit what *work* adds to *changes*, but for the last slice.

        Returns the sites for `raise_sites`, and the transaction that the caller ends after the last slice; None if
        there is only one. Everything that anyone submits until then belongs to it. *complete* does all that is left.
        """
        risen: list[SiteQueue] = []
        with ExitStack() as transaction:
            while work.next() or (self._scoring is not None and self._scoring.unwritten > SLICE_LINKS):
                if self._finish is None:
                    transaction.enter_context(self._together(complete))
                risen += self.write(changes.moved(), SLICE_LINKS)
                yield
            return risen, None if self._finish is None else transaction.pop_all()

    @contextmanager
    def _together(self, complete: Callable[[], object]) -> Iterator[None]:
        with self._store.together(complete):
            self._finish = complete
            try:
                yield
            finally:
                self._finish = None

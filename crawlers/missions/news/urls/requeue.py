"""Moves waiting pages to other queue slots when URL rules change, some at a time."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import exists, select

from crawlers.items import State
from crawlers.missions.news.plan.news_scores import BEFORE_ARTICLES, FRESH
from crawlers.store.schema.tables import SiteRules, page, site
from crawlers.store.streaming import among
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.addresses import parents
from crawlers.urls.domains import rule_domain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from crawlers.frontier.frontier import Frontier
    from crawlers.frontier.values import QueueEntry
    from crawlers.missions.news.urls.url_classifier import UrlClassifier
    from crawlers.store.database import Database
    from crawlers.store.reader_threads import InThread
    from crawlers.store.writing.writer import Writer


BATCH_PAGES = 500  # requeued at a time: 5 ms, so that the crawl does not stall
Position = tuple[float, int]  # priority and number of a page, among those that wait on a site
BEFORE_ALL: Position = (float("-inf"), 0)


class QueuedSite(NamedTuple):
    """A site of a news crawl, and the URL rules by which its waiting pages are queued."""

    id: int
    name: str
    rules: str | None  # fingerprint; None = the pages are not yet queued by today's rules
    has_pages: bool  # whether any page waits


def queued_sites(database: Database, sites: Collection[int]) -> list[QueuedSite]:
    """Return *sites*, given by number."""
    waits = exists().where(page.c.site_id == site.c.id, page.c.state == int(State.WAITING))
    statement = select(site.c.id, site.c.site, site.c.rules, waits).order_by(site.c.id)
    return [QueuedSite(*row) for row in database.rows(statement.where(among(site.c.id, sites)))]


class Requeue:
    """Requeues the waiting pages in *frontier* by the rules of *classifier*.

    The pages are looked up *in_thread*, when *commits*, the writer, has committed those that were found by earlier
    rules. The store has the fingerprint of the rules by which the pages of each site were queued. So a run continues
    what an earlier one left unfinished, and notices rules that a person changed in between.
    """

    def __init__(self, classifier: UrlClassifier, frontier: Frontier, commits: Writer, in_thread: InThread) -> None:
        self._classifier = classifier
        self._frontier = frontier
        self._commits = commits
        self._in_thread = in_thread
        self._changes = 0  # of rules, and of the sites
        self._is_reading = False  # one look-up at a time
        self._names: dict[int, str] = {}  # of sites
        self._sites: defaultdict[str, set[int]] = defaultdict(set)  # by their domains, and those above
        self._unfinished: dict[int, Position] = {}  # the position to continue from, by site

    def recall(self, sites: Iterable[QueuedSite]) -> ChangeSet:
        """Restore the *sites* of earlier runs; return the rows to write before the first `step`."""
        changes = ChangeSet()
        for site_id, name, rules, has_pages in sites:
            self.add_site(site_id, name)
            now = self._classifier.fingerprint(name)
            if rules == now:
                continue
            changes.add(SiteRules(site_id, None if has_pages else now))
            if has_pages:
                self._unfinished[site_id] = BEFORE_ALL
        return changes

    def add_site(self, site_id: int, name: str) -> None:
        """Requeue the pages of a site, called *name*, when its rules change."""
        if site_id not in self._names:  # a page of the site may have another of its addresses
            self._names[site_id] = name
            for domain in parents(rule_domain(name)):
                self._sites[domain].add(site_id)

    def forget(self, site_id: int) -> str | None:
        """Forget a site, which another worker requeues from now on; return its domain if no other site has that."""
        self._changes += 1
        self._unfinished.pop(site_id, None)
        if (name := self._names.pop(site_id, None)) is None:
            return None
        own = rule_domain(name)
        for domain in parents(own):
            self._sites[domain].discard(site_id)
        return None if any(rule_domain(self._names[other]) == own for other in self._sites[own]) else own

    @property
    def has_more(self) -> bool:
        """Whether `step` has anything left to do."""
        return bool(self._unfinished)

    def is_open(self, domain: str) -> bool:
        """Return whether *domain* is that of a site, or above it."""
        return bool(self._sites[domain])

    def changed(self, domain: str, changes: ChangeSet) -> None:
        """Requeue the sites of *domain*, whose rules changed; *changes* must be written before the next `step`."""
        self._changes += 1
        for site_id in sorted(self._sites[domain]):
            self._unfinished[site_id] = BEFORE_ALL
            changes.add(SiteRules(site_id, None))

    async def step(self, now: float) -> None:
        """Look up some pages and requeue them, if any are left.

        The row of a site is written when all of its pages are requeued.
        """
        if not self._unfinished or self._is_reading:
            return
        site_id, after = next(iter(self._unfinished.items()))
        # URLs that are found from now on get their slots by the same rules.
        submitted = self._commits.submitted if after == BEFORE_ALL else 0
        before, self._is_reading = self._changes, True
        try:
            pages = await self._in_thread(partial(self._read, site_id, after, submitted))
        finally:
            self._is_reading = False
        if self._changes != before:
            return
        name, changes = self._names[site_id], ChangeSet()
        self._queue(name, pages)
        if len(pages) == BATCH_PAGES:
            self._unfinished[site_id] = pages[-1].priority, pages[-1].id
        else:
            del self._unfinished[site_id]
            changes.add(SiteRules(site_id, self._classifier.fingerprint(name)))
        self._frontier.submit(changes, now)

    def _read(self, site_id: int, after: Position, submitted: int) -> Sequence[QueueEntry]:
        self._commits.wait_for(submitted)
        return self._frontier.store.waiting(site_id, after, BATCH_PAGES)

    def _queue(self, site: str, pages: Sequence[QueueEntry]) -> None:
        """Move those of *pages* that still wait by the rules; fresh pages and sitemaps stay where they are."""
        if (scoring := self._frontier.scoring) is None:
            return
        for waiting in pages:
            hint = scoring.scores.hint(waiting.id)
            if hint is None or hint[0] == FRESH or hint[1] == BEFORE_ARTICLES.value:
                continue
            if (slot := self._classifier.slot(site, waiting.url)) != hint:
                scoring.queued(waiting.id, slot)

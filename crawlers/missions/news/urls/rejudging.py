"""Fetches pages again that were read before a rule classified their URLs as articles, some at a time."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crawlers.missions.news.stored.stored_polls import unjudged_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawlers.frontier.frontier import Frontier
    from crawlers.missions.news.stored.stored_polls import UnjudgedPage
    from crawlers.missions.news.urls.url_classifier import UrlClassifier
    from crawlers.store.database import Database
    from crawlers.store.writing.writer import Writer

BATCH_PAGES = 500  # read at a time; their URLs are matched in the reactor, some 2 us each
MOST_AT_ONCE = 10  # pages of a site that has nothing else to fetch


class UnjudgedBatch(NamedTuple):
    """Some pages of a site, in the order of their numbers."""

    site_id: int
    round: _Site  # for which they were looked up
    pages: Sequence[UnjudgedPage]


class _Site:
    """A site whose pages are judged again."""

    __slots__ = ("credit", "name", "pages", "reached")

    def __init__(self, name: str) -> None:
        self.name = name
        self.reached: int | None = 0  # the last page that was looked at; None: all were
        self.pages: deque[UnjudgedPage] = deque()  # to be fetched again
        self.credit = 1.0  # pages that may be fetched again now


class Rejudging:
    """Fetches pages of *frontier* again whose URLs fit the rules of *classifier*, and that made no document.

    They take the share *explore*, in [0, 1], of the downloads of their site; all of them if nothing else waits there.
    Pages whose article was looked for once are not fetched again: the reason why they have none is stored. So each page
    is fetched again once at most, also after a kill.
    """

    def __init__(
        self, classifier: UrlClassifier, frontier: Frontier, database: Database, commits: Writer, explore: float
    ) -> None:
        self._classifier = classifier
        self._frontier = frontier
        self._database = database
        self._commits = commits
        self._explore = explore
        self._sites: dict[int, _Site] = {}  # the one whose turn it is first
        self._rules: dict[int, str] = {}  # the fingerprint of those by which a site is judged, or was
        self._is_reading = False  # one query at a time: pages in flight would all ask for the same batch

    def begin(self, site_id: int, name: str) -> bool:
        """Judge the pages of a site called *name* by its present rules, unless they were; return whether any are left.

        A site without rules has none.
        """
        rules = self._classifier.fingerprint(name)
        if self._rules.get(site_id) != rules:
            self.forget(site_id)
            if self._classifier.has_rules(name):
                self._rules[site_id], self._sites[site_id] = rules, _Site(name)
        return site_id in self._sites

    def forget(self, site_id: int) -> None:
        """Leave a site to another worker."""
        self._sites.pop(site_id, None)
        self._rules.pop(site_id, None)

    @property
    def has_more(self) -> bool:
        """Whether any site has pages that are not judged, or not queued."""
        return bool(self._sites)

    @property
    def is_queueing(self) -> bool:
        """Whether any site has pages that are not judged, or may be queued although none is fetched before."""
        return any(
            site.reached is not None or site.credit >= 1.0 or not self._frontier.site(site_id).has_unread
            for site_id, site in self._sites.items()
        )

    def look_up(self) -> Callable[[], UnjudgedBatch] | None:
        """Return the query for the next pages, which may run in any thread; None if none are needed.

        Its result goes to `keep`, without which there is no further query.
        """
        for site_id, site in self._sites.items() if not self._is_reading else ():
            if site.reached is not None and not site.pages:
                self._is_reading = True
                return partial(self._read, site_id, site, site.reached, self._commits.submitted)
        return None

    def _read(self, site_id: int, site: _Site, after: int, submitted: int) -> UnjudgedBatch:
        self._commits.wait_for(submitted)  # pages that were read a moment ago
        return UnjudgedBatch(site_id, site, unjudged_pages(self._database, site_id, after, BATCH_PAGES))

    def keep(self, found: UnjudgedBatch | None) -> None:
        """Take up the result of a query; None if it failed."""
        self._is_reading = False
        if found is None or self._sites.get(found.site_id) is not found.round:
            return  # the site was forgotten, or begun anew
        site, fits = found.round, self._classifier.weight
        site.pages.extend(page for page in found.pages if fits(site.name, page.url) > 0.0)
        site.reached = found.pages[-1].page_id if len(found.pages) == BATCH_PAGES else None

    def step(self, site_id: int | None, now: float) -> Iterator[int]:
        """Queue some pages after a download of *site_id*, if there was one.

        Yields the sites of which all pages are queued.
        """
        if site_id is not None and (site := self._sites.get(site_id)) is not None:
            site.credit = min(float(MOST_AT_ONCE), site.credit + self._explore)
        if not self._sites:
            return
        for number in dict.fromkeys((next(iter(self._sites)), site_id)):
            if number is None or number not in self._sites:
                continue
            turn = self._sites[number] = self._sites.pop(number)  # it is the last one now
            count = int(turn.credit) if self._frontier.site(number).has_unread else MOST_AT_ONCE
            pages = [turn.pages.popleft() for _ in range(min(count, len(turn.pages)))]
            if pages:
                turn.credit = max(0.0, turn.credit - len(pages))
                seen = [(page.page_id, page.reason, page.fetched_at) for page in pages]
                self._frontier.fetch_again(turn.name, seen, now)
            if turn.reached is None and not turn.pages:
                del self._sites[number]
                yield number

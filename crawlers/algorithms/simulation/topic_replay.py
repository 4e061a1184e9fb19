"""What a topic crawl would have read of a web that is stored, page by page, without a request.

Politeness is ignored: one page at a time, always the one with the greatest score. Among equals the site with the fewest
pages read comes first, then the page that was found first, as in a crawl with one request in flight.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crawlers.algorithms.bandits.best_site import Best
from crawlers.algorithms.ranking.page_scores import GONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crawlers.algorithms.ranking.topic_scores import TopicScores


class FetchOutcome(NamedTuple):
    """What comes of asking for a page."""

    is_read: bool  # it has a text; else it is refused, failed, or has moved
    was_asked: bool = True  # false: robots.txt forbids it
    moved_to: int | None = None


class Web(Protocol):
    """A web of pages, which are numbers. Pages that may not be fetched at all are not in it."""

    @property
    def roots(self) -> Sequence[int]:
        """Where the crawl began."""

    def site(self, page: int, /) -> int | None:
        """The site of a page; None of one that is not in the web."""

    def answer(self, page: int, /) -> FetchOutcome | None:
        """What comes of asking for it; None if nobody did when the web was stored."""

    def links(self, page: int, /) -> Mapping[int, float]:
        """The pages that a page with a text links to, as they stand there, each with what the link is worth."""


class Replayed(NamedTuple):
    """What was read."""

    read: list[int]  # pages with a text, in order
    unknown: int  # pages passed over since nobody asked for them when the web was stored


def replay(web: Web, scores: TopicScores, most: int) -> Replayed:
    """Return the first *most* pages of *web* that a crawl ordered by *scores*, which knows no page yet, would read.

    Notes
    -----
    The logarithm of the number of waiting pages for each link and page, as in the frontier.
    """
    return _Replay(web, scores).run(most)


class _Replay:
    """*scores* know a page by its number in the order of being found, which breaks ties; the web by its own."""

    def __init__(self, web: Web, scores: TopicScores) -> None:
        self._web = web
        self._scores = scores
        self._rule = Best()
        self._numbers: dict[int, int] = {}
        self._pages = [0]  # by number; these begin with 1
        self._sites = [0]  # likewise
        self._heaps: dict[int, list[tuple[float, int]]] = {}  # by site: negative scores as they last grew, numbers
        self._values: dict[int, float] = {}  # by site, as the rule knows them

    def run(self, most: int) -> Replayed:
        self._rise([number for page in self._web.roots if (number := self._found(page, 0)) is not None])
        done = Replayed([], 0)
        while len(done.read) < most and (number := self._next()) is not None:
            page, site = self._pages[number], self._sites[number]
            answer = self._web.answer(page)
            if answer is None:
                done = done._replace(unknown=done.unknown + 1)
            elif answer.was_asked:
                self._rule.started(site)
                self._rule.rewarded(site, 0.0)
            if answer is not None and answer.is_read:
                done.read.append(page)
            self._rise(self._taken(number, answer))
        return done

    def _taken(self, number: int, answer: FetchOutcome | None) -> Iterable[int]:
        """The pages whose score may have grown."""
        scores = self._scores
        level = int(scores.record(number)[1])
        if answer is not None and answer.is_read:
            worth = self._web.links(self._pages[number])
            found = {self._found(page, level + 1): value for page, value in worth.items()}
            values = {target: value for target, value in found.items() if target is not None}
            scores.fetched(number, values)
            return values
        if answer is not None and answer.moved_to is not None:
            target = self._found(answer.moved_to, level)
            if target is not None:
                scores.moved(number, target)
                return [target]
        scores.gone(number)
        return []

    def _found(self, page: int, level: int) -> int | None:
        """The number of *page*, which is *level* clicks from the roots; None if it is not in the web."""
        site = self._web.site(page)
        if site is None:
            return None
        number = self._numbers.setdefault(page, len(self._pages))
        if number == len(self._pages):
            self._pages.append(page)
            self._sites.append(site)
        elif self._scores.queue(number) == GONE:
            return number
        self._scores.found(number, level)
        return number

    def _rise(self, numbers: Iterable[int]) -> None:
        touched: dict[int, None] = {}
        for number in numbers:
            if self._scores.queue(number) == 0:
                site = self._sites[number]
                heapq.heappush(self._heaps.setdefault(site, []), (-self._scores.score(number), number))
                touched[site] = None
        for site in touched:
            self._settle(site)

    def _next(self) -> int | None:
        """The number of the best page, which waits no longer; None if none waits."""
        while (site := self._rule.select(0.0)) is not None:
            assert isinstance(site, int)
            if self._settle(site):
                return heapq.heappop(self._heaps[site])[1]
        return None

    def _settle(self, site: int) -> bool:
        """Tell the rule what the best page of *site* scores; whether it knew."""
        heap, scores = self._heaps[site], self._scores
        while heap:
            value, number = -heap[0][0], heap[0][1]
            now = scores.score(number)
            if scores.queue(number) != 0 or now > value:
                heapq.heappop(heap)  # it waits no longer, or has a better item
            elif now < value:
                heapq.heapreplace(heap, (-now, number))
            elif self._values.get(site) == value:
                return True
            else:
                self._values[site] = value
                self._rule.wake(site)
                self._rule.valued(site, value)
                return False
        self._values.pop(site, None)
        self._rule.sleep(site)
        return False

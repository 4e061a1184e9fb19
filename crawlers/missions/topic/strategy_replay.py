"""Replays a topic crawl on a stored web, without a request, and compares what other strategies would have read.

Politeness is ignored: one page is read at a time, always the one with the greatest score. Among equals, the site of
which the fewest pages were read comes first, then the page that was found first, as in a crawl with one request in
flight.

All crawls are measured against one collection, the pages that any of them read, by its document frequencies and links:
how similar to the topic their pages are, and how soon they found the important ones. Measures are curves over the
number of pages read: lists of points.

References
----------
.. [1] Wang, Zhu, Li, Pan (2004), Design of a Multi-strategy Topic Specific Web Crawler (in Chinese), section 4.
"""

from __future__ import annotations

import json
from functools import lru_cache
from heapq import nsmallest
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from sqlalchemy import select

from crawlers.bandits.index_rule import Best
from crawlers.items import GONE, LinkPlace, State
from crawlers.missions.topic.topic_tables import relevance as scored
from crawlers.missions.topic.topic_tables import topic_page
from crawlers.missions.topic.vectors import DocumentFrequencies
from crawlers.ranking.link_features import link_features
from crawlers.ranking.link_ranks import hits
from crawlers.ranking.link_values import NO_FEATURES, LinkTable
from crawlers.store.schema.tables import link, link_context, link_text, page, site
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from crawlers.missions.topic.topic_scores import LinkRelevance
    from crawlers.missions.topic.vectors import Terms, Topic
    from crawlers.ranking.link_values import Features

    Documents = Callable[[], Iterable[tuple[int, Mapping[str, int]]]]

CACHED_TEXTS = 50_000  # link texts whose value is cached: those of menus are on every page


class FetchOutcome(NamedTuple):
    """The result of fetching a page."""

    is_read: bool  # the page has a text; otherwise it was refused, failed or moved
    was_requested: bool = True  # false: robots.txt forbids it
    moved_to: int | None = None  # the target of a redirect


class StoredLink(NamedTuple):
    """The links from one page to another: of those, the one with the best text."""

    value: float  # of that text
    url: str
    anchor: str


class StoredWeb:
    """The pages that a crawl discovered, as numbers. URLs rejected on discovery are not among them."""

    def __init__(self, connection: Connection, crawl_id: int, topic: Topic, terms: Terms) -> None:
        self._connection = connection
        self._topic = topic
        self._worth = lru_cache(CACHED_TEXTS)(lambda text: topic.anchor_relevance(terms(text)))
        self._seen = DocumentFrequencies()
        self.roots: list[int] = []  # with which the crawl began
        #: Site, state and redirect target by page.
        self.pages: dict[int, tuple[int, State, int | None]] = {}
        statement = (
            select(page.c.id, page.c.site_id, page.c.state, page.c.moved_to, page.c.level, page.c.found_on)
            .join(site, site.c.id == page.c.site_id)
            .join(scored, scored.c.page_id == page.c.id)  # pages that were rejected when discovered have none
            .where(site.c.crawl_id == crawl_id)
            .order_by(page.c.id)
        )
        for number, site_id, state, moved_to, level, found_on in connection.execute(statement):
            self.pages[number] = site_id, State(state), moved_to
            if level == 0 and found_on is None:
                self.roots.append(number)

    def begin(self) -> None:
        """Forget the pages whose similarity was asked for: another replay begins."""
        self._seen = DocumentFrequencies()

    def site(self, number: int) -> int | None:
        """Return the site of a page; None if it is not in the web."""
        known = self.pages.get(number)
        return None if known is None else known[0]

    def outcome(self, number: int) -> FetchOutcome | None:
        """Return the stored result of fetching a page; None if the crawl never fetched it."""
        _, state, moved_to = self.pages[number]
        if state is State.WAITING:
            return None
        return FetchOutcome(state is State.DONE, state is not State.REJECTED, moved_to)

    def links(self, number: int) -> dict[int, StoredLink]:
        """Return the links of a page by target, in the order in which the targets were discovered."""
        is_text = (link_text.c.source_id == link.c.source_id) & (link_text.c.target_id == link.c.target_id)
        statement = (
            select(link.c.target_id, page.c.url, link_context.c.anchor, link_context.c.context)
            .join(page, page.c.id == link.c.target_id)
            .outerjoin(link_text, is_text)
            .outerjoin(link_context, link_context.c.id == link_text.c.context_id)
            .where(link.c.source_id == number)
            .order_by(link.c.target_id)
        )
        found: dict[int, StoredLink] = {}
        for target, url, anchor, context in self._connection.execute(statement):
            # As in a crawl, see `PageAnalyzer`.
            one = StoredLink(0.0 if context is None else self._worth(context), url, anchor or "")
            found[target] = max(one, found.get(target, one))
        return found

    def similarity(self, number: int) -> float:
        """Return the similarity of a page to the topic, by the pages asked for so far."""
        terms = select(topic_page.c.terms).where(topic_page.c.page_id == number)
        counts = json.loads(self._connection.execute(terms).scalar_one())
        self._seen.add(counts)
        return self._topic.tf_idf_similarity(counts, self._seen)


class Replayed(NamedTuple):
    """The result of a replay."""

    read: list[int]  # pages with a text, in the order of reading
    unknown: int  # pages skipped because the stored crawl never fetched them


class Replay:
    """Reads the pages of *web* that a crawl ordered by *relevance*, which must be new, would read.

    They are numbered in the order of discovery, which breaks ties.

    Notes
    -----
    O(n) per page, with n waiting pages. A frontier computes the values of some of them later, if there are many sites.
    """

    def __init__(self, web: StoredWeb, relevance: LinkRelevance) -> None:
        self._web = web
        self._relevance = relevance
        self._scores = relevance.page_scores
        self._learns = relevance.page_scores.weights.delta > 0.0
        self._rule = Best()
        self._numbers: dict[int, int] = {}  # by page of the web
        self._pages = [0]  # by number, from 1
        self._sites = [0]  # by number, from 1
        self._waiting: dict[int, LinkTable] = {}  # by site
        self._features: dict[int, Features] = {}  # of pages that are not in a table yet, or no more

    def run(self, most: int) -> Replayed:
        """Return the first *most* pages."""
        self._enqueue([number for page in self._web.roots if (number := self._found(page, 0)) is not None])
        done = Replayed([], 0)
        while len(done.read) < most and (number := self._next()) is not None:
            page, site = self._pages[number], self._sites[number]
            outcome = self._web.outcome(page)
            if outcome is None:
                done = done._replace(unknown=done.unknown + 1)
            elif outcome.was_requested:
                self._rule.record_pull(site)
                self._rule.record_reward(site, 0.0)
            if outcome is not None and outcome.is_read:
                done.read.append(page)
            known, level = len(self._pages), int(self._scores.record(number)[1])
            links = self._web.links(page) if outcome is not None and outcome.is_read else {}
            changed = self._acknowledge(number, level, outcome, links)
            if self._learns:
                self._learn(number, level, outcome, links, range(known, len(self._pages)))
            self._enqueue([*changed, number])
        return done

    def _acknowledge(
        self, number: int, level: int, outcome: FetchOutcome | None, links: Mapping[int, StoredLink]
    ) -> Collection[int]:
        """Record the outcome of a page; return the pages whose score may have increased."""
        scores = self._scores
        if outcome is not None and outcome.is_read:
            found = {self._found(page, level + 1): one.value for page, one in links.items()}
            values = {target: value for target, value in found.items() if target is not None}
            scores.fetched(number, values)
            return values
        if outcome is not None and outcome.moved_to is not None:
            target = self._found(outcome.moved_to, level)
            if target is not None:
                scores.record_alias(number, target)
                return [target]
        scores.remove_page(number)
        return []

    def _learn(
        self, number: int, level: int, outcome: FetchOutcome | None, links: Mapping[int, StoredLink], new: range
    ) -> None:
        """Learn from the outcome of a page, by which the pages *new* were found."""
        page, reward = self._pages[number], 0.0
        own = self._features.pop(number, NO_FEATURES)
        if outcome is not None and outcome.is_read:
            reward = self._web.similarity(page)
            for target in new:
                self._features[target] = features_of(links[self._pages[target]], page, level + 1)
        else:
            self._features.update(dict.fromkeys(new, own))  # of the target of a redirect
        if outcome is not None and outcome.was_requested:
            self._relevance.learn(own.tolist() if own.any() else [], reward)

    def _found(self, page: int, level: int) -> int | None:
        """Record that *page* was found, *level* clicks from the roots; return its number, None if not in the web."""
        site = self._web.site(page)
        if site is None:
            return None
        number = self._numbers.setdefault(page, len(self._pages))
        if number == len(self._pages):
            self._pages.append(page)
            self._sites.append(site)
        elif self._scores.queue(number) == GONE:
            return number
        self._scores.add_waiting(number, level)
        return number

    def _enqueue(self, numbers: Iterable[int]) -> None:
        sites: dict[int, None] = {}
        for number in numbers:
            sites[self._sites[number]] = None
            table = self._waiting.setdefault(self._sites[number], LinkTable())
            if self._scores.queue(number) == 0 and number not in table:
                table.add(number, self._features.pop(number, NO_FEATURES))
        for one in self._waiting if self._learns else sites:
            self._best(one)

    def _next(self) -> int | None:
        """Remove the best page from its table and return its number; None if no page waits."""
        while (site := self._rule.select(0.0)) is not None:
            assert isinstance(site, int)
            if (number := self._best(site)) is not None and self._rule.select(0.0) == site:
                features = self._waiting[site].remove(number)
                assert features is not None
                self._features[number] = features
                return number
        return None

    def _best(self, site: int) -> int | None:
        """Return the waiting page of *site* with the greatest value, which the rule knows from now on."""
        table = self._waiting[site]
        if not table:
            self._rule.sleep(site)
            return None
        values = self._relevance.compared(table.ids, table.features)
        self._rule.wake(site)
        self._rule.set_arm_value(site, float(values.max()))
        return int(table.ids[values == values.max()].min())


def features_of(one: StoredLink, source: int, level: int) -> Features:
    """Return the features of a link on the page *source*, which leads to this *level*."""
    place = LinkPlace("", "", one.anchor)
    return np.array(link_features(site_of(one.url), one.url, level, source, place), np.uint32)


Page = TypeVar("Page", int, str)  # pages have an order


def similarity_curve(similarities: Iterable[float], points: Iterable[int]) -> list[tuple[int, float]]:
    """Return (n, mean similarity of the first n pages read) for each n of *points* up to the number of pages.

    *similarities* are those of the pages to the topic, in the order of reading, by document frequencies of one
    collection for all crawls to be compared.

    >>> similarity_curve([1.0, 0.0, 0.5], [1, 2, 100])
    [(1, 1.0), (2, 0.5)]
    """
    sums = list(accumulate(similarities))
    return [(point, sums[point - 1] / point) for point in points if 0 < point <= len(sums)]


def coverage_curve(pages: Iterable[Page], important: Iterable[Page], points: Iterable[int]) -> list[tuple[int, float]]:
    """Return (n, share of the *important* pages found among the first n pages), for *points* as in `similarity_curve`.

    *pages* are in the order of reading; a page that is read again counts in n, but not again as found.

    >>> coverage_curve(["a", "b", "c"], ["c", "a"], [1, 3])
    [(1, 0.5), (3, 1.0)]
    """
    missing = set(important)
    total = len(missing)
    left = []
    for one in pages:
        missing.discard(one)
        left.append(len(missing))
    return [(point, (total - left[point - 1]) / max(total, 1)) for point in points if 0 < point <= len(left)]


def top(scores: Mapping[Page, float], number: int) -> list[Page]:
    """Return the *number* pages with the greatest scores above 0, the best first; ties: the smaller page.

    >>> top({"a": 0.1, "b": 0.9, "c": 0.0}, 3)
    ['b', 'a']
    """
    return [page for _, page in nsmallest(number, ((-score, page) for page, score in scores.items() if score > 0.0))]


class Curves(NamedTuple):
    """The curves of one crawl: (pages read, value) at the points that it reached. Shares are in [0, 1]."""

    similarity: list[tuple[int, float]]  # mean of the pages read so far
    authorities: list[tuple[int, float]]  # share of the best authorities read so far
    hubs: list[tuple[int, float]]  # share of the best hubs read so far
    nearest: list[tuple[int, float]]  # share of the pages most similar to the topic; not in the paper


class Comparison(NamedTuple):
    """The collection, and the pages that each crawl read. Lists of pages begin with the best."""

    similarities: dict[int, float]  # of all pages read
    authorities: list[int]
    hubs: list[int]
    nearest: list[int]  # the pages most similar to the topic
    read: dict[str, list[int]]  # by crawl, in the order of reading

    def curves(self, points: Sequence[int]) -> dict[str, Curves]:
        """Return the curves of each crawl at *points*, numbers of pages."""
        return {
            name: Curves(
                similarity_curve([self.similarities[page] for page in pages], points),
                coverage_curve(pages, self.authorities, points),
                coverage_curve(pages, self.hubs, points),
                coverage_curve(pages, self.nearest, points),
            )
            for name, pages in self.read.items()
        }


def compare(
    topic: Topic,
    read: dict[str, list[int]],
    documents: Documents,
    links: Iterable[tuple[int, int]],
    important: int,
) -> Comparison:
    """Compare the crawls that *read* these pages, by crawl and in the order of reading.

    Each call of *documents* yields pages with their term counts, among them all that were read; *links* are pairs of
    pages, source and target; *important* is the number of best authorities, hubs and nearest pages to find.
    """
    from networkx import DiGraph, to_scipy_sparse_array

    pages = {page for sequence in read.values() for page in sequence}
    seen = DocumentFrequencies(counts for page, counts in documents() if page in pages)
    similarities = {page: topic.tf_idf_similarity(counts, seen) for page, counts in documents() if page in pages}
    network = DiGraph()
    network.add_nodes_from(sorted(pages))
    network.add_edges_from((one, other) for one, other in links if one in pages and other in pages and one != other)
    scores = hits(to_scipy_sparse_array(network, weight=None, dtype=float, format="csr"))
    authorities, hubs = (top(dict(zip(network, values.tolist(), strict=True)), important) for values in scores)
    nearest = top(similarities, important)
    return Comparison(similarities, authorities, hubs, nearest, read)

"""PageRank of the links that the store holds, of any crawl: nothing is fetched, and no order needs to have kept it.

A page's links count once each and not to itself; a link to an address that moved leads to where the page is now. Pages
that wait to be read are linked to and link nowhere; those that were turned away are no part of it. Equal pages are not
folded into one, as in the list by importance.
"""

from __future__ import annotations

import heapq
import json
from array import array
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from crawlers.algorithms.ranking.page_values import PageValues
from crawlers.algorithms.ranking.push_pagerank import ForwardPushPageRank
from crawlers.items import State
from crawlers.storage.importance import TopPage, listed_pages, totals_of
from crawlers.storage.redirect_chains import final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from sqlalchemy import Connection

    from crawlers.storage.database import Database

# How far all ranks together may be from the truth. A rank is then off by about that share of itself, so those that
# differ within DIGITS come in their true order, and pages that are equal are equal here.
ENOUGH = 1e-9
DIGITS = 6
# Pushes a page. Each takes (1 - damping) / pages of what is missing, or more: with 0.85 fewer than these are enough.
MOST_PUSHES = 200

_UNKNOWN = -1
_PAGES = f"""
    SELECT p.id, p.state, p.site_id, p.moved_to FROM page p JOIN site s ON s.id = p.site_id
    WHERE s.crawl_id = :crawl AND p.state IN ({int(State.WAITING)}, {int(State.DONE)}, {int(State.MOVED)})"""  # noqa: S608
# Numbers are given out in blocks: only crawls that run at the same time have some in between.
_LINKS = "SELECT source_id, target_id FROM link WHERE source_id BETWEEN :first AND :last ORDER BY source_id"
_RANKS = {
    "sqlite": "SELECT CAST(key AS INTEGER) AS id, value AS pagerank FROM json_each(:ranks)",
    "postgresql": """
        SELECT CAST(key AS bigint) AS id, CAST(value AS double precision) AS pagerank
        FROM json_each_text(CAST(:ranks AS json))""",
}
_CHOSEN = "SELECT r.id, r.pagerank FROM ({ranks}) AS r"


class RankedPage(NamedTuple):
    """One of the pages of the highest PageRank."""

    pagerank: float  # its share: of all pages of the crawl together it is 1
    page: TopPage


class StoredPageRank:
    """PageRank of the pages of a crawl that were read.

    Reads the links once, and pushes until the ranks are within ENOUGH.
    Memory and time: see docs/measurements/importance.md.
    """

    def __init__(self, database: Database, crawl_id: int, damping: float) -> None:
        self._database = database
        self._crawl_id = crawl_id
        self._states = PageValues(array("b", [_UNKNOWN]))
        self._moves: dict[int, int] = {}
        self._read, self._sites = array("q"), array("q")  # the pages that were read, and the site of each
        self._push = ForwardPushPageRank(damping)
        with database.read() as connection:
            pages = self._load_pages(connection)
            self._load_links(connection)
        for _ in range(MOST_PUSHES):
            if self._push.push(pages) < pages or self.error_bound() < ENOUGH:
                break

    def __len__(self) -> int:
        """The number of pages that were read."""
        return len(self._read)

    def error_bound(self) -> float:
        """How far all ranks together are from the truth, at most. O(pages)."""
        return self._push.residual_l1()

    def rank(self, page: int) -> float:
        """The PageRank of *page*, in DIGITS digits."""
        return float(f"{self._push.rank(page):.{DIGITS}g}")

    def top(self, number: int, sites: Collection[int] = ()) -> Iterator[RankedPage]:
        """The *number* pages of the highest rank, or of those of *sites*, the first one first; equal ones by URL."""
        listed = [page for page, site in zip(self._read, self._sites, strict=True) if not sites or site in sites]
        least = min(heapq.nlargest(number, map(self.rank, listed)), default=0.0)
        ranks = {page: rank for page in listed if (rank := self.rank(page)) >= least}
        with self._database.read() as connection:
            chosen = _CHOSEN.format(ranks=_RANKS[connection.dialect.name])
            totals = totals_of(connection, self._crawl_id)
            found = listed_pages(connection, totals, chosen, number, ranks=json.dumps(ranks))
            for rank, page in found:
                yield RankedPage(rank, page)

    def _load_pages(self, connection: Connection) -> int:
        """Learn which pages there are; returns how many of them have a rank."""
        pages = 0
        streamed = connection.execution_options(stream_results=True)
        for page, state, site, moved_to in streamed.execute(text(_PAGES), {"crawl": self._crawl_id}):
            self._states[page] = state
            if state == State.MOVED:
                self._moves[page] = moved_to
                continue
            pages += 1
            self._push.set_links(page, ())
            if state == State.DONE:
                self._read.append(page)
                self._sites.append(site)
        return pages

    def _load_links(self, connection: Connection) -> None:
        if not self._read:
            return
        streamed = connection.execution_options(stream_results=True)
        links = streamed.execute(text(_LINKS), {"first": min(self._read), "last": max(self._read)})
        for source, found in groupby(links, key=itemgetter(0)):
            if self._states[source] == State.DONE:
                ends = (final(target, self._moves) for _, target in found)
                self._push.set_links(source, [page for page in ends if page is not None and self._has_rank(page)])

    def _has_rank(self, page: int) -> bool:
        """Whether it is a page that was read, or waits."""
        return self._states[page] in (State.WAITING, State.DONE)

"""PageRank of any stored crawl, computed from its links: nothing is fetched, and any order will do.

Repeated links count once, and links of a page to itself not at all; redirects are followed to their final targets.
Waiting pages have inlinks but no outlinks; rejected pages are excluded. Duplicates are not merged, as in the list by
importance.
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
from crawlers.storage.redirect_chains import final_target

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from sqlalchemy import Connection

    from crawlers.storage.database import Database

# Bound of the sum of all errors. The relative error of each rank is about the same, so that ranks that differ
# within DIGITS are ordered correctly, and equal pages have equal ranks.
ENOUGH = 1e-9
DIGITS = 6
# Per page. A push removes at least (1 - damping) / pages of the remaining error; with a damping of 0.85 this is enough.
MAX_PUSHES = 200

_UNKNOWN = -1
_PAGES = f"""
    SELECT p.id, p.state, p.site_id, p.moved_to FROM page p JOIN site s ON s.id = p.site_id
    WHERE s.crawl_id = :crawl AND p.state IN ({int(State.WAITING)}, {int(State.DONE)}, {int(State.MOVED)})"""  # noqa: S608
# Page numbers are reserved in blocks, so only simultaneous crawls have numbers in between.
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

    pagerank: float  # the PageRanks of a crawl add up to 1
    page: TopPage


class StoredPageRank:
    """PageRank of the pages of a crawl that were read.

    Reads the links once, and pushes until the error is below ENOUGH.
    For memory and time see docs/measurements.md.
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
        for _ in range(MAX_PUSHES):
            if self._push.push(pages) < pages or self.error_bound() < ENOUGH:
                break

    def __len__(self) -> int:
        """The number of pages that were read."""
        return len(self._read)

    def error_bound(self) -> float:
        """Return an upper bound of the sum of all errors. O(pages)."""
        return self._push.residual_l1()

    def rank(self, page: int) -> float:
        """Return the PageRank of *page*, rounded to DIGITS digits."""
        return float(f"{self._push.rank(page):.{DIGITS}g}")

    def top(self, number: int, sites: Collection[int] = ()) -> Iterator[RankedPage]:
        """Yield the *number* pages with the highest rank, of all or of *sites*, best first; ties are sorted by URL."""
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
        """Load the pages; return how many of them have a rank."""
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
                ends = (final_target(target, self._moves) for _, target in found)
                self._push.set_links(source, [page for page in ends if page is not None and self._has_rank(page)])

    def _has_rank(self, page: int) -> bool:
        """Return whether *page* was read, or waits."""
        return self._states[page] in (State.WAITING, State.DONE)

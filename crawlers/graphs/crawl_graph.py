"""The pages of all sites of a crawl as one graph, with the links between the sites."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from crawlers.graphs.model import PAGE_COLUMNS
from crawlers.graphs.site_graph import SiteGraph
from crawlers.store.reading.queries import has_crossings
from crawlers.store.streaming import streamed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlers.graphs.model import Row
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import CrawledSite, NamedCrawl

# Missions that crawl each site separately store links between their sites as external links.
_EXTERNAL = """
    SELECT e.page_id, t.site_id, t.id, e.count FROM page p JOIN external_link e ON e.page_id = p.id
    JOIN external_url u ON u.id = e.url_id JOIN site s ON s.crawl_id = :crawl AND s.site = u.site AND s.id <> :site
    JOIN page t ON t.site_id = s.id AND t.key = u.key WHERE p.site_id = :site"""
_CROSSINGS = """
    SELECT l.source_id, t.site_id, t.id, l.count FROM page p JOIN link l ON l.source_id = p.id
    JOIN page t ON t.id = l.target_id WHERE p.site_id = :site AND t.site_id <> :site"""


class CrawlGraph:
    """Nodes and edges of *sites*; the nodes of each site have the numbers after those of the site before.

    Memory: some 150 bytes per page, and 100 per link between two sites.
    """

    columns = PAGE_COLUMNS

    def __init__(self, database: Database, crawl: NamedCrawl, sites: Sequence[CrawledSite]) -> None:
        self.name = crawl.name
        self.description = f"pages and links of the {crawl}"
        self._graphs = [SiteGraph(database, site.id, site.site) for site in sites]
        self._before = [0, *accumulate(len(graph) for graph in self._graphs)]
        places = {site.id: place for place, site in enumerate(sites)}
        self._links: dict[int, Counter[int]] = {}  # between sites, by source
        self._in_degree: Counter[int] = Counter()  # by links from other sites
        with database.read() as connection:
            statement = _CROSSINGS if has_crossings(connection, crawl.id) else _EXTERNAL
            values = {} if statement is _CROSSINGS else {"crawl": crawl.id}
            for place, site in enumerate(sites):
                rows = streamed(connection, statement, site=site.id, **values)
                for source_page, target_site, target_page, links in rows:
                    source = self._node(place, source_page)
                    target = self._node(places[target_site], target_page) if target_site in places else None
                    if source is not None and target is not None:
                        self._links.setdefault(source, Counter())[target] += links
        for targets in self._links.values():
            self._in_degree.update(targets.keys())

    def __len__(self) -> int:
        """Return the number of nodes."""
        return self._before[-1]

    @property
    def ids(self) -> range:
        return range(1, len(self) + 1)

    def node(self, page_id: int) -> int | None:
        """Return the node of a page; None if it has none."""
        found = (self._node(place, page_id) for place in range(len(self._graphs)))
        return next((node for node in found if node is not None), None)

    def _node(self, place: int, page_id: int) -> int | None:
        node = self._graphs[place].node(page_id)
        return None if node is None else node + self._before[place]

    def edges(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        for graph, before in zip(self._graphs, self._before, strict=False):
            for source, targets in graph.edges():
                inside = [(target + before, weight) for target, weight in targets]
                yield source + before, sorted([*inside, *self._links.get(source + before, {}).items()])

    def nodes(self) -> Iterator[Row]:
        for graph, before in zip(self._graphs, self._before, strict=False):
            for node in graph.nodes():
                number = node.id + before
                yield node._replace(
                    id=number,
                    in_degree=node.in_degree + self._in_degree[number],
                    out_degree=node.out_degree + len(self._links.get(number, ())),
                )

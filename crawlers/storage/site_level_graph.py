"""The sites' own graph: which crawled site links to which, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from crawlers.items import State
from crawlers.storage.graph_model import Column, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.storage.database import Database
    from crawlers.storage.queries import CrawledSite

_EDGES = """
    SELECT p.site_id, u.site, sum(e.count) FROM page p JOIN (
        SELECT min(id) AS id FROM page WHERE content_hash IS NOT NULL GROUP BY site_id, content_hash
    ) AS distinct_page ON distinct_page.id = p.id
    JOIN external_link e ON e.page_id = p.id JOIN external_url u ON u.id = e.url_id
    JOIN site s ON s.id = p.site_id WHERE s.crawl_id = :crawl GROUP BY p.site_id, u.site"""
_PAGES = f"""
    SELECT p.site_id, count(*) + sum(p.duplicates), count(DISTINCT p.content_hash)
    FROM page p JOIN site s ON s.id = p.site_id
    WHERE s.crawl_id = :crawl AND p.state = {int(State.DONE)} GROUP BY p.site_id"""  # noqa: S608
_OUTSIDE = """
    SELECT p.site_id, count(DISTINCT e.url_id) FROM page p JOIN external_link e ON e.page_id = p.id
    JOIN site s ON s.id = p.site_id WHERE s.crawl_id = :crawl GROUP BY p.site_id"""


class SiteLevelGraph:
    """Nodes are the *sites* of a crawl, by name; the weight of an edge is the number of links.

    Duplicates count once, so that it does not matter whether their rows are kept.
    """

    columns = (
        Column("pages", "integer"),
        Column("duplicates", "integer"),
        Column("external_links", "integer"),
        Column("in_degree", "integer"),
        Column("out_degree", "integer"),
    )

    def __init__(self, database: Database, crawl_id: int, sites: list[CrawledSite], name: str) -> None:
        self.name = name
        self.description = f"links between the {len(sites)} sites of {name}"
        self._sites = sites
        number = {site.site: n for n, site in enumerate(sites, 1)}
        by_id = {site.id: n for n, site in enumerate(sites, 1)}
        with database.read() as connection:
            values = {"crawl": crawl_id}
            self._edges: dict[int, dict[int, int]] = {n: {} for n in by_id.values()}
            for site_id, target, count in connection.execute(text(_EDGES), values):
                if target in number and number[target] != by_id[site_id]:
                    self._edges[by_id[site_id]][number[target]] = int(count)
            pages = {by_id[i]: (total, distinct) for i, total, distinct in connection.execute(text(_PAGES), values)}
            self._pages = pages
            self._outside = {by_id[i]: count for i, count in connection.execute(text(_OUTSIDE), values)}

    def edges(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        for node, targets in self._edges.items():
            yield node, sorted(targets.items())

    def nodes(self) -> Iterator[Row]:
        in_degree = dict.fromkeys(self._edges, 0)
        for targets in self._edges.values():
            for target in targets:
                in_degree[target] += 1
        for node, site in enumerate(self._sites, 1):
            total, distinct = self._pages.get(node, (0, 0))
            outside = self._outside.get(node, 0)
            yield node, site.site, distinct, total - distinct, outside, in_degree[node], len(self._edges[node])

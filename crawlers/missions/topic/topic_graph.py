"""The graph of a topic: the pages that a topic crawl read, on all sites, and the links between them.

The number of a node is the rank of its page by similarity, so that graph and page list use the same numbers.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select

from crawlers.batches import batches
from crawlers.graphs.analysis import link_matrix
from crawlers.graphs.model import Column
from crawlers.missions.topic.topic_file import DECIMALS, most_similar_first
from crawlers.missions.topic.topic_tables import topic_page
from crawlers.plurals import counted
from crawlers.ranking.link_ranks import hits
from crawlers.store.reading.redirect_chains import final_target, redirects_of
from crawlers.store.schema.tables import link, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.graphs.model import Row
    from crawlers.store.database import Database

SOURCES_AT_ONCE = 256  # pages whose links are read by one query


class TopicGraph:
    """Nodes and edges of the topic crawl *crawl_id*, with redirects followed; each iteration reads the store.

    Memory: all links during construction, for the authorities and hubs; then some 150 bytes per page.
    """

    columns = (
        Column("level", "integer"),
        Column("title", "string"),
        Column("similarity", "double"),
        Column("authority", "double"),
        Column("hub", "double"),
    )

    def __init__(self, database: Database, crawl_id: int, name: str) -> None:
        self.name = name
        self._database = database
        self._crawl_id = crawl_id
        with database.read() as connection:
            ranked = most_similar_first(crawl_id, page.c.id)
            self._pages = array("q", connection.execute(ranked).scalars())
            self._node_of = {page_id: node for node, page_id in enumerate(self._pages, 1)}
            moved = redirects_of(connection, crawl_id)
        for page_id in moved:
            if (node := self._node_of.get(final_target(page_id, moved) or 0)) is not None:  # no page has number 0
                self._node_of[page_id] = node
        self.description = f"{counted(len(self._pages), 'page')} that the topic crawl {name} read, and their links"
        self.ids = range(1, len(self._pages) + 1)
        self._scores = np.round(hits(link_matrix(self)), DECIMALS).T.tolist()  # authority and hub

    def edges(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Yield each page that links to others, with its (target node, number of links) pairs."""
        with self._database.read() as connection:
            for ids in batches(self._pages, SOURCES_AT_ONCE):
                weights: dict[int, dict[int, int]] = {}
                links: Any = connection.execute(select(link).where(link.c.source_id.in_(ids)))
                for source_id, target_id, count in links.cursor.fetchall():  # rows of the driver, as in site_graph
                    source, target = self._node_of[source_id], self._node_of.get(target_id)
                    if target is not None and target != source:
                        targets = weights.setdefault(source, {})
                        targets[target] = targets.get(target, 0) + count
                yield from ((source, sorted(targets.items())) for source, targets in sorted(weights.items()))

    def nodes(self) -> Iterator[Row]:
        """Yield the pages by rank; the squares of all authorities, and of all hubs, sum to 1."""
        columns = (page.c.url, page.c.level, page.c.title, topic_page.c.similarity)
        with self._database.read() as connection:
            rows = connection.execute(most_similar_first(self._crawl_id, *columns))
            for node, (row, scores) in enumerate(zip(rows, self._scores, strict=False), 1):  # a crawl may be running
                url, level, title, similarity = row
                yield node, url, level, title or "", similarity, *scores

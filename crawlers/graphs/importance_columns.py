"""Adds the importance of pages that the crawl computed to the graph of a site."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from crawlers.graphs.model import Column
from crawlers.storage.importance import DECIMALS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlers.graphs.model import Row
    from crawlers.graphs.site_graph import SiteGraph


class ImportanceGraph:
    """The graph *pages* with a column for the importance of each node: the sum of the *shares* of its pages.

    *shares* are pairs of page number and share. The graph covers one site; shares sum to 1 over all sites.
    """

    def __init__(self, pages: SiteGraph, shares: Iterable[tuple[int, float]]) -> None:
        self.name = pages.name
        self.description = pages.description
        self.columns = (*pages.columns, Column("importance", "double"))
        self._pages = pages
        self._shares = array("d", bytes(8 * (len(pages) + 1)))  # nodes start at 1
        for page_id, share in shares:
            node = pages.node(page_id)
            if node is not None:
                self._shares[node] += share

    def edges(self) -> Iterator[tuple[int, Sequence[tuple[int, int]]]]:
        return self._pages.edges()

    def nodes(self) -> Iterator[Row]:
        for node in self._pages.nodes():
            yield (*node, round(self._shares[node.id], DECIMALS))

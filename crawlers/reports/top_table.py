"""Writes the most important pages of a crawl as a readable CSV table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.storage.files.cells import utc
from crawlers.storage.files.csv_tables import write_table
from crawlers.storage.importance import TopPage

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawlers.storage.files.cells import Value
    from crawlers.storage.pagerank import RankedPage


def write_top(path: Path, pages: Iterable[TopPage]) -> int:
    """Write *pages* to *path*, each with its rank, and return their number; times are UTC.

    Raises the errors of `write_graph`.
    """
    rows = ([rank, *_cells(page)] for rank, page in enumerate(pages, 1))
    return write_table(path, ("rank", *TopPage._fields), rows)


def write_ranked(path: Path, pages: Iterable[RankedPage]) -> int:
    """Write *pages* like `write_top`, with the PageRank of each page."""
    rows = ([rank, pagerank, *_cells(page)] for rank, (pagerank, page) in enumerate(pages, 1))
    return write_table(path, ("rank", "pagerank", *TopPage._fields), rows)


def _cells(page: TopPage) -> list[Value]:
    about = page.importance, page.url, page.site, page.title, page.level, page.status
    return [*about, _time(page.first_seen), _time(page.last_seen), page.changes, page.in_degree]


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else utc(seconds)

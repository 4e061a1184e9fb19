"""Writes what a topic crawl found: the pages as a table, and as a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.graphs.files import write_graph
from crawlers.graphs.topic_graph import TopicGraph
from crawlers.reports.topic_list import write_topic_list

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from crawlers.storage.database import Database

ENDINGS = {"csv": ".pages.csv", "gexf": ".gexf"}  # of the kinds of results


def result_path(folder: Path, crawl: str, kind: str) -> Path:
    """The file of one kind of results of the crawl of that name.

    >>> from pathlib import Path
    >>> result_path(Path("result"), "unicode", "csv").as_posix()
    'result/unicode.pages.csv'
    """
    return folder / (crawl.replace("/", "_") + ENDINGS[kind])


def write_topic_results(
    database: Database, crawl_id: int, name: str, folder: Path, kinds: Collection[str]
) -> dict[Path, str]:
    """Write the results of a topic crawl called *name* in all *kinds*; says in words what is in each file.

    Raises as `write_graph`.
    """
    written = {}
    if "csv" in kinds:
        path = result_path(folder, name, "csv")
        written[path] = f"{write_topic_list(database, crawl_id, path)} pages"
    if "gexf" in kinds:
        path = result_path(folder, name, "gexf")
        size = write_graph(TopicGraph(database, crawl_id, name), path.with_suffix(""))
        written[path] = f"{size.nodes} pages, {size.edges} edges"
    return written

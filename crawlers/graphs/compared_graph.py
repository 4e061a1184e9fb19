"""Two crawls of a site as one graph: all pages and links of both, each with what became of it.

It is written as a graph file and as tables.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import IO, TYPE_CHECKING, NamedTuple

from crawlers.files.atomic import replacing
from crawlers.files.csv_tables import iso_time, utc, write_table
from crawlers.files.names import file_stem
from crawlers.graphs.crawl_changes import (
    CHANGES,
    ComparedSite,
    LinkChange,
    PageChange,
    all_links,
    all_pages,
    changed,
    link_changes,
    page_changes,
)
from crawlers.graphs.export import scratch
from crawlers.graphs.graph_map import STATUS_COLOURS, node_size
from crawlers.graphs.graph_writers import write_document
from crawlers.graphs.looks import Look, positions
from crawlers.graphs.model import Column, GraphSize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from crawlers.files.csv_tables import Value
    from crawlers.graphs.crawl_changes import Change
    from crawlers.graphs.model import Row
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import CrawledSite

EDGE_COLUMNS = (Column("change", "string"),)


class ComparedGraph:
    """The pages and internal links of a site whose numbers in two crawls are *before* and *after* (None: not in it).

    Nodes are the URLs that were requested, numbered by their keys. Redirects and duplicates are nodes of their own,
    since a URL that begins to redirect has changed. Memory: 16 bytes for each node.
    """

    columns = (
        Column("change", "string"),
        Column("what", "string"),
        Column("status_before", "integer"),
        Column("status_after", "integer"),
        Column("level", "integer"),
        Column("title", "string"),
        Column("in_degree", "integer"),
        Column("first_seen", "string"),
        Column("last_seen", "string"),
    )

    def __init__(self, database: Database, name: str, description: str, before: int | None, after: int | None) -> None:
        self.name = name
        self.description = description
        self._database = database
        self._sites = before, after
        self._keys = array("q", (key for key, _ in page_changes(database, before, after)))
        self._in_degree = array("q")

    @property
    def ids(self) -> range:
        return range(1, len(self._keys) + 1)

    def compared_edges(self) -> Iterator[tuple[int, int, int, Change]]:
        """Yield the edges between nodes, by source and target, with the links in the crawl that has more."""
        self._in_degree = array("q", bytes(8 * (len(self._keys) + 1)))
        for (source_key, target_key), link in link_changes(self._database, *self._sites):
            source, target = self._number(source_key), self._number(target_key)
            if source is not None and target is not None:
                self._in_degree[target] += 1
                yield source, target, max(link.links_before or 0, link.links_after or 0), link.change

    def edges(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        for source, found in groupby(self.compared_edges(), key=itemgetter(0)):
            yield source, [(target, weight) for _, target, weight, _ in found]

    def nodes(self) -> Iterator[Row]:
        for key, page in page_changes(self._database, *self._sites):
            number = self._number(key)
            if number is None:
                continue  # requested after the nodes were numbered: a crawl is still running
            yield (
                number,
                page.url,
                page.change,
                page.what,
                page.status_before,
                page.status_after,
                page.level_before if page.level_after is None else page.level_after,
                page.title_before or "" if page.title_after is None else page.title_after,
                self._in_degree[number],
                iso_time(page.first_seen),
                iso_time(page.last_seen),
            )

    def _number(self, key: int | None) -> int | None:
        if key is None:
            return None
        place = bisect_left(self._keys, key)
        return place + 1 if place < len(self._keys) and self._keys[place] == key else None


def write_compared(graph: ComparedGraph, out: IO[bytes], edges: IO[bytes]) -> GraphSize:
    """Write *graph* as GEXF to *out*: colours of nodes and edges say what changed; a small graph has positions.

    *edges* is a readable temporary file, as large as the edges.
    """
    places = positions(graph) or {}
    names = [column.name for column in graph.columns]
    count = 0
    colours = {change: bytes.fromhex(STATUS_COLOURS[change][1:]) for change in CHANGES}
    ends = {
        change: f'<attvalues><attvalue for="change" value="{change}"/></attvalues>'
        f'<viz:color r="{red}" g="{green}" b="{blue}"/></edge>\n'
        for change, (red, green, blue) in colours.items()
    }
    for source, target, weight, change in graph.compared_edges():
        count += 1
        edges.write(f'<edge source="{source}" target="{target}" weight="{weight}">{ends[change]}'.encode())

    def look(row: Row) -> Look:
        number, _, *values = row
        of_node = dict(zip(names, values, strict=True))
        in_degree = of_node["in_degree"]
        assert isinstance(in_degree, int)
        return Look(STATUS_COLOURS[str(of_node["change"])], node_size(in_degree), places.get(number))

    return GraphSize(write_document(graph, out, edges, look, EDGE_COLUMNS), count)


COMPARISON_FORMATS = ("csv", "gexf")


class Comparison(NamedTuple):
    """The files of a site, and how many pages and links changed in which way."""

    site: str
    paths: list[Path]
    pages: Counter[Change]
    links: Counter[Change]


def compared_sites(before: Sequence[CrawledSite], after: Sequence[CrawledSite]) -> list[ComparedSite]:
    """Return the sites of both crawls by name."""
    firsts, seconds = ({site.site: site for site in sites} for sites in (before, after))
    return [
        ComparedSite(
            name,
            (seconds.get(name) or firsts[name]).folder,
            firsts[name].id if name in firsts else None,
            seconds[name].id if name in seconds else None,
        )
        for name in sorted(firsts.keys() | seconds.keys())
    ]


def write_comparisons(
    database: Database,
    sites: Sequence[ComparedSite],
    names: Sequence[str],
    folder: Path,
    formats: Sequence[str],
    description: str,
) -> Iterator[Comparison]:
    """Write what changed on *sites* to files in *formats* (out of `COMPARISON_FORMATS`), and yield each site.

    *names* are all sites of both crawls, by which files are named; *description* names the crawls. Tables leave out
    what did not change, graphs contain it. Raises the errors of `write_graph`.
    """
    for site in sites:
        base = folder / file_stem(site.site, names, site.folder or "")
        pages: Counter[Change] = Counter()
        links: Counter[Change] = Counter()
        paths = []
        if "csv" in formats:
            changed_pages = changed(all_pages(database, [site]), pages)
            paths.append(_written(base, "changed-pages", PageChange._fields, changed_pages))
            changed_links = changed(all_links(database, [site]), links)
            paths.append(_written(base, "changed-links", LinkChange._fields, changed_links))
        if "gexf" in formats:
            paths.append(base.with_name(f"{base.name}.changes.gexf"))
            graph = ComparedGraph(database, site.site, f"{site.site}: {description}", site.before, site.after)
            with replacing(paths[-1]) as out, scratch(folder) as edges:
                write_compared(graph, out, edges)
        yield Comparison(site.site, paths, pages, links)


def _written(base: Path, name: str, columns: Sequence[str], rows: Iterable[PageChange | LinkChange]) -> Path:
    path = base.with_name(f"{base.name}.{name}.csv")
    write_table(path, columns, (_cells(row) for row in rows))
    return path


def _cells(row: PageChange | LinkChange) -> list[Value]:
    return [*row[:-2], *(None if seconds is None else utc(seconds) for seconds in row[-2:])]

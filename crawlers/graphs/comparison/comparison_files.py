"""Writes what changed between two crawls of the same sites."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from crawlers.files.atomic import replacing
from crawlers.files.cells import utc
from crawlers.files.csv_tables import write_table
from crawlers.files.names import file_stem
from crawlers.graphs.comparison.change_lists import ComparedSite, all_links, all_pages, changed
from crawlers.graphs.comparison.compared_graph import ComparedGraph, write_compared
from crawlers.graphs.comparison.crawl_changes import LinkChange, PageChange
from crawlers.graphs.files import scratch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from crawlers.files.cells import Value
    from crawlers.graphs.comparison.crawl_changes import Change
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import CrawledSite

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

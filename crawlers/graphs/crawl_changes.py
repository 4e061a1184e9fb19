"""Compares the pages and links of a site in two crawls: as rows in the order of the pages' keys, and as one graph.

Pages are the same if their keys are: URL variants (`/a` and `/a/`) are one page, also if another variant was requested.
Both crawls are read in the order of an index, and links are read for `PAGES_AT_ONCE` pages at a time: memory does not
grow with the site. The graph has all pages and links of both, each with what became of it; it is written as a graph
file and as tables.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, deque
from dataclasses import dataclass
from heapq import merge
from itertools import groupby, islice
from operator import itemgetter
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from crawlers.batches import batches
from crawlers.files.atomic import file_stem, replacing
from crawlers.files.csv_tables import iso_time, utc, write_table
from crawlers.graphs.export import scratch, write_document
from crawlers.graphs.looks import STATUS_COLOURS, Look, host_of, node_size, positions
from crawlers.graphs.model import Column, GraphSize
from crawlers.items import State
from crawlers.store.streaming import streamed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from crawlers.files.csv_tables import Value
    from crawlers.graphs.model import Row
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import CrawledSite

PAGES_AT_ONCE = 256
Change = Literal["appeared", "vanished", "changed", "unchanged"]
APPEARED: Change = "appeared"
VANISHED: Change = "vanished"
CHANGED: Change = "changed"
UNCHANGED: Change = "unchanged"
CHANGES: tuple[Change, ...] = (APPEARED, VANISHED, CHANGED, UNCHANGED)

_REQUESTED = f"""
    SELECT p.key, p.id, p.url, p.state, p.status, p.title, p.content_hash, p.level, p.found_at, p.fetched_at,
        t.url AS moved_to
    FROM page p LEFT JOIN page t ON t.id = p.moved_to
    WHERE p.site_id = :site AND p.state IN ({State.DONE:d}, {State.MOVED:d}, {State.REFUSED:d}, {State.FAILED:d})
    ORDER BY p.key"""  # noqa: S608 - constants of ours
_LINKS = """
    SELECT l.source_id, t.site_id, t.key, t.url, l.count FROM link l JOIN page t ON t.id = l.target_id
    WHERE l.source_id {ids}"""
_EXTERNAL = """
    SELECT e.page_id, u.url, sum(e.count) FROM external_link e JOIN external_url u ON u.id = e.url_id
    WHERE e.page_id {ids} GROUP BY e.page_id, u.url"""


class PageChange(NamedTuple):
    """A URL that was requested in at least one of two crawls; what is not known of it in one of them is None."""

    change: Change
    url: str  # in the second crawl, if it was requested there
    what: str  # what changed: status, title, content, redirect
    status_before: int | None
    status_after: int | None
    title_before: str | None
    title_after: str | None
    level_before: int | None
    level_after: int | None
    first_seen: float | None  # when the first of the crawls that requested it found it, in seconds since 1970
    last_seen: float | None  # when the last of them fetched it


class LinkChange(NamedTuple):
    """A link from a page of the site, not to itself; the number of links is None in a crawl that found none."""

    change: Change
    url: str
    target: str
    kind: Literal["internal", "external"]  # external: its target is on no site of the crawl
    links_before: int | None
    links_after: int | None
    first_seen: float | None  # when the first crawl that found it fetched its page
    last_seen: float | None  # when the last one fetched it


_Pair = tuple[Any, Any]  # the rows of a page in both crawls; None: it was not requested there


def page_changes(database: Database, before: int | None, after: int | None) -> Iterator[tuple[int, PageChange]]:
    """Yield a row for each URL that was requested on a site, whose numbers in two crawls are *before* and *after*.

    None stands for a crawl without the site. A URL *appeared* if it was a page (an HTML page with status 200) only in
    the second crawl, or was requested only there; *vanished* is the reverse. Rows come by the keys of their pages,
    which are yielded with them.
    """
    for first, second in _pairs(database, before, after):
        yield (second or first).key, _page_change(first, second)


def link_changes(
    database: Database, before: int | None, after: int | None
) -> Iterator[tuple[tuple[int, int | None], LinkChange]]:
    """Yield a row for each link of a page of the site, with the keys of page and target; None: of another site.

    *changed* means another number of links from page to target.
    """
    with database.read() as connection:
        for pairs in batches(_pairs(database, before, after), PAGES_AT_ONCE):
            yield from _links_of(connection, pairs, before, after)


def _pairs(database: Database, before: int | None, after: int | None) -> Iterator[_Pair]:
    """Yield the pages of both crawls with equal keys, in the order of the keys."""
    with database.read() as one, database.read() as other:
        pages = merge(_pages(one, before, 0), _pages(other, after, 1))
        for _, same in groupby(pages, key=itemgetter(0)):
            of_crawl = {crawl: page for _, crawl, page in same}
            yield of_crawl.get(0), of_crawl.get(1)


def _pages(connection: Connection, site_id: int | None, crawl: int) -> Iterator[tuple[int, int, Any]]:
    for page in streamed(connection, _REQUESTED, site=site_id):
        yield page.key, crawl, page


def _page_change(first: Any, second: Any) -> PageChange:
    known = second or first
    what = _differences(first, second) if first and second else ""
    growth = _rank(second) - _rank(first)
    change = (APPEARED if growth > 0 else VANISHED) if growth else (CHANGED if what else UNCHANGED)
    return PageChange(
        change,
        known.url,
        what,
        first and first.status,
        second and second.status,
        first and first.title,
        second and second.title,
        first and first.level,
        second and second.level,
        (first or known).found_at,
        known.fetched_at,
    )


def _rank(page: Any) -> int:
    return 0 if page is None else 2 if page.state == State.DONE else 1


def _differences(first: Any, second: Any) -> str:
    is_different = {
        "status": first.status != second.status or first.state != second.state,
        "title": (first.title or "") != (second.title or ""),
        "content": first.content_hash != second.content_hash,
        "redirect": first.moved_to != second.moved_to,
    }
    return ", ".join(name for name, value in is_different.items() if value)


_Target = int | str  # the key of a page of the site, or another URL


class _Link(NamedTuple):
    url: str
    is_external: bool
    count: int  # type: ignore[assignment]  # hides the method of tuples


def _links_of(
    connection: Connection, pairs: Sequence[_Pair], before: int | None, after: int | None
) -> Iterator[tuple[tuple[int, int | None], LinkChange]]:
    firsts, seconds = zip(*pairs, strict=True)
    found = _read_links(connection, firsts, before), _read_links(connection, seconds, after)
    for first, second in pairs:
        source = second or first
        old, new = (links.get(page.id, {}) if page else {} for links, page in zip(found, (first, second), strict=True))
        for target in sorted(old.keys() | new.keys(), key=lambda target: (isinstance(target, str), target)):
            if target == source.key:
                continue  # as in graphs
            links = old.get(target), new.get(target)
            known = links[1] or links[0]
            assert known is not None
            seen = [page.fetched_at for page, link in zip((first, second), links, strict=True) if page and link]
            yield (
                (source.key, target if isinstance(target, int) else None),
                LinkChange(
                    _link_change(*links),
                    source.url,
                    known.url,
                    "external" if known.is_external else "internal",
                    links[0] and links[0].count,
                    links[1] and links[1].count,
                    seen[0],
                    seen[-1],
                ),
            )


def _link_change(old: _Link | None, new: _Link | None) -> Change:
    if old is None or new is None:
        return APPEARED if old is None else VANISHED
    return UNCHANGED if old.count == new.count else CHANGED


def _read_links(connection: Connection, pages: Sequence[Any], site_id: int | None) -> dict[int, dict[_Target, _Link]]:
    """Return the links of *pages*, by the number of the page and by target."""
    links: dict[int, dict[_Target, _Link]] = {}
    ids = [page.id for page in pages if page is not None and page.state == State.DONE]
    rows: Any = streamed(connection, _LINKS, ids=ids)
    for page_id, target_site, key, url, count in rows:
        target = key if target_site == site_id else url
        links.setdefault(page_id, {})[target] = _Link(url, False, count)
    for page_id, url, count in streamed(connection, _EXTERNAL, ids=ids):
        links.setdefault(page_id, {}).setdefault(url, _Link(url, True, int(count)))
    return links


MOST_ROWS = 100_000  # of each list
R = TypeVar("R", PageChange, LinkChange)


class ComparedSite(NamedTuple):
    """A site and its numbers in two crawls; None in a crawl without it."""

    site: str
    folder: str | None
    before: int | None
    after: int | None


class LinkNumbers(NamedTuple):
    """The different links of the pages of a crawl, without those of pages to themselves."""

    internal: int
    external: int
    hosts: int  # that external ones lead to


@dataclass(frozen=True, slots=True)
class ChangeLists:
    """The pages and links of two crawls that changed, at most `MOST_ROWS` each, and how many changed in which way."""

    pages: list[PageChange]
    links: list[LinkChange]
    page_counts: Counter[Change]
    link_counts: Counter[Change]
    before: LinkNumbers
    after: LinkNumbers


def change_lists(database: Database, sites: Sequence[ComparedSite], most: int = MOST_ROWS) -> ChangeLists:
    """Return what changed on *sites*; of each list at most *most* rows, by site and then by page.

    Reads all pages and links of both crawls. Memory: the rows, and the external hosts.
    """
    page_counts: Counter[Change] = Counter()
    link_counts: Counter[Change] = Counter()
    kinds: tuple[Counter[str], Counter[str]] = Counter(), Counter()  # of the links of each crawl
    hosts: tuple[set[str], set[str]] = set(), set()

    def counted_links() -> Iterator[LinkChange]:
        for link in all_links(database, sites):
            for place, count in enumerate((link.links_before, link.links_after)):
                if count is not None:
                    kinds[place][link.kind] += 1
                    if link.kind == "external":
                        hosts[place].add(host_of(link.target))
            yield link

    pages = _first(changed(all_pages(database, sites), page_counts), most)
    links = _first(changed(counted_links(), link_counts), most)
    numbers = (LinkNumbers(of["internal"], of["external"], len(its)) for of, its in zip(kinds, hosts, strict=True))
    return ChangeLists(pages, links, page_counts, link_counts, *numbers)


def _first(rows: Iterator[R], most: int) -> list[R]:
    """Return the first *most* of *rows*, all of which are read."""
    found = list(islice(rows, most))
    deque(rows, 0)
    return found


def changed(rows: Iterable[R], counts: Counter[Change]) -> Iterator[R]:
    """Yield those of *rows* that changed; all of them are counted in *counts*."""
    for row in rows:
        counts[row.change] += 1
        if row.change != UNCHANGED:
            yield row


def all_pages(database: Database, sites: Sequence[ComparedSite]) -> Iterator[PageChange]:
    """Yield the pages of *sites* in both crawls."""
    for site in sites:
        yield from (page for _, page in page_changes(database, site.before, site.after))


def all_links(database: Database, sites: Sequence[ComparedSite]) -> Iterator[LinkChange]:
    """Yield the links of *sites* in both crawls."""
    for site in sites:
        yield from (link for _, link in link_changes(database, site.before, site.after))


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
        self.ids = range(1, len(self._keys) + 1)
        self._in_degree = array("q")

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

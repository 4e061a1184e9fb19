"""The model of a web fragment: the sites of a crawl, and the sites that they link to; as a graph and as CSV tables.

The sites of the crawl are the *target set*. The other sites that they link to are the *accompanying set*, divided into
classes by the number of target sites that link to them. Links are counted in SQL. Sites are grouped, for example by
host; links within a group are not counted.

References
----------
.. [1] Pechnikov, Chernobrovkin, Adaptive crawler for the search and gathering of external hyperlinks, section 1.
"""

from __future__ import annotations

from array import array
from bisect import bisect
from dataclasses import dataclass
from itertools import groupby, takewhile
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from crawlers.files.csv_tables import write_table
from crawlers.graphs.looks import CLASS_STARTS
from crawlers.graphs.model import Column
from crawlers.items import State
from crawlers.store.reading.queries import addresses_of, has_crossings
from crawlers.store.streaming import execute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from crawlers.graphs.model import Row
    from crawlers.store.database import Database


# Temporary tables belong to the reader; they vanish with its transaction, which is never committed.
_TABLES = (
    "CREATE TEMPORARY TABLE fragment_site (site VARCHAR PRIMARY KEY, number INTEGER NOT NULL)",
    """CREATE TEMPORARY TABLE fragment_link
       (source INTEGER, target INTEGER, key BIGINT, url_id BIGINT, page_id BIGINT, links BIGINT)""",
)
_ADD_SITE = "INSERT INTO fragment_site VALUES (:site, :number)"
# Equal pages count once, so that the result does not depend on whether the rows of duplicates are kept. A page that
# redirects to another site is refused, and counts as a link to that site.
_CONTENTS = f"""(
        SELECT p.site_id, min(p.id) AS page_id FROM page p JOIN site s ON s.id = p.site_id
        WHERE s.crawl_id = :crawl AND p.state IN ({int(State.DONE)}, {int(State.REFUSED)})
        GROUP BY p.site_id, coalesce(p.content_hash, CAST(p.id AS VARCHAR))
    ) AS content JOIN site s ON s.id = content.site_id"""  # noqa: S608
_EXTERNAL = f"""
    SELECT s.site AS source, u.site AS target, u.key, u.id AS url_id, CAST(NULL AS BIGINT) AS page_id, e.count
    FROM {_CONTENTS} JOIN external_link e ON e.page_id = content.page_id
    JOIN external_url u ON u.id = e.url_id"""  # noqa: S608
_CROSSINGS = f"""
    SELECT s.site, there.site, t.key, NULL, t.id, l.count
    FROM {_CONTENTS} JOIN link l ON l.source_id = content.page_id
    JOIN page t ON t.id = l.target_id JOIN site there ON there.id = t.site_id WHERE there.id <> s.id
    UNION ALL SELECT s.site, there.site, t.key, NULL, t.id, 1
    FROM page p JOIN site s ON s.id = p.site_id
    JOIN page t ON t.id = p.moved_to JOIN site there ON there.id = t.site_id
    WHERE s.crawl_id = :crawl AND p.state = {int(State.MOVED)} AND there.id <> s.id"""  # noqa: S608
_ADD_LINKS = """
    INSERT INTO fragment_link
    SELECT a.number, b.number, found.key, min(found.url_id), min(found.page_id), sum(found.count)
    FROM ({links}) AS found JOIN fragment_site a ON a.site = found.source JOIN fragment_site b ON b.site = found.target
    WHERE a.number <> b.number GROUP BY a.number, b.number, found.key"""
_PAIRS = "SELECT source, target, count(*), sum(links) FROM fragment_link GROUP BY source, target ORDER BY source"
# PostgreSQL compares text by the database's language; the smallest URL must not depend on it.
_INWARD = """
    SELECT target, count(DISTINCT f.key), sum(links), min(coalesce(u.url, p.url) {c})
    FROM fragment_link f LEFT JOIN external_url u ON u.id = f.url_id LEFT JOIN page p ON p.id = f.page_id
    GROUP BY target"""
_UNBUFFERED = {"stream_results": True}
_OUTWARD = "SELECT source, count(DISTINCT key) FROM fragment_link GROUP BY source"
_PAGES = f"""
    SELECT s.site, count(DISTINCT p.content_hash), count(*) + sum(p.duplicates)
    FROM page p JOIN site s ON s.id = p.site_id
    WHERE s.crawl_id = :crawl AND p.state = {int(State.DONE)} GROUP BY s.site"""  # noqa: S608


class Pair(NamedTuple):
    """The links of a target site to another site."""

    source: int
    target: int
    urls: int  # distinct
    links: int


class Inward(NamedTuple):
    """The links of all target sites together to one site."""

    target_sites: int = 0  # that link here
    urls: int = 0  # distinct
    links: int = 0
    example: str = ""  # the smallest URL


class Outward(NamedTuple):
    """The pages of a target site, and the URLs that it links to."""

    pages: int = 0  # distinct contents
    duplicates: int = 0
    urls: int = 0  # distinct, of other sites


@dataclass(frozen=True, slots=True)
class FragmentCounts:
    """Sites by number, from 1: first the target set, by name; then the sites that it links to, by the number
    of target sites that link to them, then by the number of URLs, both descending.
    """

    sites: Sequence[str]
    inward: Sequence[Inward]  # of each of the sites
    outward: Sequence[Outward]  # of each target site
    pairs: Pairs

    @property
    def targets(self) -> range:
        """The numbers of the target set."""
        return range(1, len(self.outward) + 1)

    @property
    def accompanying(self) -> range:
        """The numbers of the other sites."""
        return range(len(self.outward) + 1, len(self.sites) + 1)


class Pairs:
    """The pairs of sites with links from one to the other, by number; 32 bytes each, possibly a million."""

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        self._columns = tuple(array("q") for _ in Pair._fields)
        for pair in pairs:
            self.add(pair)

    def add(self, pair: Iterable[int]) -> None:
        for column, value in zip(self._columns, pair, strict=True):
            column.append(value)

    def __iter__(self) -> Iterator[Pair]:
        return map(Pair._make, zip(*self._columns, strict=True))


def count_fragment(database: Database, crawl_id: int, group: Callable[[str], str]) -> FragmentCounts:
    """Return the counts of a crawl; *group* maps a site to the name of its group.

    Memory: some 1000 bytes per site and 64 per pair of sites; links take none, because the database groups them in
    temporary files.
    """
    addresses = addresses_of(database, crawl_id)

    def group_of(address: str) -> str:  # links to an address of a site are links to that site
        return group(addresses.site(address))

    with database.read() as connection:
        crawled = connection.execute(text("SELECT site FROM site WHERE crawl_id = :crawl"), {"crawl": crawl_id})
        targets = sorted({group_of(site) for site in crawled.scalars()})
        names = _gather(connection, crawl_id, targets, group_of)
        pairs, target_sites = Pairs(), [0] * (len(names) + 1)
        for row in connection.execute(text(_PAIRS), execution_options=_UNBUFFERED):
            pairs.add(map(int, row))
            target_sites[row[1]] += 1
        inward = {}
        for place, urls, links, example in execute(connection, _INWARD):
            inward[place] = Inward(target_sites[place], urls, int(links), example)
        outward = _outward(connection, crawl_id, targets, group_of)
    return _numbered(names, inward, outward, pairs)


def _gather(connection: Connection, crawl_id: int, targets: list[str], group: Callable[[str], str]) -> list[str]:
    """Fill the temporary tables; return the names of all groups, *targets* first."""
    number = {name: place for place, name in enumerate(targets, 1)}
    rows = []
    known = "SELECT site FROM external_url UNION SELECT site FROM site WHERE crawl_id = :crawl"
    for site in connection.execute(text(known), {"crawl": crawl_id}).scalars():
        rows.append({"site": site, "number": number.setdefault(group(site), len(number) + 1)})
    for statement in _TABLES:
        connection.execute(text(statement))
    if rows:
        connection.execute(text(_ADD_SITE), rows)
    links = f"{_EXTERNAL} UNION ALL {_CROSSINGS}" if has_crossings(connection, crawl_id) else _EXTERNAL
    connection.execute(text(_ADD_LINKS.format(links=links)), {"crawl": crawl_id})
    return list(number)


def _outward(connection: Connection, crawl_id: int, targets: list[str], group: Callable[[str], str]) -> list[Outward]:
    urls: dict[int, int] = dict(map(tuple, connection.execute(text(_OUTWARD))))
    pages: dict[str, tuple[int, int]] = {}
    for site, distinct, total in connection.execute(text(_PAGES), {"crawl": crawl_id}):
        before = pages.get(group(site), (0, 0))
        pages[group(site)] = (before[0] + distinct, before[1] + int(total) - distinct)
    return [Outward(*pages.get(name, (0, 0)), urls.get(place, 0)) for place, name in enumerate(targets, 1)]


def _numbered(
    names: list[str], inward: Mapping[int, Inward], outward: list[Outward], pairs: Iterable[Pair]
) -> FragmentCounts:
    """Drop the sites without incoming links, and number the others in the order of `FragmentCounts`."""
    linked = [place for place in inward if place > len(outward)]
    linked.sort(key=lambda place: (-inward[place].target_sites, -inward[place].urls, names[place - 1]))
    order = [*range(1, len(outward) + 1), *linked]
    number = {place: new for new, place in enumerate(order, 1)}
    ordered = Pairs()
    for _, of_source in groupby(pairs, key=itemgetter(0)):
        for pair in sorted(pair._replace(target=number[pair.target]) for pair in of_source):
            ordered.add(pair)
    return FragmentCounts(
        [names[place - 1] for place in order], [inward.get(place, Inward()) for place in order], outward, ordered
    )


TARGET, ACCOMPANYING = "target", "accompanying"


def link_class(target_sites: int, of: int) -> str:
    """Return the class of a site that *target_sites* of *of* target sites link to.

    >>> [link_class(number, of=500) for number in (1, 2, 4, 9, 10, 500)]
    ['1', '2', '3 to 4', '5 to 9', '10+', '10+']
    >>> link_class(3, of=3), link_class(5, of=7), link_class(10, of=10)
    ('3', '5 to 7', '10')
    """
    place = bisect(CLASS_STARTS, target_sites)
    least = CLASS_STARTS[place - 1]
    is_last = place == len(CLASS_STARTS)
    if is_last and of > least:
        return f"{least}+"
    most = of if is_last else min(CLASS_STARTS[place] - 1, of)
    return str(least) if least == most else f"{least} to {most}"  # a spreadsheet reads 3-4 as a date


class ClassSize(NamedTuple):
    """A class of the accompanying set, with the total URLs and links of its sites."""

    name: str
    sites: int
    urls: int
    links: int


def class_sizes(counts: FragmentCounts) -> list[ClassSize]:
    """Return the classes that have sites, the most connected first."""
    sizes = []
    linked = (counts.inward[number - 1] for number in counts.accompanying)
    for name, of_class in groupby(linked, key=lambda inward: link_class(inward.target_sites, len(counts.targets))):
        members = list(of_class)
        sizes.append(ClassSize(name, len(members), sum(one.urls for one in members), sum(one.links for one in members)))
    return sizes


class WebFragment:
    """The sites as a graph: the weight of an edge is the number of links from pages of one site to the other.

    With *targets_only* it contains only the target set and the links within it.
    """

    columns = (
        Column("set", "string"),
        Column("class", "string"),  # of accompanying sites
        Column("pages", "integer"),  # these three belong to target sites
        Column("duplicates", "integer"),
        Column("external_links", "integer"),
        Column("in_degree", "integer"),
        Column("out_degree", "integer"),
        Column("urls_in", "integer"),
        Column("links_in", "long"),
    )

    def __init__(self, counts: FragmentCounts, name: str, *, targets_only: bool = False) -> None:
        self.name = name
        self.description = f"{len(counts.targets)} target sites of {name}"
        if not targets_only:
            self.description += f" and {len(counts.accompanying)} accompanying sites"
        self._counts = counts
        self.ids = counts.targets if targets_only else range(1, len(counts.sites) + 1)

    def edges(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        for source, pairs in self._by_source():
            yield source, [(pair.target, pair.links) for pair in pairs]

    def nodes(self) -> Iterator[Row]:
        counts = self._counts
        out_degree = {source: len(pairs) for source, pairs in self._by_source()}
        for number, (site, inward) in enumerate(zip(counts.sites, counts.inward, strict=True), 1):
            if number not in self.ids:
                return
            of_links = inward.target_sites, out_degree.get(number, 0), inward.urls, inward.links
            if number in counts.targets:
                yield number, site, TARGET, None, *counts.outward[number - 1], *of_links
            else:
                yield (
                    number,
                    site,
                    ACCOMPANYING,
                    link_class(inward.target_sites, len(counts.targets)),
                    None,
                    None,
                    None,
                    *of_links,
                )

    def _by_source(self) -> Iterator[tuple[int, list[Pair]]]:
        for source, pairs in groupby(self._counts.pairs, key=attrgetter("source")):
            yield source, list(takewhile(lambda pair: pair.target in self.ids, pairs))


NAMES_SHOWN = 20  # longer cells are hard to read

_SITE_COLUMNS = ("site", "class", "target_sites", "linked_from", "urls", "links", "example")
_PAIR_COLUMNS = ("source", "target", "set", "class", "urls", "links")


def write_accompanying(counts: FragmentCounts, path: Path) -> None:
    """Write the accompanying sites to *path*, by the number of target sites that link to them, descending.

    *linked_from* lists up to `NAMES_SHOWN` target sites, separated by spaces. Raises the errors of `write_graph`.
    """
    first = counts.accompanying.start
    linked_from: list[list[int]] = [[] for _ in counts.accompanying]
    for pair in counts.pairs:
        if pair.target >= first and len(names := linked_from[pair.target - first]) < NAMES_SHOWN:
            names.append(pair.source)
    rows = (
        (
            counts.sites[number - 1],
            link_class(inward.target_sites, len(counts.targets)),
            inward.target_sites,
            " ".join(counts.sites[source - 1] for source in sources),
            inward.urls,
            inward.links,
            inward.example,
        )
        for number, sources in zip(counts.accompanying, linked_from, strict=True)
        for inward in (counts.inward[number - 1],)
    )
    write_table(path, _SITE_COLUMNS, rows)


def write_pairs(counts: FragmentCounts, path: Path) -> None:
    """Write the links between sites to *path*, a row for each pair, with the numbers of URLs and links."""
    rows = (
        (
            counts.sites[source - 1],
            counts.sites[target - 1],
            TARGET if target in counts.targets else ACCOMPANYING,
            "" if target in counts.targets else link_class(counts.inward[target - 1].target_sites, len(counts.targets)),
            urls,
            links,
        )
        for source, target, urls, links in counts.pairs
    )
    write_table(path, _PAIR_COLUMNS, rows)

"""The graphs of a crawl by name, and the part of one of them that somebody wants to look at, with its places.

One of them has the pages of all sites, with the links between the sites.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import nlargest, nsmallest
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import func, select

from crawlers.errors import ConfigError
from crawlers.graphs.export import no_graph_of
from crawlers.graphs.looks import (
    CLASS,
    CLASS_COLOURS,
    COMMUNITY,
    COMMUNITY_COLOURS,
    CRAWLED_COLOUR,
    HOST,
    IN_DEGREE,
    LEVEL,
    LEVEL_COLOURS,
    OTHER,
    PAGERANK,
    SET,
    GraphLayout,
    laid_out,
)
from crawlers.graphs.model import PAGE_COLUMNS
from crawlers.graphs.site_graph import SiteGraph
from crawlers.graphs.web_fragment import WebFragment, count_fragment
from crawlers.items import State
from crawlers.plurals import counted
from crawlers.store.reading.queries import has_crossings, sites_of
from crawlers.store.schema.tables import page, site
from crawlers.store.streaming import streamed
from crawlers.urls.domains import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crawlers.files.csv_tables import Value
    from crawlers.graphs.looks import LaidOutGraph
    from crawlers.graphs.model import Column, Graph, Row
    from crawlers.items import Target
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import CrawledSite, NamedCrawl

LABEL_CHARS = 40


class MapNode(NamedTuple):
    """A node with its place and its look."""

    label: str
    title: str
    level: int | None
    in_degree: int
    out_degree: int | None
    x: float
    y: float
    size: float  # diameter, in the unit of x and y
    colour: str  # #rrggbb
    group: str = ""  # what the colour stands for: a level, a host, the number of a community or a class


class Meaning(NamedTuple):
    """What a colour stands for."""

    template: str  # in English, one of `MEANINGS`: translations are found by it
    name: str  # %(name)s in the template
    colour: str  # #rrggbb

    @property
    def text(self) -> str:
        """The meaning in English."""
        return self.template % {"name": self.name}


AROUND, SMALLER = "around %(name)s", "smaller communities"
OF_LEVEL, DEEPER = "level %(name)s", "level %(name)s and deeper"
OF_HOST, OTHER_HOSTS = "%(name)s", "other hosts"
CRAWLED, OTHER_SITE = "crawled site", "other site"
OF_CLASS = "crawled sites that link to it: %(name)s"
MEANINGS = (AROUND, SMALLER, OF_LEVEL, DEEPER, OF_HOST, OTHER_HOSTS, CRAWLED, OTHER_SITE, OF_CLASS)


class GraphMap(NamedTuple):
    """The most important nodes and edges of a graph, or those around a node, placed."""

    name: str
    nodes: list[MapNode]
    edges: list[tuple[int, int]]  # places in *nodes*
    all_nodes: int  # of the graph
    all_edges: int
    legend: list[Meaning]
    is_of_sites: bool = False
    centre: str = ""  # the label of the node whose neighbourhood this is

    @property
    def is_whole(self) -> bool:
        """Whether all of the graph is drawn."""
        return len(self.nodes) == self.all_nodes and len(self.edges) == self.all_edges

    @property
    def subset(self) -> str:
        """Return a sentence that says which part of the graph is drawn; empty if all of it is."""
        if self.is_whole:
            return ""
        noun = "sites" if self.is_of_sites else "pages"
        which = f"nearest to {self.centre}" if self.centre else f"to which most {noun} link"
        return (
            f"The {len(self.nodes):,} {noun} {which}, out of {self.all_nodes:,}, and {len(self.edges):,} of "
            f"{self.all_edges:,} links; links to {noun} with few links come first."
        )


def short_name(label: str) -> str:
    """Return the path of a URL, or a name without one, cut to `LABEL_CHARS`.

    >>> short_name("http://a.test/manual/index.html"), short_name("http://a.test"), short_name("a.test")
    ('/manual/index.html', 'a.test', 'a.test')
    """
    try:
        parts = urlsplit(label)
    except ValueError:
        parts = urlsplit("")
    name = parts.path + (f"?{parts.query}" if parts.query else "") if parts.netloc else label
    name = name or parts.netloc or label
    return name if len(name) <= LABEL_CHARS else f"…{name[1 - LABEL_CHARS :]}"


MAP_NODES = 5_000  # what a browser shows without delay, and a person can look at
MAP_EDGES = 50_000


class Neighbourhood(NamedTuple):
    """The nodes that at most *hops* links, in either direction, separate from the node *centre*."""

    centre: int  # its id
    hops: int


def graph_map(
    graph: Graph,
    layout: GraphLayout,
    max_nodes: int = MAP_NODES,
    around: Neighbourhood | None = None,
) -> GraphMap:
    """Return the most important part of *graph*, or of a neighbourhood, placed; equal graphs give equal maps.

    These are the *max_nodes* nodes with the most incoming edges, in a neighbourhood first those nearest to its centre,
    and, between them, at most `MAP_EDGES` edges: first those to nodes with few incoming ones, because a link to a page
    of the menu shows nothing. *graph* has a column in_degree.
    Memory: for the part, not for the graph. Raises `ConfigError` if the library that places nodes is missing.
    """
    distances = _distances(graph, around) if around is not None else None
    all_edges = sum(len(targets) for _, targets in graph.edges())
    part, all_nodes = _most_linked(graph, max_nodes, distances)
    degrees = {row[0]: _number(_values(graph, row)[IN_DEGREE]) for row in part}
    inner = _inner_edges(graph, degrees)
    chosen = sorted(edge[1:] for edge in nsmallest(MAP_EDGES, inner))
    links = [(source, [(to, 1) for _, to in targets]) for source, targets in groupby(chosen, key=lambda edge: edge[0])]
    drawn = laid_out(MemoryGraph(part, links, graph.columns, graph.name), layout)
    rows = list(drawn.graph.nodes())
    places = {row[0]: place for place, row in enumerate(rows)}
    nodes = [_node(drawn, row) for row in rows]
    edges = [(places[source], places[target]) for source, target in chosen]
    is_of_sites = SET in [column.name for column in graph.columns]
    centre = nodes[places[around.centre]].label if around is not None else ""
    legend = _legend(nodes, drawn.group)
    return GraphMap(graph.name, nodes, edges, all_nodes, all_edges, legend, is_of_sites, centre)


def _distances(graph: Graph, around: Neighbourhood) -> dict[int, int]:
    """Return the distances of the nodes of a neighbourhood from its centre; reads the edges once for each hop."""
    found, last = {around.centre: 0}, {around.centre}
    for hop in range(1, around.hops + 1):
        ring: set[int] = set()
        for source, targets in graph.edges():
            if source in last:
                ring.update(target for target, _ in targets)
            elif any(target in last for target, _ in targets):
                ring.add(source)
        last = ring - found.keys()
        found.update(dict.fromkeys(last, hop))
    return found


def _values(graph: Graph, row: Row) -> dict[str, Value]:
    _, _, *values = row
    return dict(zip((column.name for column in graph.columns), values, strict=True))


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0


def _most_linked(graph: Graph, most: int, distances: dict[int, int] | None) -> tuple[list[Row], int]:
    """Return the nearest nodes with the most incoming edges by id, and the number of all."""
    count = 0
    place = 2 + [column.name for column in graph.columns].index(IN_DEGREE)

    def counted() -> Iterator[tuple[int, int, int, Row]]:
        nonlocal count
        for count, row in enumerate(graph.nodes(), 1):  # noqa: B007 - the last one is the number of all
            if distances is None:
                yield 0, _number(row[place]), -row[0], row
            elif (distance := distances.get(row[0])) is not None:
                yield -distance, _number(row[place]), -row[0], row

    chosen = [found[-1] for found in nlargest(most, counted(), key=lambda found: found[:3])]
    return sorted(chosen, key=lambda row: row[0]), count


def _inner_edges(graph: Graph, degrees: dict[int, int]) -> Iterator[tuple[int, int, int]]:
    """Yield the edges between nodes of *degrees*, with the in-degree of the target first."""
    for source, targets in graph.edges():
        if source in degrees:
            yield from ((degrees[target], source, target) for target, _ in targets if target in degrees)


def _node(drawn: LaidOutGraph, row: Row) -> MapNode:
    of_node, look = _values(drawn.graph, row), drawn.look(row)
    level, out_degree, group = of_node.get(LEVEL), of_node.get("out_degree"), of_node.get(drawn.group)
    assert look.position is not None
    return MapNode(
        row[1],
        str(of_node.get("title") or ""),
        level if isinstance(level, int) else None,
        _number(of_node.get(IN_DEGREE)),
        out_degree if isinstance(out_degree, int) else None,
        *look.position,
        look.size,
        look.colour,
        "" if group is None else str(group),
    )


_PALETTES = {
    COMMUNITY: COMMUNITY_COLOURS,
    HOST: COMMUNITY_COLOURS,
    CLASS: (CRAWLED_COLOUR, *CLASS_COLOURS),
    SET: (CRAWLED_COLOUR,),
}
_OTHERS = {COMMUNITY: SMALLER, HOST: OTHER_HOSTS, SET: OTHER_SITE}  # what the colour of all others means


def _legend(nodes: list[MapNode], group: str) -> list[Meaning]:
    """Return what the colours of *nodes* mean; they are coloured by the column *group*."""
    by_colour: dict[str, MapNode] = {}  # the most linked node of each colour
    for node in nodes:
        if node.colour not in by_colour or node.in_degree > by_colour[node.colour].in_degree:
            by_colour[node.colour] = node
    palette = _PALETTES.get(group, LEVEL_COLOURS)
    named = [_meaning(group, by_colour[colour]) for colour in palette if colour in by_colour]
    return [*named, Meaning(_OTHERS[group], "", OTHER)] if group in _OTHERS and OTHER in by_colour else named


def _meaning(group: str, node: MapNode) -> Meaning:
    if group == COMMUNITY:
        return Meaning(AROUND, short_name(node.label), node.colour)
    if group == HOST:
        return Meaning(OF_HOST, node.group, node.colour)
    if group in (CLASS, SET):
        return (
            Meaning(OF_CLASS, node.group, node.colour)
            if group == CLASS and node.group
            else Meaning(CRAWLED, "", node.colour)
        )
    level = LEVEL_COLOURS.index(node.colour)
    return Meaning(DEEPER if level == len(LEVEL_COLOURS) - 1 else OF_LEVEL, str(level), node.colour)


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
        self._before = [0, *accumulate(len(graph.ids) for graph in self._graphs)]
        self.ids = range(1, self._before[-1] + 1)
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


ALL_PAGES = "pages"  # of all sites; the names of the graphs of sites are those of GROUPS
MOST_PAGES = 100_000  # of all sites in one graph: some 30 MB
HOPS = (1, 2, 3)
NODES = (500, 2_000, MAP_NODES)
SIZES = (IN_DEGREE, PAGERANK)


class MapRequest(NamedTuple):
    """What to draw."""

    graph: str  # a site of the crawl, ALL_PAGES, or one of GROUPS
    colour: str
    size: str = IN_DEGREE
    nodes: int = NODES[1]  # at most
    url: str = ""  # the centre of a neighbourhood; "": the most important part
    hops: int = HOPS[1]  # of the neighbourhood


def colours_of(graph: str) -> tuple[str, ...]:
    """Return what colours can mean in the graph of that name, the most telling one first.

    >>> colours_of("http://a.test"), colours_of("host")
    (('community', 'level'), ('class', 'community'))
    """
    if graph in GROUPS:
        return (CLASS, COMMUNITY)
    return (HOST, COMMUNITY, LEVEL) if graph == ALL_PAGES else (COMMUNITY, LEVEL)


def map_request(given: Mapping[str, str], default: str) -> MapRequest:
    """Return what the parameters *given* as text ask for; without a graph, the one called *default*.

    A colour that the graph does not have is its first one. Raises `ConfigError` with a sentence about other words.
    """
    graph = given.get("graph", "") or default
    colours = colours_of(graph)
    colour = given.get("colour", "")
    return MapRequest(
        graph,
        colour if colour in colours else colours[0],
        _chosen(given, "size", SIZES, IN_DEGREE),
        int(_chosen(given, "nodes", [str(one) for one in NODES], str(NODES[1]))),
        given.get("url", "").strip(),
        int(_chosen(given, "hops", [str(one) for one in HOPS], str(HOPS[1]))),
    )


def _chosen(given: Mapping[str, str], name: str, known: Sequence[str], default: str) -> str:
    value = given.get(name, "") or default
    if value not in known:
        raise ConfigError(f"{name}={value!r} must be one of: {', '.join(known)}")
    return value


def sites_by_pages(database: Database, crawl_id: int, most: int) -> list[str]:
    """Return the *most* sites with the most pages, these first; those without pages are left out.

    Takes some 0.7 s for a million pages.
    """
    pages = func.count()
    statement = (
        select(site.c.site)
        .join(page, page.c.site_id == site.c.id)
        .where(site.c.crawl_id == crawl_id, page.c.state == int(State.DONE))
        .group_by(site.c.id, site.c.site)
        .order_by(pages.desc(), site.c.site)
        .limit(most)
    )
    return database.scalars(statement)


def crawl_graph(database: Database, crawl: NamedCrawl, name: str) -> Graph:
    """Return the graph of *crawl* called *name*: of pages of one site or all of them, or of sites.

    Raises `ConfigError` if there is none, or if `ALL_PAGES` are too many.
    """
    if name in GROUPS:
        return WebFragment(count_fragment(database, crawl.id, GROUPS[name]), crawl.name)
    sites = sites_of(database, crawl.id)
    if name == ALL_PAGES:
        done = select(func.count()).select_from(page).join(site, site.c.id == page.c.site_id)
        pages = database.scalar(done.where(site.c.crawl_id == crawl.id, page.c.state == int(State.DONE)))
        if pages > MOST_PAGES:
            raise ConfigError(
                f"the graph of all pages has {counted(pages, 'node')}, more than {MOST_PAGES:,}; choose a site, or the "
                "graph of sites"
            )
        return CrawlGraph(database, crawl, sites)
    chosen = next((one for one in sites if one.site == name), None)
    if chosen is None:
        raise ConfigError(f"{name!r} is not a site of the crawl {crawl.name} (number {crawl.id})")
    graph = SiteGraph(database, chosen.id, chosen.site, f"pages and links of {chosen.site}")
    if not graph.ids:
        raise ConfigError(no_graph_of([chosen.site]))
    return graph


def site_of_page(database: Database, crawl: NamedCrawl, targets: Sequence[Target]) -> tuple[str, int] | None:
    """Return the site and the number of the first of the pages *targets* that the crawl knows."""
    of_crawl = select(page.c.id).join(site, site.c.id == page.c.site_id).where(site.c.crawl_id == crawl.id)
    for target in targets:
        found = database.scalar(of_crawl.where(site.c.site == target.site, page.c.key == target.key))
        if found is not None:
            return target.site, found
    return None


def crawl_map(database: Database, crawl: NamedCrawl, wanted: MapRequest, targets: Sequence[Target]) -> GraphMap:
    """Return the map that is *wanted*; *targets* are the URLs that its centre may stand for.

    Takes seconds for 5,000 nodes, and reads all links of the graph. Raises `ConfigError` with a sentence.
    """
    layout = GraphLayout(wanted.colour, wanted.size)
    graph = crawl_graph(database, crawl, wanted.graph)
    around = Neighbourhood(_centre(database, crawl, graph, wanted, targets), wanted.hops) if wanted.url else None
    return graph_map(graph, layout, wanted.nodes, around=around)


def _centre(database: Database, crawl: NamedCrawl, graph: Graph, wanted: MapRequest, targets: Sequence[Target]) -> int:
    if isinstance(graph, (SiteGraph, CrawlGraph)):
        found = site_of_page(database, crawl, targets)
        node = graph.node(found[1]) if found is not None else None
    else:
        names = {GROUPS[wanted.graph](target.site) for target in targets}
        for _ in graph.edges():  # a graph yields its nodes after its edges
            pass
        node = next((row[0] for row in graph.nodes() if row[1] in names), None)
    if node is None:
        raise ConfigError(f"{wanted.url} is not a page of this graph; choose another graph, or look it up in Explain")
    return node


@dataclass(frozen=True, slots=True)
class MemoryGraph:
    """A graph of literals, for tests and small jobs."""

    rows: Sequence[Row]
    links: Sequence[tuple[int, Sequence[tuple[int, int]]]]
    columns: tuple[Column, ...] = PAGE_COLUMNS
    name: str = ""
    description: str = ""

    @property
    def ids(self) -> list[int]:
        return [row[0] for row in self.rows]

    def edges(self) -> Iterator[tuple[int, Sequence[tuple[int, int]]]]:
        return iter(self.links)

    def nodes(self) -> Iterator[Row]:
        return iter(self.rows)

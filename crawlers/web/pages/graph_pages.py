"""The graph of a crawl as a picture that answers to the mouse, as files, and as a table."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.graphs.crawl_map import (
    ALL_PAGES,
    HOPS,
    NODES,
    SIZES,
    MapRequest,
    colours_of,
    crawl_graph,
    crawl_map,
    map_request,
    site_of_page,
    sites_by_pages,
)
from crawlers.graphs.export import graph_format
from crawlers.graphs.looks import GraphLayout, laid_out
from crawlers.reports.catalogue.report import Column, Kind
from crawlers.reports.figures import draw_map
from crawlers.reports.histories.url_history import possible_targets
from crawlers.urls.domains import GROUPS
from crawlers.web.downloads import GRAPH_TYPES, file_name, graph_file, graph_json, saved_as, sends_file, table_file
from crawlers.web.panel import again, crawl_of, known, panel_of, patience_for, render, rules_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from crawlers.graphs.crawl_map import GraphMap
    from crawlers.items import Target
    from crawlers.reports.catalogue.report import Cells, TimeLimit
    from crawlers.store.reading.queries import NamedCrawl
    from crawlers.web.cached_results import Outcome

LISTED_SITES = 200  # other sites are found by a URL
SITES_SHARE = 0.1  # of the time, in which the sites of a crawl are listed anew
LISTED_NODES = 100  # in the table; the files have all
FILE_WAIT_S = 60.0  # for a picture or a table of a map that is being computed
PICTURES = {"png": "image/png", "svg": "image/svg+xml"}
NODE_COLUMNS = (
    Column("url", "URL", Kind.URL),
    Column("title", "Title"),
    Column("level", "Level", Kind.NUMBER),
    Column("in_degree", "Linking nodes", Kind.NUMBER),
    Column("out_degree", "Linked nodes", Kind.NUMBER),
)
PLACE_COLUMNS = (
    Column("x", "x", Kind.DECIMAL),
    Column("y", "y", Kind.DECIMAL),
    Column("size", "Size", Kind.DECIMAL),
    Column("colour", "Colour"),
    Column("group", "Group"),
)
EDGE_COLUMNS = (Column("source", "Source", Kind.URL), Column("target", "Target", Kind.URL))


def graph(request: Request) -> Response:
    """Show a part of the graph of a site, of all pages or of all sites, as soon as it is computed."""
    crawl = crawl_of(request)
    patience = patience_for(request, crawl)
    found = _sites(request, crawl, patience)
    if found.is_missing and not request.query_params.get("graph"):  # which site has most pages is not known yet
        return render(request, "unfinished.html", crawl=crawl, title="Graph", unfinished=found)
    if not found.is_missing and not found.value:
        return render(request, "graph.html", crawl=crawl, wanted=None, drawn=None)
    listed = found.value or []
    wanted, targets = _wanted(request, crawl, listed)
    if (response := again(request, _key(crawl, wanted))) is not None:
        return response
    outcome = _outcome(request, crawl, wanted, targets, patience.left_s)
    drawn = outcome.value
    query = urlencode({name: value for name, value in wanted._asdict().items() if value})
    page = render(
        request,
        "graph.html",
        crawl=crawl,
        sites=listed,
        graphs=(ALL_PAGES, *GROUPS),
        all_hops=HOPS,
        all_nodes=NODES,
        sizes=SIZES,
        columns=NODE_COLUMNS,
        listed_nodes=LISTED_NODES,
        wanted=wanted,
        colours=colours_of(wanted.graph),
        outcome=outcome,
        drawn=drawn,
        rows=_listed(drawn) if drawn is not None else [],
        data=Markup(graph_json(drawn)) if drawn is not None else "",  # noqa: S704 - escaped there
        query=query,
    )
    if drawn is not None and "hx-request" in request.headers:
        page.headers["hx-refresh"] = "true"  # the page that waits is replaced by one with scripts
    return page


def picture(request: Request) -> Response:
    """Send the picture as SVG or PNG."""
    ending = request.path_params["format"]
    media_type = known(PICTURES, "format", ending)
    crawl, drawn = _map_of(request)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"graph.{ending}"
        draw_map(path, drawn)
        content = path.read_bytes()
    return Response(content, media_type=media_type, headers=saved_as(f"{file_name(crawl, 'graph')}.{ending}"))


def nodes_table(request: Request) -> Response:
    """Send the nodes of the picture as CSV."""
    crawl, drawn = _map_of(request)
    return table_file(request, (*NODE_COLUMNS, *PLACE_COLUMNS), drawn.nodes, "csv", file_name(crawl, "nodes"))


def edges_table(request: Request) -> Response:
    """Send the edges of the picture as CSV."""
    crawl, drawn = _map_of(request)
    ends = ((drawn.nodes[source].label, drawn.nodes[target].label) for source, target in drawn.edges)
    return table_file(request, EDGE_COLUMNS, ends, "csv", file_name(crawl, "edges"))


def full_graph(request: Request) -> Response:
    """Send the whole graph, which is written to a temporary file first."""
    ending = request.path_params["format"]
    known(GRAPH_TYPES, "format", ending)
    crawl, database = crawl_of(request), panel_of(request).database
    wanted, _ = _wanted(request, crawl, _listed_sites(request, crawl))
    whole = crawl_graph(database, crawl, wanted.graph)
    look, format_ = None, graph_format(ending)
    if format_.has_looks:
        whole, look, *_ = laid_out(whole, GraphLayout(wanted.colour, wanted.size))
    return graph_file(
        lambda out, edges: format_.write(whole, out, edges, look), ending, f"{file_name(crawl, 'full')}.{ending}"
    )


def _sites(request: Request, crawl: NamedCrawl, patience: TimeLimit) -> Outcome[list[str]]:
    """Return the sites that the page lists, those with most pages first."""
    panel = panel_of(request)
    compute = partial(sites_by_pages, panel.database, crawl.id, LISTED_SITES)
    return panel.results.get(("sites by pages", crawl.id, crawl.state), compute, patience.left_s, share=SITES_SHARE)


def _listed_sites(request: Request, crawl: NamedCrawl) -> list[str]:
    return _sites(request, crawl, panel_of(request).results.patience()).value or []


def _wanted(request: Request, crawl: NamedCrawl, sites: list[str]) -> tuple[MapRequest, list[Target]]:
    """Return what to draw, and the URLs that its centre may stand for.

    Without a choice that is the graph of the site of the centre, or else of the site with the most pages.
    """
    database = panel_of(request).database
    given = {name: request.query_params.get(name, "") for name in MapRequest._fields}
    targets: list[Target] = []
    default = sites[0] if sites else ALL_PAGES
    if url := given["url"].strip():
        targets = possible_targets(database, crawl, url, rules_of(database, crawl.id).normalization)
        if (found := site_of_page(database, crawl, targets)) is not None:
            default = found[0]
    return map_request(given, default), targets


def _key(crawl: NamedCrawl, wanted: MapRequest) -> tuple[int, str, MapRequest]:
    """Return what a cached map depends on: when a crawl ends or goes on, its maps are computed again."""
    return (crawl.id, crawl.state, wanted)


def _outcome(
    request: Request, crawl: NamedCrawl, wanted: MapRequest, targets: list[Target], wait_s: float
) -> Outcome[GraphMap]:
    panel = panel_of(request)
    compute = partial(crawl_map, panel.database, crawl, wanted, targets)
    return panel.results.get(_key(crawl, wanted), compute, wait_s)


def _map_of(request: Request) -> tuple[NamedCrawl, GraphMap]:
    """Return the crawl and the map that the files of a page are made of."""
    crawl = crawl_of(request)
    outcome = _outcome(request, crawl, *_wanted(request, crawl, _listed_sites(request, crawl)), FILE_WAIT_S)
    if outcome.problem:
        raise ConfigError(outcome.problem)
    if outcome.value is None:
        raise HTTPException(503, "The graph is still being computed; load the file again.")
    return crawl, outcome.value


def _listed(drawn: GraphMap) -> list[Cells]:
    """Return the rows of the table: the nodes to which most nodes link."""
    nodes = sorted(drawn.nodes, key=lambda node: (-node.in_degree, node.label))[:LISTED_NODES]
    return [node[: len(NODE_COLUMNS)] for node in nodes]


ROUTES = [
    Route("/crawls/{crawl:int}/graph", graph),
    sends_file("/crawls/{crawl:int}/graph/picture.{format}", picture),
    sends_file("/crawls/{crawl:int}/graph/nodes.csv", nodes_table),
    sends_file("/crawls/{crawl:int}/graph/edges.csv", edges_table),
    sends_file("/crawls/{crawl:int}/graph/full.{format}", full_graph),
]

"""Two crawls side by side: how many pages and links each has, and those that appeared, vanished and changed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from sqlalchemy import func, select
from starlette.exceptions import HTTPException
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.graphs.crawl_changes import (
    APPEARED,
    CHANGED,
    CHANGES,
    MOST_ROWS,
    UNCHANGED,
    VANISHED,
    ComparedGraph,
    LinkChange,
    all_links,
    all_pages,
    change_lists,
    compared_sites,
    write_compared,
)
from crawlers.reports.catalogue.conditions import parsed_filters
from crawlers.reports.catalogue.renderers import FORMATS
from crawlers.reports.catalogue.report import Column, Kind, cursor_text, sorted_by
from crawlers.reports.crawl_manifest import differing_settings, manifest_of
from crawlers.reports.live_display import crawl_overview
from crawlers.store.reading.queries import sites_of
from crawlers.store.schema.tables import crawl as crawl_table
from crawlers.store.schema.tables import site
from crawlers.web.downloads import TABLE_TYPES, graph_file, sends_file, table_parts, written_file
from crawlers.web.pages.crawl_pages import with_counts
from crawlers.web.pages.report_pages import cursor_in, order_of, part_of
from crawlers.web.panel import again, crawl_of, numbered_crawl, panel_of, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.graphs.crawl_changes import ChangeLists, ComparedSite, PageChange
    from crawlers.reports.catalogue.report import Cells
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl

PAGES, LINKS = "pages", "links"
LISTED_SITES = 200  # for a graph of the changes; the command writes those of all
_SEEN = (Column("first_seen", "First seen", Kind.TIME), Column("last_seen", "Last seen", Kind.TIME))
COLUMNS = {
    PAGES: (
        Column("change", "Change", Kind.STATE),
        Column("url", "URL", Kind.URL),
        Column("what", "What changed"),
        Column("status_before", "Status before", Kind.NUMBER),
        Column("status_after", "Status", Kind.NUMBER),
        Column("title_before", "Title before"),
        Column("title_after", "Title"),
        Column("level_before", "Level before", Kind.NUMBER),
        Column("level_after", "Level", Kind.NUMBER),
        *_SEEN,
    ),
    LINKS: (
        Column("change", "Change", Kind.STATE),
        Column("url", "Page", Kind.URL),
        Column("target", "Leads to", Kind.URL),
        Column("kind", "Kind", Kind.STATE),
        Column("links_before", "Links before", Kind.NUMBER),
        Column("links_after", "Links", Kind.NUMBER),
        *_SEEN,
    ),
}

MOST_CRAWLS = 50  # the latest ones
SAMPLED_SITES = 1_000  # of a crawl of more sites, to see whether another one has them too


def related_crawls(database: Database, crawl_id: int) -> Sequence[Any]:
    """Return the latest other crawls: those with most sites in common first, then the latest. Raises `StoreError`.

    Each row has `id`, `name`, `started_at`, and `shared_sites`: how many of the first `SAMPLED_SITES` it has, too.
    """
    sample = (
        select(site.c.site).where(site.c.crawl_id == crawl_id).order_by(site.c.site).limit(SAMPLED_SITES).subquery()
    )
    latest = (
        select(crawl_table)
        .where(crawl_table.c.id != crawl_id)
        .order_by(crawl_table.c.id.desc())
        .limit(MOST_CRAWLS)
        .subquery()
    )
    shared = (
        select(site.c.crawl_id, func.count().label("sites"))
        .join(sample, sample.c.site == site.c.site)
        .where(site.c.crawl_id.in_(select(latest.c.id)))
        .group_by(site.c.crawl_id)
        .subquery()
    )
    number = func.coalesce(shared.c.sites, 0).label("shared_sites")
    related = select(latest.c.id, latest.c.name, latest.c.started_at, number)
    related = related.outerjoin(shared, shared.c.crawl_id == latest.c.id)
    return database.rows(related.order_by(number.desc(), latest.c.id.desc()))


class CrawlPair(NamedTuple):
    """Two crawls, the earlier one first, and their sites."""

    before: NamedCrawl
    after: NamedCrawl
    sites: list[ComparedSite]


class RowChoice(NamedTuple):
    """Which rows a reader wants to see."""

    rows: str = PAGES  # or LINKS
    change: str = ""  # one of CHANGES but UNCHANGED; "": any
    text: str = ""  # part of a URL or a title, whatever the case of its letters
    kind: str = ""  # of links: internal or external; "": both
    sort: str = ""


def compare(request: Request) -> Response:
    """Show what changed between a crawl and another one."""
    crawl, panel = crawl_of(request), panel_of(request)
    others: Sequence[Any] = [] if crawl.is_foreign else related_crawls(panel.database, crawl.id)
    chosen = _chosen(request, crawl, others)
    if chosen is None:
        return render(request, "compare.html", crawl=crawl, others=others, chosen=None, compared=None)
    compared, shown = _compared(panel.database, crawl, chosen), _shown(request)
    key = _key(compared)
    if (response := again(request, key)) is not None:
        return response
    patience = panel.results.patience()
    outcome = panel.results.get(key, partial(change_lists, panel.database, compared.sites), patience.left_s)
    given = {"with": str(chosen.id), **{name: value for name, value in shown._asdict().items() if value}}
    rows = _rows(outcome.value, shown) if outcome.value is not None else ()
    after, columns = cursor_in(request, (int,)), COLUMNS[shown.rows]
    part = part_of(rows, after)
    return render(
        request,
        "compare.html",
        crawl=crawl,
        others=others,
        chosen=chosen,
        compared=compared,
        overviews=[
            with_counts(panel, crawl_overview(panel.database, one.id), patience)
            for one in (compared.before, compared.after)
        ],
        settings=differing_settings(
            *(manifest_of(panel.database, one.id) for one in (compared.before, compared.after))
        ),
        shown=shown,
        outcome=outcome,
        changes=[change for change in CHANGES if change != UNCHANGED],
        columns=columns,
        rows=[row.cells for row in part.rows],
        count=len(rows),
        is_first=after is None,
        following=urlencode({**given, "after": cursor_text(part.cursor)}) if part.cursor is not None else "",
        query=urlencode(given),
        given=given,
        orders=[order_of(column.name, given) for column in columns],
        formats=list(FORMATS),
        most=MOST_ROWS,
        graph_sites=[one.site for one in compared.sites[:LISTED_SITES]],
    )


def changes_file(request: Request) -> Response:
    """Send all changed pages or links that the filters let through."""
    compared, shown = _of(request), _shown(request)
    name, listed = request.path_params["format"], request.path_params["rows"]
    if listed not in COLUMNS:
        raise HTTPException(404, f"There is no such file; there are those of {PAGES} and {LINKS}.")
    shown = shown._replace(rows=listed)
    database = panel_of(request).database
    all_rows: Iterable[PageChange | LinkChange] = (
        all_pages(database, compared.sites) if listed == PAGES else all_links(database, compared.sites)
    )
    rows = (row for row in all_rows if row.change != UNCHANGED and _is_shown(row, shown))
    parts = table_parts(COLUMNS[listed], rows, name)
    file = f"changed-{listed}-{compared.before.id}-{compared.after.id}.{name}"
    return written_file(lambda out: out.writelines(parts), TABLE_TYPES[name], file)


def changes_graph(request: Request) -> Response:
    """Send the graph of one site as GEXF, with what became of each page and link."""
    compared = _of(request)
    name = request.query_params.get("site", "")
    site = next((one for one in compared.sites if one.site == name), None)
    if site is None:
        raise HTTPException(404, f"{name!r} is a site of neither crawl.")
    about = f"{site.site}: {compared.before}, {compared.after}"
    graph = ComparedGraph(panel_of(request).database, site.site, about, site.before, site.after)
    name = f"changes-{compared.before.id}-{compared.after.id}.gexf"
    return graph_file(lambda out, edges: write_compared(graph, out, edges), "gexf", name)


def _chosen(request: Request, crawl: NamedCrawl, others: Sequence[Any]) -> Any:
    """Return the crawl that the address names; else the latest one before *crawl* that has the same sites; or None."""
    text = request.query_params.get("with", "")
    if text:
        found = next((one for one in others if str(one.id) == text), None)
        if found is None:
            raise HTTPException(404, f"There is no crawl {text[:20]} to compare with; choose one of the list.")
        return found
    sharing = [one for one in others if one.shared_sites]
    earlier = [one for one in sharing if one.id < crawl.id]
    most = max((one.shared_sites for one in earlier or sharing), default=0)
    return next((one for one in earlier or sharing if one.shared_sites == most), None)


def _compared(database: Database, crawl: NamedCrawl, chosen: Any) -> CrawlPair:
    before, after = sorted((crawl, numbered_crawl(database, chosen.id)), key=lambda one: one.id)
    if before.is_foreign or after.is_foreign:
        raise ConfigError(
            "a crawl of a plain Scrapy spider can't be compared: its links are not stored; choose another"
        )
    if not chosen.shared_sites:
        raise ConfigError(f"the {before} and the {after} have no site in common; choose another crawl")
    return CrawlPair(before, after, compared_sites(sites_of(database, before.id), sites_of(database, after.id)))


def _of(request: Request) -> CrawlPair:
    """Return the crawls that a file is about."""
    crawl, database = crawl_of(request), panel_of(request).database
    chosen = _chosen(request, crawl, related_crawls(database, crawl.id))
    if chosen is None:
        raise HTTPException(404, "There is no crawl to compare with.")
    return _compared(database, crawl, chosen)


def _key(compared: CrawlPair) -> tuple[str, int, str, int, str]:
    """Return what a cached comparison depends on: when a crawl ends or goes on, it is computed again."""
    before, after = compared.before, compared.after
    return ("comparison", before.id, before.state, after.id, after.state)


def _shown(request: Request) -> RowChoice:
    given = {name: request.query_params.get(name, "").strip() for name in RowChoice._fields}
    known = {"rows": (PAGES, LINKS), "change": (APPEARED, VANISHED, CHANGED), "kind": ("internal", "external")}
    for name, words in known.items():
        if given[name] and given[name] not in words:
            raise ConfigError(f"{name}={given[name]!r} must be one of: {', '.join(words)}")
    parsed_filters({"text": given["text"]}, ("text",))  # which checks it
    return RowChoice(**{**given, "rows": given["rows"] or PAGES})


def _rows(lists: ChangeLists, shown: RowChoice) -> Sequence[Cells]:
    """Return the rows that *shown* lets through, in its order."""
    found: Sequence[PageChange | LinkChange] = lists.pages if shown.rows == PAGES else lists.links
    if shown.change or shown.text or shown.kind:
        found = [row for row in found if _is_shown(row, shown)]
    return sorted_by(found, COLUMNS[shown.rows], shown.sort)


def _is_shown(row: PageChange | LinkChange, shown: RowChoice) -> bool:
    if shown.change and row.change != shown.change:
        return False
    texts: tuple[str, ...]
    if isinstance(row, LinkChange):
        if shown.kind not in ("", row.kind):
            return False
        texts = (row.url, row.target)
    else:
        texts = (row.url, row.title_before or "", row.title_after or "")
    return any(shown.text.lower() in text.lower() for text in texts)


ROUTES = [
    Route("/crawls/{crawl:int}/compare", compare),
    sends_file("/crawls/{crawl:int}/compare/changes.gexf", changes_graph),
    sends_file("/crawls/{crawl:int}/compare/{rows}.{format}", changes_file),
]

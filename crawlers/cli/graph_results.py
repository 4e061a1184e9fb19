"""What `scrapy graph` writes: graphs of sites, tables, pictures, the model of a web fragment, and what changed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scrapy.exceptions import UsageError

from crawlers.cli.store_command import read_crawl
from crawlers.errors import ConfigError
from crawlers.files.atomic import check_file, check_parquet, replacing
from crawlers.files.text_file import shortened_list
from crawlers.graphs.analysis import StoredPageRank, analyse
from crawlers.graphs.crawl_changes import CHANGES, COMPARISON_FORMATS, compared_sites, write_comparisons
from crawlers.graphs.crawl_map import graph_map
from crawlers.graphs.dataset import DATASET, write_dataset
from crawlers.graphs.export import PARQUET, ResultFiles, graph_paths, no_graph_of, write_laid_out
from crawlers.graphs.looks import COMMUNITY, GraphLayout, graph_layout
from crawlers.graphs.model import SEEN, ExtendedGraph
from crawlers.graphs.site_graph import SiteGraph
from crawlers.graphs.web_fragment import WebFragment, class_sizes, count_fragment, write_accompanying, write_pairs
from crawlers.mission import mission_named
from crawlers.options.kinds import HTML, PICTURE
from crawlers.plurals import counted, plural
from crawlers.ranking.page_orders import OF_IMPORTANCE
from crawlers.reports.catalogue.score_reports import PAGERANK, TOP, best_pages, write_ranked
from crawlers.reports.figures import draw_map
from crawlers.reports.site_results import write_site_results
from crawlers.sites.seed_list import matching_seeds
from crawlers.store.reading.crawl_results import has_pages, latest_with_pages
from crawlers.store.reading.crawl_settings import free_folder, recorded_folder
from crawlers.store.reading.importance import totals_of, weights_of_crawl
from crawlers.store.reading.queries import crawl_named, sites_of
from crawlers.store.sites.seeds import Seed, list_seeds
from crawlers.urls.domains import GROUPS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from scrapy.settings import BaseSettings

    from crawlers.graphs.crawl_map import GraphMap
    from crawlers.graphs.model import Graph
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import CrawledSite, NamedCrawl

    PageOf = Callable[[GraphMap], str]
    from collections import Counter

    from crawlers.graphs.crawl_changes import Change

# With a single underscore, which file names of hosts contain only before the port: see `atomic.file_stem`.
FRAGMENT = "web_fragment"
NO_NUMBER = -1  # of a site that is not a seed any more


NOT_COMPARED = (
    "crawl",
    "level",
    "group",
    "targets_only",
    "top",
    "pagerank",
    "table",
    "measure",
    "layout",
    "picture",
    "html",
)


def check_options(opts: argparse.Namespace) -> None:
    """Raise `UsageError` for options that have no meaning together."""
    if opts.top and (opts.picture or opts.html):
        option = "--picture" if opts.picture else "--html"
        raise UsageError(f"--top writes a table; leave out {option}", print_help=False)
    if opts.top and opts.level == "site":
        raise UsageError("--top lists pages; leave out --level site", print_help=False)
    if opts.pagerank and not opts.top:
        raise UsageError("--pagerank needs --top; write --top PAGES as well", print_help=False)
    if opts.level != "site" and (opts.group or opts.targets_only):
        option = "--group" if opts.group else "--targets-only"
        raise UsageError(f"{option} needs --level site; write --level site as well", print_help=False)
    if opts.level == "site" and (times := [name for name in opts.measure or () if name in SEEN]):
        raise UsageError(f"--measure {times[0]} is of pages; leave out --level site", print_help=False)
    if opts.format and PARQUET in opts.format and (opts.level == "site" or opts.measure):
        option = "--level site" if opts.level == "site" else "--measure"
        raise UsageError(f"--format {PARQUET} contains pages and links; leave out {option}", print_help=False)
    if opts.diff and (unfit := [name for name in NOT_COMPARED if vars(opts)[name] not in (None, False, "page")]):
        option = unfit[0].replace("_", "-")
        raise UsageError(f"--diff compares pages and links; leave out --{option}", print_help=False)
    if opts.diff and (strange := set(opts.format or ()) - set(COMPARISON_FORMATS)):
        raise UsageError(f"--diff writes csv and gexf; leave out --format {min(strange)}", print_help=False)


class _Target(NamedTuple):
    """Where and how the graphs of a crawl are written."""

    database: Database
    crawl: NamedCrawl
    folder: Path
    files: ResultFiles


def write_results(
    database: Database, wanted: Sequence[str], opts: argparse.Namespace, settings: BaseSettings, page_of: PageOf
) -> None:
    """Write the graphs and tables, the model of the web fragment, or the most important pages of a crawl.

    *page_of* returns the page with a graph for a browser.
    """

    def names(setting: str) -> list[str]:
        return [name for name in settings.getlist(setting) if name]

    by_default = graph_layout(names("GRAPH_LAYOUT"))
    layout = graph_layout(opts.layout) if opts.layout else by_default
    crawl = read_crawl(database, opts.crawl, settings)
    check_has_links(crawl)
    if opts.picture or opts.html:
        _draw(database, crawl, wanted, (opts.layout and layout) or GraphLayout(COMMUNITY), opts, page_of)
        return
    folder = Path(opts.folder) if opts.folder else _result_folder(database, crawl, settings)
    formats = opts.format or names("GRAPH_FORMATS") or ["gexf"]
    of_graphs = [name for name in formats if name != PARQUET]
    usual = [name for name in names("RESULT_TABLES") if name in mission_named(crawl.mission).tables]
    tables = opts.table or ([] if opts.format else usual)
    files = ResultFiles(of_graphs, opts.measure or names("GRAPH_MEASURES"), layout, tables)
    target = _Target(database, crawl, folder, files)
    if opts.level == "site":
        _write_fragment(target, opts)
        return
    sites = sites_of(database, crawl.id)
    named = chosen_sites(database, sites, wanted, crawl.name)
    if opts.top:
        share = settings.getfloat("AOPIC_VIRTUAL_SHARE") if opts.pagerank else None
        _write_top(target, opts.top, [site.id for site in named] if wanted else [], share)
        return
    if PARQUET in formats:
        check_parquet(f"--format {PARQUET}" if opts.format else "GRAPH_FORMATS")
        dataset = write_dataset(database, [site.id for site in named], folder / DATASET)
        print(f"{folder / DATASET}: {dataset}")
    _write_sites(target, named, is_named=bool(wanted))


def _result_folder(database: Database, crawl: NamedCrawl, settings: BaseSettings) -> Path:
    wanted, is_own = Path(settings.get("RESULT_FOLDER")), settings.getbool("RESULT_FOLDER_PER_CRAWL")
    with database.read() as connection:
        own = free_folder(connection, crawl.id, wanted, is_own=True)
        has_own = is_own or recorded_folder(connection, crawl.id) == own.absolute()
        return own if has_own else free_folder(connection, crawl.id, wanted)


def _write_sites(target: _Target, chosen: Sequence[CrawledSite], *, is_named: bool) -> None:
    database, crawl, folder, files = target
    unread = {site.site: None for site in chosen} if files.formats else {}
    for written in write_site_results(database, crawl, chosen, folder, files, _warn):
        unread.pop(written.site, None)
        print(f"{written.paths[0]}: {written.contents}")
    if unread and (is_named or len(unread) == len(chosen)):
        raise _without_pages(database, crawl.id, list(unread))
    if unread:
        print(no_graph_of(list(unread)), file=sys.stderr)


def _without_pages(database: Database, crawl_id: int, sites: Sequence[str]) -> ConfigError:
    """Return the error that *sites* have no graph; it names an earlier crawl if this one has read nothing."""
    with database.read() as connection:
        earlier = None if has_pages(connection, crawl_id) else latest_with_pages(connection, crawl_id)
    remedy = "" if earlier is None else f"; crawl {earlier} has read pages: add --crawl {earlier}"
    return ConfigError(no_graph_of(sites) + remedy)


def _warn(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def _draw(
    database: Database,
    crawl: NamedCrawl,
    wanted: Sequence[str],
    layout: GraphLayout,
    opts: argparse.Namespace,
    page_of: PageOf,
) -> None:
    """Write the picture, and the page for a browser, of one site or of the graph of sites."""
    for option, path, kind in (("--picture", opts.picture, PICTURE), ("--html", opts.html, HTML)):
        if path:
            check_file(Path(path), option, kind)
    graph: Graph
    if opts.level == "site":
        counts = count_fragment(database, crawl.id, GROUPS[opts.group or "host"])
        graph = WebFragment(counts, crawl.name, targets_only=opts.targets_only)
    else:
        named = chosen_sites(database, sites_of(database, crawl.id), wanted, crawl.name)
        if not named:
            raise ConfigError(
                f"the crawl {crawl.name} (number {crawl.id}) has no site in the store; choose another one"
            )
        if len(named) != 1:
            option = "--picture" if opts.picture else "--html"
            names = ", ".join(shortened_list([site.site for site in named]))
            raise ConfigError(
                f"{option} draws the graph of one site, but the crawl has {len(named)}: name one of {names}; or draw "
                "the graph of sites with --level site"
            )
        graph = SiteGraph(database, named[0].id, named[0].site)
        if not graph.ids:
            raise _without_pages(database, crawl.id, [named[0].site])
    drawn = graph_map(graph, layout)
    if opts.picture:
        draw_map(Path(opts.picture), drawn)
    if opts.html:
        with replacing(Path(opts.html)) as stream:
            stream.write(page_of(drawn).encode())
    nodes, edges = counted(len(drawn.nodes), "site" if drawn.is_of_sites else "page"), counted(len(drawn.edges), "edge")
    for path in filter(None, (opts.picture, opts.html)):
        print(f"{path}: {nodes}, {edges}")
    if drawn.subset:
        print(drawn.subset, file=sys.stderr)


def _write_top(target: _Target, number: int, sites: Sequence[int], share: float | None) -> None:
    """Write the most important pages, by PageRank with that virtual *share*, or else as the crawl measured them."""
    database, crawl, path = target.database, target.crawl, target.folder / "top.csv"
    ranks = None if share is None else StoredPageRank(database, crawl.id, 1.0 - share)
    if ranks is not None and not ranks:
        raise ConfigError(f"the crawl {crawl.name} (number {crawl.id}) has not read a page yet; try again later")
    with database.read() as connection:
        totals = totals_of(connection, crawl.id)
        if ranks is not None:
            pages = best_pages(connection, totals, ranks.best(connection, number, sites), number)
            written = write_ranked(path, (PAGERANK, *TOP), pages)
            about = f"{counted(written, 'page')} of the highest PageRank"
        elif totals is not None:
            weights = weights_of_crawl(connection, crawl.id, totals, sites)
            pages = best_pages(connection, totals, weights, number)
            written = write_ranked(path, TOP, (page[1:] for page in pages))
            about = f"{written:,} most important {plural(written, 'page')}"
        else:
            raise ConfigError(
                f"the crawl {crawl.name} (number {crawl.id}) has not measured the importance of pages; crawls with "
                f"ORDER={', '.join(OF_IMPORTANCE[:-1])} or {OF_IMPORTANCE[-1]} do; --pagerank ranks the pages of any "
                "crawl"
            )
    bound = "" if ranks is None else f" (bound on the total error: {ranks.error_bound:.1e})"
    print(f"{path}: the {about}{bound}")


def _write_fragment(target: _Target, opts: argparse.Namespace) -> None:
    counts = count_fragment(target.database, target.crawl.id, GROUPS[opts.group or "host"])
    graph: Graph = WebFragment(counts, target.crawl.name, targets_only=opts.targets_only)
    if measures := [name for name in target.files.measures if name not in SEEN]:  # which are of pages
        graph = ExtendedGraph(graph, analyse(graph, measures))
    base = target.folder / FRAGMENT
    formats = target.files.formats or ["gexf"]
    for name in formats:
        size = write_laid_out(graph, base, name, target.files.layout, _warn)
        print(f"{graph_paths(base, name)[0]}: {counted(size.nodes, 'site')}, {counted(size.edges, 'edge')}")
    if opts.targets_only:
        return
    if "csv" in formats:
        write_pairs(counts, base.with_name(f"{FRAGMENT}.pairs.csv"))
        print(f"{base}.pairs.csv: the same edges by name, with numbers of URLs and links")
    accompanying = target.folder / "accompanying.csv"
    write_accompanying(counts, accompanying)
    print(f"{accompanying}: {counted(len(counts.accompanying), 'accompanying site')}")
    for class_ in class_sizes(counts):
        sizes = ((class_.sites, "site"), (class_.urls, "URL"), (class_.links, "link"))
        numbers = ", ".join(counted(number, noun) for number, noun in sizes)
        print(f"  linked to by {class_.name} of the {len(counts.targets)} target sites: {numbers}")


def check_has_links(crawl: NamedCrawl) -> None:
    """Raise `ConfigError` if the links of *crawl* are not in the store."""
    if crawl.is_foreign:
        raise ConfigError(
            f"the crawl {crawl.name} (number {crawl.id}) is of a plain Scrapy spider, whose links are not stored, "
            "so it has no graph; name another with --crawl"
        )


def compare_crawls(
    database: Database, names: Sequence[str], wanted: Sequence[str], folder: Path, formats: Sequence[str]
) -> None:
    """Write what changed from the first of two crawls to the second on all sites, or on those that *wanted* names."""
    before, after = (crawl_named(database, name) for name in names)
    for crawl in (before, after):
        check_has_links(crawl)
    if before.id == after.id:
        raise ConfigError(f"both are the {after}; give the numbers of two crawls, which crawls print at their end")
    print(f"Comparing the {before} with the {after}", file=sys.stderr)
    firsts, seconds = (sites_of(database, crawl.id) for crawl in (before, after))
    by_name = {site.site: site for site in (*firsts, *seconds)}
    meant = {site.site for site in chosen_sites(database, list(by_name.values()), wanted, after.name)}
    sites = [site for site in compared_sites(firsts, seconds) if site.site in meant]
    about = f"crawls {before.name} (number {before.id}) and {after.name} (number {after.id})"
    for found in write_comparisons(database, sites, list(by_name), folder, formats, about):
        print(f"{found.site}: {', '.join(str(path) for path in found.paths)}")
        if "csv" in formats:
            print(f"  pages: {_numbers(found.pages)}")
            print(f"  links: {_numbers(found.links)}")


def _numbers(counts: Counter[Change]) -> str:
    return ", ".join(f"{counts[change]:,} {change}" for change in CHANGES)


def chosen_sites(
    database: Database, sites: Sequence[CrawledSite], wanted: Sequence[str], crawl: str
) -> Sequence[CrawledSite]:
    """Return those of *sites* that *wanted* names, as `scrapy sites` does; all if it is empty. Raises `ConfigError`."""
    if not wanted:
        return sites
    by_name = {site.site: site for site in sites}
    seeds = {seed.site: seed for seed in list_seeds(database)}
    known = [seeds.get(name) or Seed(NO_NUMBER, name, f"{name}/") for name in by_name]  # a seed may have been removed
    found = {name: [seed.site for seed in matching_seeds(known, name)] for name in wanted}
    unknown = [name for name, matches in found.items() if not matches]
    if unknown:
        raise ConfigError(
            f"{', '.join(unknown)}: not a site of the crawl {crawl}; its sites are {', '.join(sorted(by_name)[:20])}"
        )
    for name, matches in found.items():
        if len(matches) > 1:
            raise ConfigError(f"{name} matches several sites of the crawl {crawl}: {', '.join(matches)}; name one")
    return [by_name[name] for name in dict.fromkeys(matches[0] for matches in found.values())]

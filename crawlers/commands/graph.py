"""`scrapy graph`: writes graphs from the store, at any time, even while a crawl runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.cli.store_command import StoreCommand, opened_store

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawlers.graphs.crawl_map import GraphMap

MAX_DIGITS = 12  # of a number of pages


class Command(StoreCommand):
    def syntax(self) -> str:
        return "[options] [site ...]"

    def short_desc(self) -> str:
        return "Write the graphs of crawled sites from the store"

    def long_desc(self) -> str:
        from crawlers.graphs.dataset import DATASET

        return (
            "Writes one graph per site (all sites, or the named ones: example.org) to RESULT_FOLDER, and its tables of "
            "pages, broken links, redirects and external links. With --format parquet it writes the pages and links of "
            f"all sites as one dataset, {DATASET}. With "
            "--level site it writes the model of the web fragment: one graph of the sites and of those that they link "
            "to, and a table of the latter. With --top it writes a table of the most important pages: as the "
            "crawl measured them, or with --pagerank by the stored links of any crawl. With --picture "
            "and --html it draws one graph, as far as a person can look at it. With --diff it writes what changed "
            "between two crawls. The store is DATABASE_URL."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        from crawlers.graphs.export import ALL_FORMATS, ALL_MEASURES
        from crawlers.graphs.looks import LAYOUTS
        from crawlers.reports.site_results import TABLES
        from crawlers.urls.domains import GROUPS

        super().add_options(parser)
        parser.add_argument("--crawl", help="name or number of the crawl (default: the latest)")
        parser.add_argument("--level", choices=("page", "site"), default="page", help="what nodes are (default: page)")
        parser.add_argument(
            "--group",
            choices=tuple(GROUPS),
            help="--level site: what counts as one site (default: host)",
        )
        parser.add_argument("--targets-only", action="store_true", help="--level site: only the sites of the crawl")
        parser.add_argument(
            "--top", type=_number, metavar="PAGES", help="write only a table of that many most important pages"
        )
        parser.add_argument("--pagerank", action="store_true", help="--top: by PageRank of the links in the store")
        parser.add_argument(
            "--format", action="append", choices=ALL_FORMATS, help="may be repeated (default: GRAPH_FORMATS)"
        )
        parser.add_argument(
            "--table",
            action="append",
            choices=tuple(TABLES),
            help="of URLs or links; may be repeated (default: RESULT_TABLES)",
        )
        parser.add_argument(
            "--measure",
            action="append",
            choices=ALL_MEASURES,
            help="of nodes; may be repeated (default: GRAPH_MEASURES)",
        )
        parser.add_argument(
            "--layout",
            action="append",
            choices=LAYOUTS,
            help="what colours and sizes of nodes mean; may be repeated (default: GRAPH_LAYOUT)",
        )
        parser.add_argument("--picture", metavar="FILE", help="draw the graph of one site: FILE.svg or FILE.png")
        parser.add_argument("--html", metavar="FILE", help="write the graph of one site as a page for a browser")
        parser.add_argument(
            "--diff",
            nargs=2,
            metavar=("EARLIER", "LATER"),
            help="write what appeared, vanished and changed between two crawls, by name or number",
        )
        parser.add_argument("--folder", help="where to write (default: RESULT_FOLDER)")

    def run_checked(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> None:
        from crawlers.cli.graph_results import check_options, compare_crawls, write_results
        from crawlers.graphs.crawl_changes import COMPARISON_FORMATS

        check_options(opts)
        with opened_store(settings) as database:
            if opts.diff:
                folder = Path(opts.folder or settings.get("RESULT_FOLDER"))
                compare_crawls(database, opts.diff, args, folder, opts.format or COMPARISON_FORMATS)
            else:
                write_results(database, args, opts, settings, _page_of)


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > MAX_DIGITS or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of pages; expected 1 or more")
    return int(text)


def _page_of(drawn: GraphMap) -> str:
    # With the panel's libraries, the import takes half a second, which other graphs must not wait for.
    from crawlers.web.downloads import standalone_graph

    return standalone_graph(drawn)

"""`scrapy graph`: writes graphs again from the store, at any time, also while a crawl runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from crawlers.errors import ConfigError, CrawlersError
from crawlers.storage.database import Database
from crawlers.storage.graph_analysis import MEASURES, AnalysedGraph, analyse
from crawlers.storage.graph_export import write_site_graph
from crawlers.storage.graph_files import FORMATS, graph_paths, write_graph
from crawlers.storage.queries import CrawledSite, crawl_named, sites_of
from crawlers.storage.site_level_graph import SiteLevelGraph

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from crawlers.storage.graph_model import Graph


class Command(ScrapyCommand):
    requires_project = True
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's convention

    def syntax(self) -> str:
        return "[options] [site ...]"

    def short_desc(self) -> str:
        return "Write the graphs of crawled sites from the store"

    def long_desc(self) -> str:
        return (
            "Writes one graph a site (all sites, or those named: http://example.org) into RESULT_FOLDER, or with "
            "--level site one graph of the sites themselves. The store is DATABASE_URL (-s DATABASE_URL=...)."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--crawl", help="name or number of the crawl (default: the latest)")
        parser.add_argument("--level", choices=("page", "site"), default="page", help="what the nodes are")
        parser.add_argument("--format", action="append", choices=tuple(FORMATS), help="may be given several times")
        parser.add_argument("--measure", action="append", choices=tuple(MEASURES), help="node attributes to compute")
        parser.add_argument("--folder", help="where to write (default: RESULT_FOLDER)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            database = Database(self.settings.get("DATABASE_URL"), create=False)
            try:
                self._write(database, args, opts)
            finally:
                database.close()
        except CrawlersError as error:
            print(f"Error: {error}", file=sys.stderr)
            self.exitcode = 2

    def _write(self, database: Database, wanted: Sequence[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        folder = Path(opts.folder or self.settings.get("RESULT_FOLDER"))
        formats = opts.format or [name for name in self.settings.getlist("GRAPH_FORMATS") if name] or ["gexf"]
        measures = opts.measure or [name for name in self.settings.getlist("GRAPH_MEASURES") if name]
        crawl = crawl_named(database, opts.crawl or self.settings.get("CRAWL") or None)
        print(f"crawl {crawl.name} (number {crawl.id}, {crawl.state})")
        sites = sites_of(database, crawl.id)
        if opts.level == "site":
            graph: Graph = SiteLevelGraph(database, crawl.id, sites, crawl.name)
            if measures:
                graph = AnalysedGraph(graph, analyse(graph, measures))
            for name in formats:
                size = write_graph(graph, folder / "sites", name)
                print(f"{graph_paths(folder / 'sites', name)[0]}: {size.nodes} sites, {size.edges} edges")
            return
        for site in _chosen(sites, wanted, crawl.name):
            for path, size in write_site_graph(database, site, sites, folder, formats, measures):
                print(f"{path}: {size.nodes} pages, {size.edges} edges")


def _chosen(sites: list[CrawledSite], wanted: Sequence[str], crawl: str) -> list[CrawledSite]:
    if not wanted:
        return sites
    by_name = {site.site: site for site in sites}
    unknown = [name for name in wanted if name.rstrip("/") not in by_name]
    if unknown:
        raise ConfigError(
            f"{', '.join(unknown)}: no site of the crawl {crawl}; its sites are {', '.join(sorted(by_name)[:20])}"
        )
    return [by_name[name.rstrip("/")] for name in wanted]

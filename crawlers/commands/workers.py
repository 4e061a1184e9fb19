"""`scrapy workers`: who works on a crawl, and what people ask of its workers. It needs the store only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlers.cli.store_command import StoreCommand, opened_store, read_crawl
from crawlers.inputs.program import suggested

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings


ACTIONS = ("pause", "resume", "stop")


class Command(StoreCommand):
    def syntax(self) -> str:
        return f"[options] [{' | '.join(ACTIONS)}]"

    def short_desc(self) -> str:
        return "Show the workers of a crawl; pause, resume or stop it"

    def long_desc(self) -> str:
        return (
            "Shows who works on a crawl, from the store (DATABASE_URL): on which sites, how fast, and what the sites "
            "wait for. pause lets all workers wait, resume lets them go on, and stop ends the crawl gracefully, on "
            "all machines. The crawl is the latest one, or that of -s CRAWL=name."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--sites", action="store_true", help="show sites, their workers, and what they wait for")
        parser.add_argument("--all", action="store_true", help="include workers that left or were lost")

    def run_checked(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> None:
        from crawlers.workers.worker_table import ask_workers, site_lines, sites_with_workers, worker_lines, workers_of

        if len(args) > 1 or (args and args[0] not in ACTIONS):
            raise UsageError(f"expected one of: {', '.join(ACTIONS)}")
        if args and (opts.sites or opts.all):
            raise UsageError(f"workers {args[0]} has no options --sites and --all")
        with opened_store(settings) as database:
            crawl = read_crawl(database, None, settings)
            found = workers_of(database, crawl.id, settings.getfloat("WORKER_DEADLINE_SECONDS"))
            if args:
                print(suggested(ask_workers(database, crawl, args[0], found)))
            elif opts.sites:
                now, sites = sites_with_workers(database, crawl.id)
                print("\n".join(site_lines(sites, now, found.dead)))
            else:
                print(suggested("\n".join(worker_lines(crawl, found, with_ended=opts.all))))

"""`scrapy workers`: who works on a crawl, and what people ask of its workers. It needs the store only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlers.cli.project_command import StoreCommand, opened_store, read_crawl
from crawlers.errors import ConfigError
from crawlers.inputs.program import suggested
from crawlers.plurals import counted

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings

    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl
    from crawlers.workers.worker_table import CrawlWorkers

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
        from crawlers.reports.histories.history import sentence
        from crawlers.workers.worker_table import nobody_works, site_lines, sites_with_workers, worker_lines, workers_of

        if len(args) > 1 or (args and args[0] not in ACTIONS):
            raise UsageError(f"expected one of: {', '.join(ACTIONS)}")
        if args and (opts.sites or opts.all):
            raise UsageError(f"workers {args[0]} has no options --sites and --all")
        with opened_store(settings) as database:
            crawl = read_crawl(database, None, settings)
            found = workers_of(database, crawl.id)
            if args:
                print(suggested(_ask(database, crawl, args[0], found, len(_working(found).difference(found.dead)))))
            elif opts.sites:
                now, sites = sites_with_workers(database, crawl.id)
                print("\n".join(site_lines(sites, now, found.dead)))
            elif _working(found) or (opts.all and found.workers):
                print(suggested("\n".join(worker_lines(crawl, found, with_ended=opts.all))))
            else:
                print(suggested(sentence(nobody_works(crawl, found))))


def _working(found: CrawlWorkers) -> set[int]:
    from crawlers.store.worker_rows import ACTIVE

    return {one.number for one in found.workers if one.state == ACTIVE}


def _ask(database: Database, crawl: NamedCrawl, action: str, found: CrawlWorkers, workers: int) -> str:
    """Ask the *workers* of a crawl for an action, and return a sentence about it. Raises `ConfigError`."""
    from crawlers.reports.histories.history import sentence
    from crawlers.store.worker_rows import PAUSE, STOP
    from crawlers.workers.worker_table import nobody_works, set_control

    wanted = {"pause": PAUSE, "stop": STOP}.get(action)
    if not workers:
        if action == "pause":
            raise ConfigError(f"there is nothing to pause. {sentence(nobody_works(crawl, found))}")
        return sentence(nobody_works(crawl, found))
    if not set_control(database, crawl.id, wanted):
        return f"Crawl {crawl.name} is stopping already; the command that began it resumes it"
    number = counted(workers, "worker")
    is_new = found.control != wanted
    return {
        "pause": f"Crawl {crawl.name} is paused{'' if is_new else ' already'}: {number} will request nothing until "
        "scrapy workers resume",
        "resume": f"Crawl {crawl.name} goes on: {number}" if is_new else f"Crawl {crawl.name} is not paused: {number}",
        "stop": f"Crawl {crawl.name} is stopping: {number} will finish the running downloads and leave; the command "
        "that began it resumes it",
    }[action]

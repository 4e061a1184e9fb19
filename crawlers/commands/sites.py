"""`scrapy sites`: the seeds of the store, which harvests crawl when no list of hosts is given."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawlers.algorithms.seed_list import format_seeds, parse_seeds, seed_address, seed_limit, tidy_name
from crawlers.errors import ConfigError, CrawlersError
from crawlers.storage.database import Database
from crawlers.storage.graph_files import replacing
from crawlers.storage.seeds import enable_seeds, last_crawls, list_seeds, remove_seeds, save_seeds

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from crawlers.algorithms.seed_list import Seed, SeedChange
    from crawlers.storage.seeds import LastCrawl

HEADINGS = ("number", "short name", "full name", "start URL", "enabled", "pages", "external URLs", "availability")
NOTHING = "-"
OF_ADD = ("name", "short", "parallel", "max_level", "delay")


class Command(ScrapyCommand):
    requires_project = True
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's convention

    def syntax(self) -> str:
        return "add URL ... | list | remove SITE ... | enable SITE ... | disable SITE ... | import FILE | export [FILE]"

    def short_desc(self) -> str:
        return "Keep the list of sites that harvests crawl"

    def long_desc(self) -> str:
        return (
            "Keeps the seeds in the store (DATABASE_URL): add makes them or changes what is given anew, list shows "
            "them and what their last crawl found, import reads CSV or hosts.txt, export writes CSV. SITE is a "
            "number, a short name, a host or a URL."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--name", help="add: full name")
        parser.add_argument("--short", metavar="NAME", help="add: short name, by which the site can be called")
        parser.add_argument("--parallel", metavar="N", help="add: downloads at a time (default: SITE_PARALLEL)")
        parser.add_argument("--max-level", metavar="N", help="add: deepest level fetched (default: MAX_LEVEL)")
        parser.add_argument("--delay", metavar="MS", help="add: milliseconds between downloads")
        parser.add_argument("--all", action="store_true", help="list: also those that are not enabled")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or args[0] not in ACTIONS:
            raise UsageError(f"say what to do: {', '.join(ACTIONS)}")
        action, *rest = args
        _check(action, rest, opts)
        try:
            ACTIONS[action].do(self, rest, opts)
        except CrawlersError as error:
            print(f"Error: {error}", file=sys.stderr)
            self.exitcode = 2

    def _database(self, *, create: bool = False) -> closing[Database]:
        assert self.settings is not None
        return closing(Database(self.settings.get("DATABASE_URL"), create=create))

    def _add(self, urls: list[str], opts: argparse.Namespace) -> None:
        changes = _changes(urls, opts)
        with self._database(create=True) as database:
            _show_saved(save_seeds(database, changes))

    def _list(self, _: list[str], opts: argparse.Namespace) -> None:
        with self._database() as database:
            seeds = list_seeds(database)
            shown = [seed for seed in seeds if opts.all or seed.enabled]
            crawls = last_crawls(database, [seed.site for seed in shown])
        if shown:
            print(_table([HEADINGS, *(_row(seed, crawls.get(seed.site)) for seed in shown)]))
        if len(shown) < len(seeds):
            print(f"{len(seeds) - len(shown)} more are not enabled; --all shows them")
        elif not seeds:
            print("no seeds yet; add some: scrapy sites add http://example.org")

    def _remove(self, wanted: list[str], _: argparse.Namespace) -> None:
        with self._database() as database:
            for seed in remove_seeds(database, wanted):
                print(f"{seed.number} {seed.start_url} removed; what was crawled of it stays")

    def _enable(self, wanted: list[str], _: argparse.Namespace) -> None:
        with self._database() as database:
            for seed in enable_seeds(database, wanted, enabled=True):
                print(f"{seed.number} {seed.start_url} enabled")

    def _disable(self, wanted: list[str], _: argparse.Namespace) -> None:
        with self._database() as database:
            for seed in enable_seeds(database, wanted, enabled=False):
                print(f"{seed.number} {seed.start_url} disabled")

    def _import(self, files: list[str], _: argparse.Namespace) -> None:
        changes = parse_seeds(_read(files[0]), files[0])
        with self._database(create=True) as database:
            _show_saved(save_seeds(database, changes))

    def _export(self, files: list[str], _: argparse.Namespace) -> None:
        with self._database() as database:
            seeds = list_seeds(database)
        text = format_seeds(seeds)
        if files in ([], ["-"]):
            sys.stdout.write(text.replace("\r\n", "\n"))
            return
        with replacing(Path(files[0])) as stream:
            stream.write(text.encode())
        print(f"{files[0]}: {len(seeds)} seeds")


class Action(NamedTuple):
    """What can be done, and with how many arguments."""

    do: Callable[[Command, list[str], argparse.Namespace], None]
    least: int = 1
    most: int = sys.maxsize


ACTIONS = {
    "add": Action(Command._add),
    "list": Action(Command._list, 0, 0),
    "remove": Action(Command._remove),
    "enable": Action(Command._enable),
    "disable": Action(Command._disable),
    "import": Action(Command._import, 1, 1),
    "export": Action(Command._export, 0, 1),
}


def _check(name: str, rest: Sequence[str], opts: argparse.Namespace) -> None:
    action = ACTIONS[name]
    unknown = [text for text in rest if text.startswith("-") and text != "-"]
    if unknown:
        raise UsageError(f"unknown option {unknown[0]}")
    if not action.least <= len(rest) <= action.most:
        raise UsageError(f"sites {name}: {len(rest)} arguments are too {'few' if len(rest) < action.least else 'many'}")
    foreign = [option for option in OF_ADD if name != "add" and getattr(opts, option) is not None]
    if opts.all and name != "list":
        foreign.append("all")
    if foreign:
        raise UsageError(f"sites {name} has no option --{foreign[0].replace('_', '-')}")


def _changes(urls: Sequence[str], opts: argparse.Namespace) -> list[SeedChange]:
    if len(urls) > 1 and (opts.name is not None or opts.short is not None):
        raise ConfigError(f"one name for {len(urls)} sites; add them one by one, or import a table")
    changes: dict[str, SeedChange] = {}
    for url in urls:
        change = _change(url, opts)
        if change["site"] in changes:
            raise ConfigError(f"{change['site']} is given twice; a site has one start URL")
        changes[change["site"]] = change
    return list(changes.values())


def _change(url: str, opts: argparse.Namespace) -> SeedChange:
    site, start_url = seed_address(url)
    change: SeedChange = {"site": site, "start_url": start_url, "enabled": True}
    if opts.name is not None:
        change["name"] = tidy_name(opts.name)
    if opts.short is not None:
        change["short_name"] = tidy_name(opts.short)
    if opts.parallel is not None:
        change["parallel"] = seed_limit(opts.parallel, "parallel")
    if opts.max_level is not None:
        change["max_level"] = seed_limit(opts.max_level, "max_level")
    if opts.delay is not None:
        change["delay_s"] = seed_limit(opts.delay, "delay_ms") / 1000
    return change


def _read(name: str) -> str:
    try:
        return Path(name).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{name} is no UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from error
    except OSError as error:
        raise ConfigError(f"{name} can't be read: {error.strerror}; check name and permissions") from error


def _show_saved(saved: Sequence[tuple[Seed, bool]]) -> None:
    for seed, is_new in saved:
        print(f"{seed.number} {seed.start_url} {'added' if is_new else 'changed'}")


def _row(seed: Seed, crawl: LastCrawl | None) -> tuple[str, ...]:
    names = str(seed.number), seed.short_name or NOTHING, seed.name or NOTHING, seed.start_url
    enabled = "yes" if seed.enabled else "no"
    if crawl is None:
        return *names, enabled, NOTHING, NOTHING, "not crawled yet"
    known = "available" if crawl.pages else NOTHING
    availability = known if crawl.availability is None else f"Not Available: {crawl.availability}"
    return *names, enabled, str(crawl.pages), str(crawl.external_urls), availability


def _table(rows: Sequence[Sequence[str]]) -> str:
    """The *rows* with their cells below each other; the last ones may be of any length."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)

"""The actions of `scrapy sites` on seeds, and what all actions share: opening the store, finding seeds."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.files.atomic import check_file, replacing
from crawlers.files.text_file import read_text
from crawlers.inputs.program import program
from crawlers.mission import parts_of_all
from crawlers.options.kinds import CSV_TABLE
from crawlers.plurals import counted
from crawlers.reports.catalogue.renderers import text_table
from crawlers.reports.catalogue.report import Column, Kind
from crawlers.reports.catalogue.site_report import SEEDS, seed_lines
from crawlers.sites.seed_list import LIMITS, find_seed, format_seeds, parse_seeds, seed_change, seed_limit
from crawlers.store.database import Database, is_missing
from crawlers.store.sites.seeds import enable_seeds, external_urls_of, list_seeds, remove_seeds, save_seeds
from crawlers.urls.domains import rule_domain

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from scrapy.settings import BaseSettings

    from crawlers.store.sites.seeds import Seed, SeedChange


def opened(settings: BaseSettings, *, create: bool = False) -> closing[Database]:
    """Return the store, for a with statement; raises `ConfigError` if it does not exist and *create* is false."""
    url = settings.get("DATABASE_URL")
    if not create and is_missing(url):
        raise ConfigError(f"DATABASE_URL={url} does not exist; scrapy sites add URL begins it, or name the right file")
    return closing(Database(url, create=create))


def seed_named(database: Database, wanted: str) -> Seed:
    """Return the seed that *wanted* refers to, see `find_seed`. Raises `ConfigError`."""
    return find_seed(list_seeds(database), wanted)


def seeds_named(database: Database, wanted: Iterable[str]) -> list[Seed]:
    """Return the seeds that *wanted* refers to, without duplicates. Raises `ConfigError`."""
    seeds = list_seeds(database)
    return list(dict.fromkeys(find_seed(seeds, one) for one in wanted))


def domain_named(database: Database, wanted: str) -> str:
    """Return the domain *wanted*, or the domain of the seed that *wanted* refers to."""
    seeds = list_seeds(database)
    named = wanted.strip().lower()
    return named if named in {rule_domain(seed.site) for seed in seeds} else rule_domain(find_seed(seeds, wanted).site)


def hidden(number: int, noun: str, *, are_more: bool) -> str:
    """Return the line about a *number* of sites or feeds that a list leaves out; *are_more*: it shows others.

    >>> hidden(1, "site", are_more=True), hidden(2, "feed", are_more=False)
    ('1 more site is not enabled; --all shows it', '2 feeds are not enabled; --all shows them')
    """
    is_one = number == 1
    what = counted(number, f"more {noun}" if are_more else noun)
    return f"{what} {'is' if is_one else 'are'} not enabled; --all shows {'it' if is_one else 'them'}"


COLUMNS = (*SEEDS, Column("external_urls", "External URLs", Kind.COUNT))
SOURCES = (".yaml", ".yml")  # files that are read as sources.yaml
MAX_BYTES = 50_000_000  # of a file: 100,000 sources, each with feeds and rules


def add(settings: BaseSettings, urls: list[str], opts: argparse.Namespace) -> None:
    """Create or update the seeds of *urls*."""
    changes = _changes(urls, opts)
    with opened(settings, create=True) as database:
        _show_saved(save_seeds(database, changes))


def show(settings: BaseSettings, _: list[str], opts: argparse.Namespace) -> None:
    """Print the seeds with the results of their last crawls; or the news sources."""
    if opts.sources:
        for show_sources in parts_of_all("source_results"):
            show_sources(settings)
        return
    with opened(settings) as database:
        seeds = seed_lines(database)
        shown = [one for one in seeds if opts.all or one.enabled]
        with database.read() as connection:
            rows = [
                (*one[: len(SEEDS)], external_urls_of(connection, one.site_id) if one.site_id is not None else None)
                for one in shown
            ]
    if shown:
        print(text_table(COLUMNS, rows))
    if len(shown) < len(seeds):
        print(hidden(len(seeds) - len(shown), "site", are_more=bool(shown)))
    elif not seeds:
        print(f"no seeds yet; add some: {program()} sites add http://example.org")


def remove(settings: BaseSettings, wanted: list[str], _: argparse.Namespace) -> None:
    """Delete seeds and their feeds."""
    with opened(settings) as database:
        seeds = seeds_named(database, wanted)
        remove_seeds(database, [seed.number for seed in seeds])
        for seed in seeds:
            print(f"{seed.number} {seed.start_url} removed; its crawls stay in the store")


def enable(settings: BaseSettings, wanted: list[str], _: argparse.Namespace) -> None:
    """Include seeds in harvests."""
    _switch(settings, wanted, enabled=True)


def disable(settings: BaseSettings, wanted: list[str], _: argparse.Namespace) -> None:
    """Exclude seeds from harvests."""
    _switch(settings, wanted, enabled=False)


def import_file(settings: BaseSettings, files: list[str], _: argparse.Namespace) -> None:
    """Create or update the seeds of a table, a hosts file or a sources file."""
    if Path(files[0]).suffix.lower() in SOURCES:
        for import_sources in parts_of_all("sources"):
            import_sources(settings, files[0])
        return
    changes = parse_seeds(read_text(files[0], MAX_BYTES, "split it into several files"), files[0])
    with opened(settings, create=True) as database:
        _show_saved(save_seeds(database, changes))


def export(settings: BaseSettings, files: list[str], _: argparse.Namespace) -> None:
    """Write the seeds as a table."""
    path = None if files in ([], ["-"]) else Path(files[0])
    if path is not None:
        check_file(path, "FILE", CSV_TABLE)
    with opened(settings) as database:
        seeds = list_seeds(database)
    text = format_seeds(seeds)
    if path is None:
        sys.stdout.write(text.replace("\r\n", "\n"))
        return
    with replacing(path) as stream:
        stream.write(text.encode())
    print(f"{path}: {counted(len(seeds), 'seed')}")


def _switch(settings: BaseSettings, wanted: list[str], *, enabled: bool) -> None:
    with opened(settings) as database:
        seeds = seeds_named(database, wanted)
        enable_seeds(database, [seed.number for seed in seeds], enabled=enabled)
        for seed in seeds:
            print(f"{seed.number} {seed.start_url} {'enabled' if enabled else 'disabled'}")


def _changes(urls: Sequence[str], opts: argparse.Namespace) -> list[SeedChange]:
    if len(urls) > 1 and (opts.name is not None or opts.short is not None):
        raise ConfigError(f"--name and --short need one site, got {len(urls)}; add them one by one, or import a table")
    changes: dict[str, SeedChange] = {}
    for url in urls:
        change = _change(url, opts)
        if change["site"] in changes:
            raise ConfigError(f"{change['site']} is given twice; a site has one start URL")
        changes[change["site"]] = change
    return list(changes.values())


def _change(url: str, opts: argparse.Namespace) -> SeedChange:
    options = {
        "full_name": opts.name,
        "short_name": opts.short,
        "parallel": opts.parallel,
        "max_level": opts.max_level,
        "delay_ms": opts.delay,
    }
    if empty := [name for name in LIMITS if options[name] == ""]:
        seed_limit("", empty[0])
    return {**seed_change(url, {name: text for name, text in options.items() if text is not None}), "enabled": True}


def _show_saved(saved: Sequence[tuple[Seed, Seed | None]]) -> None:
    for seed, before in saved:
        print(f"{seed.number} {seed.start_url} {change_of(before, seed)}")


def change_of(before: object, after: object) -> str:
    """Return what became of a seed or source: added if there was none *before*, changed, or unchanged."""
    return "added" if before is None else "changed" if before != after else "unchanged"

"""Functions that all actions of `scrapy sites` share: opening the store, finding seeds."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.plurals import counted
from crawlers.sites.seed_list import find_seed
from crawlers.store.database import Database, is_missing
from crawlers.store.sites.seeds import list_seeds
from crawlers.urls.domains import rule_domain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.settings import BaseSettings

    from crawlers.items import Seed


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

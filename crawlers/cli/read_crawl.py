"""Chooses the crawl that a command reads, and says which one it is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from crawlers.inputs.crawl_name import named_by

if TYPE_CHECKING:
    from crawlers.inputs.setting_values import SettingValues
    from crawlers.storage.database import Database
    from crawlers.storage.queries import NamedCrawl


def read_crawl(database: Database, option: str | None, settings: SettingValues) -> NamedCrawl:
    """Return the crawl that *option* or the setting CRAWL names, and name it on standard error; see `crawl_named`.

    Standard output is left to the results, so that they can be piped. Raises `ConfigError`.
    """
    from crawlers.storage.queries import crawl_named

    crawl = crawl_named(database, named_by(option, settings))
    print(f"Reading the {crawl}", file=sys.stderr)
    return crawl

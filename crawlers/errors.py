"""Our exceptions.

    CrawlersError
    ├── ConfigError         our side: what the user gave us can't be used
    │   └── StoreVersionError   a database that another version of this program wrote
    ├── FrontierError       our side: the frontier was used against its contract
    ├── StoreError          our side: the store failed while the crawl ran (disk full, connection lost)
    └── BadUrl              the web's side: text that no URL can be made of; its message is the reason that is stored

A message names the file, line or setting, carries the value, and says what to do.
"""

from __future__ import annotations


class CrawlersError(Exception):
    """Anything that this project raises on purpose."""


class ConfigError(CrawlersError):
    """What the user gave us (a file, a setting, a database) can't be used."""


class StoreVersionError(ConfigError):
    """The database was written by another version of this program."""


class FrontierError(CrawlersError):
    """The frontier was used against its contract: a lease ended twice, a site that was never opened."""


class StoreError(CrawlersError):
    """The store failed while the crawl ran; committed data is safe."""


class BadUrl(CrawlersError):
    """The text can't be made into a URL."""

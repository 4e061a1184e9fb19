"""Names the component of a user that Scrapy can't import or build; Scrapy itself shows a traceback."""

from __future__ import annotations

from traceback import walk_tb
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

SETTINGS = ("ADDONS", "DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES", "SPIDER_MIDDLEWARES")
_VARIABLES = ("clspath", "key")  # of Scrapy: in its loops over components, and where it compares their paths


def faulty_component(error: BaseException, settings: BaseSettings) -> ConfigError | None:
    """Return what to say about the component of *settings* that was loaded as *error* was raised; None if none was."""
    setting_of = {path: name for name in SETTINGS for path in settings.getdict(name)}
    for frame, _ in walk_tb(error.__traceback__):
        if not frame.f_globals["__name__"].startswith("scrapy."):
            continue
        for path in map(frame.f_locals.get, _VARIABLES):
            if isinstance(path, str) and path in setting_of and not path.startswith(("crawlers.", "scrapy.")):
                what = f"{type(error).__name__} {error}".strip()
                return ConfigError(f"{setting_of[path]} names {path}, which fails: {what}; correct it")
    return None

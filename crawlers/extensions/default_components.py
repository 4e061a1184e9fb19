"""Keeps this project's parts where a user, or a spider's `custom_settings`, names parts of their own.

Scrapy replaces such a setting whole: without this, `-s ITEM_PIPELINES={"mine.Pages": 100}` would push the
store's pipeline out, and the crawl would store nothing, silently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.misc import load_object

from crawlers import settings as defaults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

_OURS: Mapping[str, Mapping[str, int | None]] = {
    "DOWNLOADER_MIDDLEWARES": defaults.DOWNLOADER_MIDDLEWARES,
    "EXTENSIONS": defaults.EXTENSIONS,
    "ITEM_PIPELINES": defaults.ITEM_PIPELINES,
    "SPIDER_MIDDLEWARES": defaults.SPIDER_MIDDLEWARES,
}


class DefaultComponents:
    """An add-on: adds what is missing, and leaves what is named, with another number or with None."""

    def update_settings(self, settings: BaseSettings) -> None:
        for name, parts in _OURS.items():
            for path, place in parts.items():
                settings.setdefault_in_component_priority_dict(name, load_object(path), place)

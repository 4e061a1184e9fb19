"""Keeps this project's components when a user, or a spider's `custom_settings`, adds further ones.

Scrapy replaces such a setting as a whole: without this add-on, `-s ITEM_PIPELINES={"mine.Pages": 100}` would remove
the store's pipeline, and the crawl would silently store nothing.
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
    """An add-on that adds missing components, and keeps named ones, whether with another number or None."""

    def update_settings(self, settings: BaseSettings) -> None:
        for name, parts in _OURS.items():
            for path, place in parts.items():
                settings.setdefault_in_component_priority_dict(name, load_object(path), place)

"""The name of a crawl: the setting CRAWL, an option of a command, or the name of a spider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.inputs.setting_readers import SettingValues


class Named(Protocol):
    """A spider."""

    @property
    def name(self) -> str: ...


def crawl_name(settings: SettingValues | Mapping[str, Any], spider: Named | None) -> str:
    """Return the name of *spider*'s crawl; Scrapy creates the spider before extensions and pipelines.

    >>> from collections import namedtuple
    >>> spider = namedtuple("Spider", "name")("news")
    >>> crawl_name({"CRAWL": ""}, spider), crawl_name({"CRAWL": "press"}, spider)
    ('news', 'press')
    """
    assert spider is not None
    return settings.get("CRAWL") or spider.name


def named_by(option: str | None, settings: SettingValues | Mapping[str, Any]) -> str | None:
    """Return the name of the crawl that a command reads; None = the latest one.

    >>> named_by("press", {"CRAWL": "news"}), named_by(None, {"CRAWL": "news"}), named_by(None, {"CRAWL": ""})
    ('press', 'news', None)
    """
    return option or settings.get("CRAWL") or None

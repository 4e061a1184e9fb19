"""The name of a crawl: the setting CRAWL, an option of a command, or the name of a spider."""

from __future__ import annotations

from typing import Any, Protocol


class Settings(Protocol):
    """Scrapy's settings, or a dict."""

    def get(self, name: str) -> Any: ...


class Named(Protocol):
    """A spider."""

    @property
    def name(self) -> str: ...


def crawl_name(settings: Settings, spider: Named | None) -> str:
    """Return the name of *spider*'s crawl; Scrapy creates the spider before extensions and pipelines.

    >>> from collections import namedtuple
    >>> spider = namedtuple("Spider", "name")("news")
    >>> crawl_name({"CRAWL": ""}, spider), crawl_name({"CRAWL": "press"}, spider)
    ('news', 'press')
    """
    assert spider is not None
    return settings.get("CRAWL") or spider.name


def named_by(option: str | None, settings: Settings) -> str | None:
    """Return the name of the crawl that a command reads; None = the latest one.

    >>> named_by("press", {"CRAWL": "news"}), named_by(None, {"CRAWL": "news"}), named_by(None, {"CRAWL": ""})
    ('press', 'news', None)
    """
    return option or settings.get("CRAWL") or None

"""Reads the settings that a crawl recorded, which are texts."""

from __future__ import annotations

from ast import literal_eval
from typing import TYPE_CHECKING, Any

from crawlers.inputs.rule_settings import rule_name, rule_options
from crawlers.inputs.url_settings import normalization
from crawlers.options import SETTINGS
from crawlers.reports.crawl_rules import CrawlRules
from crawlers.sites.robots_token import robots_token

if TYPE_CHECKING:
    from collections.abc import Mapping


class RecordedSettings:
    """Settings with the *values* that a crawl recorded; the others have our defaults.

    >>> RecordedSettings({"PAGE_BUDGET": "7", "PROFILE": "None"}).getint("PAGE_BUDGET")
    7
    """

    def __init__(self, values: Mapping[str, str | None]) -> None:
        self._values = values

    def get(self, name: str) -> Any:
        """Return the text that was recorded, or else the default; None if there is neither."""
        value = self._values.get(name)
        if value is not None:
            return None if value == "None" else value
        return SETTINGS[name].default if name in SETTINGS else None

    def getbool(self, name: str) -> bool:
        """Return whether the setting is on."""
        return str(self.get(name)).lower() in ("true", "1")

    def getint(self, name: str) -> int:
        """Return a whole number; 0 if there is none."""
        return int(self.get(name) or 0)

    def getfloat(self, name: str) -> float:
        """Return a number; 0 if there is none."""
        return float(self.get(name) or 0.0)

    def getlist(self, name: str) -> list[Any]:
        """Return a list; an empty one if there is none."""
        return list(self._literal(name) or [])

    def getdict(self, name: str) -> dict[Any, Any]:
        """Return a dictionary; an empty one if there is none."""
        return dict(self._literal(name) or {})

    def _literal(self, name: str) -> Any:
        value = self.get(name)
        return literal_eval(value) if isinstance(value, str) and value[:1] in ("[", "{", "(") else value


def crawl_rules(values: Mapping[str, str | None]) -> CrawlRules:
    """Return what a crawl that recorded *values* did with URLs; what it did not record is as in our defaults."""
    settings = RecordedSettings(values)
    return CrawlRules(normalization(settings), rule_name(settings), rule_options(settings), robots_token(settings))

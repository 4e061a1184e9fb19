"""The manifest of a crawl: what determined its results, such as the settings that it recorded."""

from __future__ import annotations

import json
from ast import literal_eval
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select

from crawlers.bandits.site_rules import RULES, RuleOptions
from crawlers.inputs.setting_readers import normalization, rule_name, rule_options
from crawlers.options import SETTINGS
from crawlers.options.kinds import typed
from crawlers.sites.robots_rules import robots_token
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.schema.tables import crawl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.bandits.site_rules import SiteRule
    from crawlers.store.database import Database
    from crawlers.urls.normalization import Normalization


@dataclass(frozen=True, slots=True)
class CrawlRules:
    """The normal form of URLs, the name of the site rule with its options, and the crawl's name for robots.txt."""

    normalization: Normalization
    rule: str
    rule_options: RuleOptions
    robots_token: str

    def new_rule(self) -> SiteRule | None:
        """Return the site rule as the crawl began with it; None if this version has no such rule."""
        make = RULES.get(self.rule)
        return None if make is None else make(self.rule_options)


class RecordedSettings:
    """Settings with the *values* that a crawl recorded; the others have our defaults.

    >>> RecordedSettings({"PAGE_BUDGET": "7", "PROFILE": "None"}).getint("PAGE_BUDGET")
    7
    """

    def __init__(self, values: Mapping[str, str | None]) -> None:
        of_crawl = {name: _value(text) for name, text in values.items() if text is not None}
        self._values = {name: one.default for name, one in SETTINGS.items()} | of_crawl

    def get(self, name: str) -> Any:
        """Return the value that was recorded, or else the default; None if there is neither."""
        return self._values.get(name)

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
        return list(self.get(name) or [])

    def getdict(self, name: str) -> dict[Any, Any]:
        """Return a dictionary; an empty one if there is none."""
        return dict(self.get(name) or {})


def crawl_rules(values: Mapping[str, str | None]) -> CrawlRules:
    """Return what a crawl that recorded *values* did with URLs; what it did not record is as in our defaults."""
    settings = RecordedSettings(values)
    return CrawlRules(normalization(settings), rule_name(settings), rule_options(settings), robots_token(settings))


def manifest_of(database: Database, crawl_id: int) -> dict[str, Any]:
    """Return the stored manifest of a crawl, which must exist.

    `changed_settings` are those that are no longer the ones by which it began, because it was resumed with others.
    """
    with database.read() as connection:
        text = connection.execute(select(crawl.c.manifest).where(crawl.c.id == crawl_id)).scalar_one()
        latest = recorded(connection, crawl_id)
    stored: dict[str, Any] = json.loads(text)
    began = stored.get("settings", {})
    changed = {name: _value(text) for name, text in latest.items() if name in began and str(began[name]) != text}
    return stored | ({"changed_settings": changed} if changed else {})


def _value(text: str) -> Any:
    """Return the value whose `str` is *text*: rows of settings are recorded like that."""
    if text[:1] in ("[", "{", "(") or text in ("None", "True", "False"):
        try:
            return literal_eval(text)
        except (ValueError, SyntaxError):
            pass
    return text


class SettingLine(NamedTuple):
    """A setting that was in force as a crawl began, as it is typed; who chose its value, else it is the default."""

    name: str
    text: str
    is_given: bool  # in the command, or in the file that it names
    is_of_spider: bool


def setting_lines(manifest: Mapping[str, Any]) -> list[SettingLine]:
    """Return all settings that a manifest records, by name."""
    given = (manifest.get("command") or {}).get("settings", {})
    of_spider = manifest.get("of_spider", ())
    recorded = {**manifest.get("settings", {}), **manifest.get("further_settings", {})}
    lines = {name: typed(value) for name, value in recorded.items()}
    return [
        SettingLine(name, text, name in given, name in of_spider) for name, text in sorted({**given, **lines}.items())
    ]


def differing_settings(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the settings in which two manifests differ, by name: those recorded, and those of the commands.

    Each with its values before and after; "" where a crawl has the default, or has not recorded it.
    """
    one, other = _settings(before), _settings(after)
    names = sorted({*one, *other})
    pairs = ((name, one.get(name, ""), other.get(name, "")) for name in names)
    return [(name, before, after) for name, before, after in pairs if before != after]


def _settings(manifest: dict[str, Any]) -> dict[str, str]:
    changed = {name: typed(value) for name, value in manifest.get("changed_settings", {}).items()}
    return {line.name: line.text for line in setting_lines(manifest)} | changed

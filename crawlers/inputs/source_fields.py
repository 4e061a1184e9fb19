"""A source of news, and what each of its fields in sources.yaml may say."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from crawlers.algorithms.news.sources import Source
from crawlers.algorithms.url_rules.rule_learner import UrlRule, check_regex
from crawlers.algorithms.urls.resolution import parsed, resolve
from crawlers.errors import BadUrl, ConfigError
from crawlers.inputs.seed_list import LIMITS, seed_address, seed_limit, tidy_name
from crawlers.inputs.yaml_fields import fields_of_node, item_of, items_of, nodes_of, shown
from crawlers.inputs.yaml_nodes import Item, Mapping, Wrong, is_text
from crawlers.items import SiteLimits

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.inputs.yaml_fields import Field
    from crawlers.inputs.yaml_nodes import Node

MOST_VALUES = 1_000  # feeds, rules or hosts of one source; who has more named the wrong thing
LONGEST = 500  # characters of a name or selector

PARTS = ("title", "text", "published", "authors", "section", "image")  # those of items.Article that stand on a page
FIELDS = ("site", "name", "feeds", "sitemaps", "rules", "content", "language", "region", *LIMITS, "hosts")

T = TypeVar("T")
Check: TypeAlias = "Callable[[dict[str, str]], None]"  # raises `ConfigError` for selectors, by part, that can't be used

_LANGUAGE = re.compile("[a-z]{2,3}")


def feed_address(text: str, start_url: str) -> str:
    """Return the URL of a feed as people write it: an address, or a path of the site; raises `ConfigError`.

    >>> feed_address("/feed/politics", "https://example.org/en/")
    'https://example.org/feed/politics'
    """
    try:
        url = resolve(start_url, text).url
    except BadUrl:
        url = ""
    if not url or min(text, default=" ") <= " " or "@" in url.split("/", 3)[2]:
        raise ConfigError(f"{shown(text)} is no address of a feed; write https://host/rss.xml, or a path: /rss.xml")
    return url


@lru_cache(maxsize=1_024)  # sites of one publisher, or made with the same software, share their rules
def check_rule(regex: str) -> None:
    """Raise `ConfigError` for what can't be a rule: see `check_regex`; nor can what no URL begins with."""
    check_regex(regex)
    _check_shown(regex)
    if not regex or regex[0].isalnum():
        raise ConfigError(
            f"{shown(regex)} fits no URL: what stands behind a host begins with /; write {shown(f'/{regex}')}"
        )


def _check_shown(text: str) -> None:
    if not text.isprintable():  # NUL among them, which no database takes
        raise ConfigError(f"{shown(text)} has characters that can't be shown; write them as escapes, such as \\t")


def rule_weight(text: str) -> float:
    """Return the weight of a rule that *text* says; raises `ConfigError`."""
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0.0 <= weight <= 1.0:  # nor is nan
        raise ConfigError(f"weight is {shown(text)}, expected a number from 0 (such URLs never are articles) to 1")
    return weight


def any_selector(_: dict[str, str]) -> None:
    """Take every selector."""


def source_of(node: Node, check: Check = any_selector) -> Source:
    """Return the source that an entry of the file describes; raises `Wrong`, also for what *check* refuses."""
    if isinstance(node, Item):
        return Source(_limits(item_of(node), {}))
    if not isinstance(node, Mapping):
        raise Wrong(node.line, "a source is a site, or fields such as `site: https://example.org`")
    fields = fields_of_node(node, FIELDS)
    if "site" not in fields:
        raise Wrong(node.line, "site is missing; write `site: https://example.org`")
    limits = _limits(item_of(fields["site"].value), fields)
    start_url = str(limits.start_url)
    feeds, sitemaps = (
        _addresses(fields.get(name), lambda text: feed_address(text, start_url)) for name in ("feeds", "sitemaps")
    )
    if both := set(feeds) & set(sitemaps):
        raise Wrong(fields["sitemaps"].line, f"{min(both)} is among feeds as well; keep one of the two")
    return Source(
        limits,
        _text(fields.get("name")),
        feeds,
        sitemaps,
        _rules(fields.get("rules")),
        _content(fields.get("content"), check),
        _language(fields.get("language")),
        _text(fields.get("region")),
        _addresses(fields.get("hosts"), _host),
    )


def _read(item: Item, reading: Callable[[str], T]) -> T:
    try:
        return reading(item.text)
    except ConfigError as error:
        raise Wrong(item.line, str(error)) from None


def _limits(site: Item, fields: dict[str, Field]) -> SiteLimits:
    name, start_url = _address(site, seed_address)
    parallel, max_level, delay_ms = (_limit(fields.get(limit), limit) for limit in LIMITS)
    return SiteLimits(name, parallel, max_level, None if delay_ms is None else delay_ms / 1000, start_url)


def _limit(given: Field | None, name: str) -> int | None:
    if given is None:
        return None
    return _read(item_of(given.value), lambda text: seed_limit(text, name))


def _addresses(given: Field | None, reading: Callable[[str], str]) -> tuple[str, ...]:
    items = [] if given is None else items_of(_small(given))
    return tuple(dict.fromkeys(_address(item, reading) for item in items))


def _small(given: Field) -> Field:
    if (number := len(nodes_of(given))) > MOST_VALUES:
        raise Wrong(given.line, f"{given.name} has {number} values; keep at most {MOST_VALUES}")
    return given


def _address(item: Item, reading: Callable[[str], T]) -> T:
    if not is_text(item.text):
        raise Wrong(item.line, f"{shown(item.text)} is no address; write one such as example.org or /rss.xml")
    return _read(item, reading)


def _text(given: Field | None) -> str | None:
    return None if given is None else tidy_name(item_of(given.value).text[:LONGEST])


def _rules(given: Field | None) -> tuple[UrlRule, ...]:
    rules: dict[str, UrlRule] = {}
    for node in nodes_of(_small(given)) if given else ():
        rule = _rule(node)
        if rule.regex in rules:
            raise Wrong(node.line, f"the rule {shown(rule.regex)} is here twice; keep one of the two")
        rules[rule.regex] = rule
    return tuple(rules.values())


def _rule(node: Node) -> UrlRule:
    weight: Field | None = None
    if isinstance(node, Mapping):
        fields = fields_of_node(node, ("regex", "weight"))
        if "regex" not in fields:
            raise Wrong(node.line, "regex is missing; write {regex: '/video/.*', weight: 0}")
        node, weight = fields["regex"].value, fields.get("weight")
    regex = item_of(node)
    _read(regex, check_rule)
    return UrlRule(regex.text, _read(item_of(weight.value), rule_weight) if weight else 1.0, "hand")


def _content(given: Field | None, check: Check) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given.value, Mapping):
        raise Wrong(given.line, "content is no mapping; write each part with its selector, such as `title: h1`")
    selectors = {}
    for name, part in fields_of_node(given.value, PARTS).items():
        line, text = item = item_of(part.value)
        _read(item, _check_shown)
        if len(text) > LONGEST:
            raise Wrong(line, f"the selector of {name} has {len(text)} characters; write one of at most {LONGEST}")
        try:
            check({name: text})
        except ConfigError as error:
            raise Wrong(line, str(error)) from None
        selectors[name] = text
    return selectors


def _language(given: Field | None) -> str | None:
    if given is None:
        return None
    line, text = item_of(given.value)
    if not _LANGUAGE.fullmatch(text.lower()):
        raise Wrong(line, f"language is {shown(text)}, expected a code of ISO 639 such as en; a country is the region")
    return text.lower()


def _host(text: str) -> str:
    try:
        if set(text) & set("/:@?#,"):
            raise ConfigError(text)
        return str(parsed(seed_address(text)[0]).hostname)
    except ConfigError:
        remedy = "write a name such as sport.example.org, without protocol, port and path"
        raise ConfigError(f"{shown(text)} in hosts is no host; {remedy}") from None

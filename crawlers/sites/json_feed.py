"""Reads JSON Feed, versions 1 and 1.1 (https://www.jsonfeed.org/version/1.1/)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from crawlers.reasons import Reason
from crawlers.sites.feed_items import MAX_ITEMS, WEB
from crawlers.sites.month_names import languages_of

if TYPE_CHECKING:
    from crawlers.sites.feed_items import FeedContent, Gathering

_ITEMS = re.compile(r'"items"\s*:\s*\[')
_SEPARATOR = re.compile(r"[\s,]*")


def read_json_feed(text: str, into: Gathering) -> FeedContent:
    """Return the contents of the JSON feed *text*; a truncated one yields the items before the cut."""
    problem = ""
    decoder = json.JSONDecoder(strict=False)  # strings with raw line breaks are common
    try:
        feed = decoder.decode(text)
    except (ValueError, RecursionError) as error:
        problem = Reason.FEED_INVALID.of(error)
        feed = {"items": _whole_items(text, decoder)}
    if not isinstance(feed, dict) or not isinstance(feed.get("items"), list):
        return into.content("", problem or Reason.FEED_WITHOUT_ITEMS)
    languages = languages_of(_text(feed, "language"), into.url)
    for item in feed["items"]:
        if into.is_full:
            break
        if isinstance(item, dict):
            id_ = _text(item, "id")
            href = _text(item, "url", "external_url") or (id_ if id_.startswith(WEB) else "")
            date = _text(item, "date_published", "date_modified")
            into.item(href, date, _text(item, "title"), languages=languages)
    into.more(_text(feed, "next_url"))
    kind = "json" if into or not problem else ""
    return into.content(kind, problem, _text(feed, "language"), _text(feed, "title"))


def _whole_items(text: str, decoder: json.JSONDecoder) -> list[Any]:
    items: list[Any] = []
    start = _ITEMS.search(text)
    at = len(text) if start is None else start.end()
    try:
        while at < len(text) and len(items) < MAX_ITEMS:
            item, at = decoder.raw_decode(text, at)
            items.append(item)
            blank = _SEPARATOR.match(text, at)
            at = len(text) if blank is None else blank.end()
    except (ValueError, RecursionError):
        pass  # the text is truncated here
    return items


def _text(holder: dict[str, Any], *names: str) -> str:
    """Return the first non-empty text among *names*."""
    return next((value for name in names if isinstance(value := holder.get(name), str) and value.strip()), "")

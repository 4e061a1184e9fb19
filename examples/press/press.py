"""Many news sites: their responses at a given time, and the truth that a crawl of them is compared with.

Everything is a function of the seed, the origins, the rates and the time; only caches are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import yaml

from examples.press import feeds, lists, stories
from examples.press.frame import FEED_TYPES, STATICS, Desk
from examples.press.newsroom import DAY_S, Newsroom
from examples.press.plan import plans

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from examples.press.newsroom import Head

_HTML = "text/html; charset=utf-8"
_CAMPAIGNS = ("utm_", "fbclid=", "gclid=")


class Response(NamedTuple):
    """The response of a site to a GET."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Article:
    """The truth about an article; *copy_of* is the URL of the original of a copy, "" for other articles."""

    url: str
    title: str
    published_at: float
    copy_of: str
    room: Newsroom = field(repr=False)
    number: int = field(repr=False)
    now: float = field(repr=False)

    @property
    def day(self) -> str:
        """The day of publication in the time zone of its site, as readers see it: 2026-11-20."""
        return f"{self.room.head(self.number).published:%Y-%m-%d}"

    @property
    def text(self) -> str:
        """The paragraphs as first published, one per line."""
        return "\n".join(self.room.text(self.number, self.published_at))

    @property
    def correction(self) -> str:
        """The text that replaced the first one; "" if there is none."""
        last = "\n".join(self.room.text(self.number, self.now))
        return last if last != self.text else ""


class Press:
    """News sites at *origins*, opened *archive_days* before *began*, with *per_day* articles per site on average."""

    def __init__(
        self,
        seed: int,
        origins: Sequence[str],
        began: float,
        *,
        per_day: float = 15,
        archive_days: float = 90,
        family: str = "press",
    ) -> None:
        self.plans = plans(seed, origins, per_day, family)
        opened = began - archive_days * DAY_S
        self._rooms = {urlsplit(plan.origin).netloc: Newsroom(seed, plan, opened) for plan in self.plans}

    @property
    def hosts(self) -> list[str]:
        return list(self._rooms)

    # Responses ---------------------------------------------------------------------------------------

    def page(self, host: str, address: str, now: float) -> Response:
        """Return the response of *host* to a GET of *address* (path and query) at *now*."""
        room = self._rooms.get(host)
        if room is None:
            return _missing()
        desk = Desk(room, now, [plan.origin for plan in self.plans if plan.origin != room.plan.origin])
        found = self._machine_page(desk, address)
        if found is None and (text := _html(desk, address)) is not None:
            found = _response(_HTML, text)
        return found or _missing()

    @staticmethod
    def _machine_page(desk: Desk, address: str) -> Response | None:
        plan = desk.plan
        if address == "/robots.txt":
            return _response("text/plain", feeds.robots(desk))
        if plan.feed and address == plan.feed.path:
            return _response(FEED_TYPES[plan.feed.kind], feeds.feed(desk, plan.feed))
        if plan.sitemap and address == plan.sitemap:
            return _response("application/xml", feeds.sitemap(desk))
        return None

    # The truth: never shown to a crawler --------------------------------------------------------------

    def articles(self, host: str, now: float) -> list[Article]:
        """Return all articles of *host*, oldest first."""
        room = self._rooms[host]
        return [self._article(room, room.head(number), now) for number in range(room.count(now))]

    @staticmethod
    def _article(room: Newsroom, head: Head, now: float) -> Article:
        origin = room.plan.origin
        copy_of = "" if head.original is None else origin + room.head(head.original).address
        return Article(origin + head.address, head.title, head.published_at, copy_of, room, head.number, now)

    def is_article(self, url: str, now: float) -> bool:
        """Return whether *url* is that of an article, not of a print version or with a campaign."""
        parts = urlsplit(url)
        room = self._rooms.get(parts.netloc)
        return room is not None and room.find(_address(url), now) is not None

    def document(self, url: str, now: float) -> str:
        """Return the URL of the document of which a page is the article, a copy or a variant; "" if there is none."""
        room = self._rooms.get(urlsplit(url).netloc)
        head = None if room is None else _shown(room, _address(url), now)
        if room is None or head is None:
            return ""
        return room.plan.origin + (head if head.original is None else room.head(head.original)).address

    def in_feed(self, host: str) -> bool:
        """Return whether the articles of *host* are in a feed or a news sitemap."""
        plan = self._rooms[host].plan
        return plan.feed is not None or plan.sitemap != ""

    def announced(self, host: str, address: str, now: float) -> set[str]:
        """Return the articles that *host* announces at *address*, if that is a feed or a news sitemap."""
        room = self._rooms[host]
        newest = Desk(room, now, ()).newest
        if room.plan.feed is not None and address == room.plan.feed.path:
            return {room.plan.origin + head.address for head in newest(feeds.SHOWN)}
        if room.plan.sitemap and address == room.plan.sitemap:
            since = now - feeds.SITEMAP_S
            return {room.plan.origin + head.address for head in newest(room.count(now)) if head.published_at >= since}
        return set()

    def rules(self, host: str) -> list[str]:
        """Return rules as a person would write them: regular expressions for the whole path and query of articles."""
        return [self._rooms[host].plan.schema.rule]

    def sources(self, rules: Mapping[str, Sequence[str]] | None = None) -> str:
        """Return the text of sources.yaml, with *rules* by host."""
        sites: list[dict[str, object]] = []
        for host, room in self._rooms.items():
            own = list((rules or {}).get(host, ()))
            sites.append({"site": room.plan.origin, **({"rules": own} if own else {})})
        text: str = yaml.safe_dump({"sources": sites}, sort_keys=False)
        return text


def _response(content_type: str, text: str) -> Response:
    return Response(200, {"Content-Type": content_type}, text.encode())


def _missing() -> Response:
    return Response(404, {"Content-Type": _HTML}, b"<!DOCTYPE html><title>Not found</title><h1>Not found</h1>")


def _address(url: str) -> str:
    """Return path and query of *url*."""
    parts = urlsplit(url)
    return f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"


def _without_campaign(address: str) -> str:
    """Return the address without parameters that only track readers."""
    path, _, query = address.partition("?")
    kept = "&".join(part for part in query.split("&") if part and not part.startswith(_CAMPAIGNS))
    return f"{path}?{kept}" if kept else path


def _named(room: Newsroom, fields: Mapping[str, str], now: float) -> Head | None:
    """Return the article that the fields of an address refer to, by its number or address."""
    if "article" in fields:
        return room.find(fields["article"], now)
    return room.with_id(int(fields["id"]), now) if "id" in fields else None


def _shown(room: Newsroom, address: str, now: float) -> Head | None:
    """Return the article whose text is on a page."""
    address = _without_campaign(address)
    if head := room.find(address, now):
        return head
    for kind, fields in room.plan.schema.layout.read(address):
        if kind in ("print", "second") and (head := _named(room, fields, now)):
            return head if kind == "print" or room.plan.has_second else None
    return None


def _html(desk: Desk, address: str) -> str | None:
    """Return the page at *address*; None if there is none."""
    address = _without_campaign(address)
    if head := desk.room.find(address, desk.now):
        return stories.article(desk, head)
    readings = desk.plan.schema.layout.read(address)
    return next((text for kind, fields in readings if (text := _of_kind(desk, kind, fields)) is not None), None)


def _of_kind(desk: Desk, kind: str, fields: Mapping[str, str]) -> str | None:
    if "id" in fields or "article" in fields:
        head = _named(desk.room, fields, desk.now)
        return None if head is None else _of_article(desk, kind, head, fields)
    number = int(fields.get("page", 1))
    match kind:
        case "home":
            return lists.home(desk)
        case "section" | "section_page":
            return lists.section(desk, fields["section"], number)
        case "latest" | "latest_page":
            return lists.latest(desk, number)
        case "tag" | "tag_page":
            return lists.tag(desk, fields["tag"], number)
        case "author":
            return lists.author(desk, fields["author"])
        case "archive":
            return lists.archive(desk)
        case "year":
            return lists.year(desk, int(fields["year"]))
        case "month":
            return lists.month(desk, int(fields["year"]), int(fields["month"]))
        case "day":
            return lists.day(desk, int(fields["year"]), int(fields["month"]), int(fields["day"]))
        case "search":
            return lists.search(desk, fields["word"])
        case "static" if fields["static"] in STATICS:
            return stories.static(desk, fields["static"])
    return None


def _of_article(desk: Desk, kind: str, head: Head, fields: Mapping[str, str]) -> str | None:
    match kind:
        case "print":
            return stories.printed(desk, head)
        case "second" if desk.plan.has_second:
            return stories.second(desk, head)
        case "comments" | "comments_sorted":
            return stories.comments(desk, head, fields.get("order", ""))
        case "send":
            return stories.send(desk, head)
        case "gallery" if head.photos:
            return stories.gallery(desk, head, 0)
        case "photo" if 1 <= int(fields["photo"]) <= head.photos:
            return stories.gallery(desk, head, int(fields["photo"]))
    return None

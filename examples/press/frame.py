"""The frame of a page: head, navigation, most read articles, external links; and lists of articles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from examples.press.texts import slug
from examples.webs.prose import rng_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from examples.press.newsroom import Head, Newsroom
    from examples.press.plan import Plan

STATICS = ("about", "contacts", "advertising", "imprint", "privacy", "subscribe", "jobs")
LISTED = 8  # articles on a list page
MAX_READ = 5
_FRESH = 60  # latest articles from which the sidebar is drawn, at most
_FRESH_S = 2 * 86_400
FEED_TYPES = {"rss": "application/rss+xml", "atom": "application/atom+xml", "json": "application/feed+json"}
# The layouts of pages: HTML before and after the contents.
_LAYOUTS = (
    ("<main>", "</main>"),
    ('<div id="wrap"><div class="content">', "</div></div>"),
    ('<table class="page"><tr><td class="left"></td><td class="main">', "</td></tr></table>"),
    ('<section class="column">', "</section>"),
)


@dataclass(frozen=True, slots=True)
class Desk:
    """A site at a point in time, with everything that its pages depend on."""

    room: Newsroom
    now: float
    others: Sequence[str]  # origins of the other sites

    @property
    def plan(self) -> Plan:
        return self.room.plan

    def url(self, kind: str, **fields: object) -> str:
        return self.local(self.plan.schema.layout.address(kind, **fields))

    def local(self, address: str) -> str:
        """Return the address as links of this site write it."""
        return self.plan.origin + address if self.plan.links_are_absolute else address

    def newest(self, count: int) -> list[Head]:
        whole = self.room.count(self.now)
        return [self.room.head(number) for number in range(whole - 1, max(whole - count, 0) - 1, -1)]


def anchor(href: str, text: str) -> str:
    return f'<a href="{escape(href)}">{escape(text)}</a>'


def with_query(address: str, query: str) -> str:
    """Return the address with *query* appended to its query."""
    return f"{address}{'&' if '?' in address else '?'}{query}" if query else address


def items(desk: Desk, heads: Iterable[Head], campaign: str = "") -> str:
    """Return a list of articles."""
    rows = (anchor(desk.local(with_query(head.address, campaign)), head.title) for head in heads)
    return "<ul>" + "".join(f"<li>{row}</li>" for row in rows) + "</ul>"


def teasers(desk: Desk, heads: Iterable[Head]) -> str:
    """Return a list of articles with their teasers."""
    found = []
    for head in heads:
        own = {"id": head.id, "article": head.address}
        links = [anchor(desk.url("tag", tag=slug(tag)), tag) for tag in head.tags]
        links.append(anchor(desk.url("comments", **own), "Comments"))
        if head.photos:
            links.append(anchor(desk.url("gallery", **own), "Photos"))
        about = f"<p>{head.published:%d.%m.%Y %H:%M} {' '.join(links)}</p>"
        found.append(f"<div class=teaser><h3>{anchor(desk.local(head.address), head.title)}</h3>{about}</div>")
    return "".join(found)


@lru_cache(256)
def _side(room: Newsroom, hour: int) -> str:
    """Return the sidebar, generated once an hour: most read and discussed articles, towns, and the last days."""
    desk = Desk(room, hour * 3600.0, ())
    fresh = [head for head in desk.newest(_FRESH) if head.published_at > desk.now - _FRESH_S]
    rng = rng_of(f"most read {desk.plan.number} {hour}")
    read, said = (rng.sample(fresh, min(MAX_READ, len(fresh))) for _ in range(2))
    comments = (desk.url("comments", id=head.id, article=head.address) for head in said)
    towns = sorted({tag for head in desk.newest(_FRESH) for tag in head.tags})
    dates = sorted({f"{head.published:%Y-%m-%d}" for head in desk.newest(_FRESH)})
    days = (date.split("-") for date in dates)
    links = [
        *(anchor(href, "Discuss") for href in comments),
        *(anchor(desk.url("tag", tag=slug(town)), town) for town in towns),
        *(anchor(desk.url("day", year=year, month=month, day=day), day) for year, month, day in days),
    ]
    return f"<aside><h4>Most read</h4>{items(desk, read, desk.plan.campaign)}<p>{' '.join(links)}</p></aside>"


def _navigation(desk: Desk) -> str:
    links = [anchor(desk.url("home"), desk.plan.title), anchor(desk.url("latest"), "Latest")]
    links += [anchor(desk.url("section", section=name), name.title()) for name in desk.plan.sections]
    return f"<nav>{' '.join(links)} {anchor(desk.url('archive'), 'Archive')}</nav>"


def _footer(desk: Desk, seed: str) -> str:
    rng = rng_of(f"footer {desk.plan.number} {seed}")
    others = rng.sample(list(desk.others), min(3, len(desk.others)))
    links = [anchor(desk.url("static", static=name), name.title()) for name in STATICS]
    links += [anchor(origin + "/", f"Partner {number}") for number, origin in enumerate(others, 1)]
    return f"<footer>{' | '.join(links)} © All rights reserved.</footer>"


def page(desk: Desk, seed: str, title: str, contents: str, *, head: str = "") -> str:
    """Return a whole page; *seed* is the same for all moments, *head* further HTML for its head."""
    plan = desk.plan
    before, after = _LAYOUTS[plan.layout]
    side = _side(desk.room, int(desk.now // 3600))
    if plan.markup == "og" and "og:type" not in head:
        head += '<meta property="og:type" content="website">'
    if plan.feed and plan.feed.is_linked:
        kind = FEED_TYPES[plan.feed.kind]
        head += f'<link rel="alternate" type="{kind}" title="{escape(plan.title)}" href="{plan.feed.path}">'
    return (
        f'<!DOCTYPE html>\n<html lang="{"ru" if plan.is_russian else "en"}"><head><meta charset="utf-8">'
        f"<title>{escape(title)} - {escape(plan.title)}</title>{head}</head>\n<body>\n{_navigation(desk)}\n"
        f"{before}\n{contents}\n{after}\n{side}\n{_footer(desk, seed)}\n</body></html>\n"
    )

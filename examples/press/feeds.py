"""Feeds, news sitemaps and robots.txt of a site; some feeds are broken in typical ways."""

from __future__ import annotations

import json
from email.utils import formatdate
from html import escape
from typing import TYPE_CHECKING

from examples.press.frame import with_query

if TYPE_CHECKING:
    from examples.press.frame import Desk
    from examples.press.newsroom import Head
    from examples.press.plan import Feed

SHOWN = 20  # items of a feed
SITEMAP_S = 2 * 86_400  # time span of a news sitemap
_NEWS = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'


def feed(desk: Desk, plan: Feed) -> str:
    """Return the feed with its flaw."""
    heads = desk.newest(SHOWN)
    text = {"rss": _rss, "atom": _atom, "json": _json}[plan.kind](desk, plan, heads)
    if plan.flaw == "ampersand":
        return text.replace("&amp;", "&")
    if plan.flaw == "cut":
        return text[: text.rindex("</")]  # the last tag is missing
    return text


def _link(desk: Desk, plan: Feed, head: Head) -> str:
    return desk.plan.origin + with_query(head.address, plan.campaign)


def _rss(desk: Desk, plan: Feed, heads: list[Head]) -> str:
    found = []
    for head in heads:
        link = escape(_link(desk, plan, head))
        when = f"{head.published:%d/%m %H:%M}" if plan.flaw == "dates" else formatdate(head.published_at, usegmt=True)
        about = f"<description>{escape('; '.join(head.tags))} &amp; more</description>"
        found.append(
            f"<item><title>{escape(head.title)}</title><link>{link}</link><pubDate>{when}</pubDate>{about}</item>\n"
        )
    channel = f"<title>{desk.plan.title}</title><link>{desk.plan.origin}/</link>"
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel>{channel}{"".join(found)}</channel></rss>'
    )


def _atom(desk: Desk, plan: Feed, heads: list[Head]) -> str:
    found = []
    for head in heads:
        when = "yesterday" if plan.flaw == "dates" else head.published.isoformat()
        found.append(
            f"<entry><id>tag:press,2026:{desk.plan.number}.{head.number}</id><title>{escape(head.title)}</title>"
            f'<link href="{escape(_link(desk, plan, head))}"/><published>{when}</published>'
            f"<updated>{when}</updated><summary>{escape('; '.join(head.tags))} &amp; more</summary></entry>\n"
        )
    about = f"<title>{desk.plan.title}</title><id>{desk.plan.origin}/</id>"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">{about}{"".join(found)}</feed>'


def _json(desk: Desk, plan: Feed, heads: list[Head]) -> str:
    found = []
    for head in heads:
        item = {"id": str(head.id), "url": _link(desk, plan, head), "title": head.title, "content_text": head.title}
        if plan.flaw != "dates":
            item["date_published"] = head.published.isoformat()
        found.append(item)
    return json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": desk.plan.title, "items": found})


def sitemap(desk: Desk) -> str:
    """Return the sitemap of the last two days."""
    found = []
    for head in desk.newest(1000):
        if head.published_at < desk.now - SITEMAP_S:
            break
        about = f"<news:publication_date>{head.published.isoformat()}</news:publication_date>"
        about += f"<news:title>{escape(head.title)}</news:title>"
        found.append(f"<url><loc>{escape(desk.plan.origin + head.address)}</loc><news:news>{about}</news:news></url>\n")
    space = f'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" {_NEWS}'
    return f'<?xml version="1.0" encoding="utf-8"?>\n<urlset {space}>{"".join(found)}</urlset>'


def robots(desk: Desk) -> str:
    """Return the robots.txt, which forbids no linked page; some name the sitemap."""
    named = f"Sitemap: {desk.plan.origin}{desk.plan.sitemap}\n" if desk.plan.robots_name_sitemap else ""
    return f"User-agent: *\nDisallow: /cgi-bin/\n{named}"

"""The pages that belong to one article: the article itself, print, comments, gallery, second address."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from examples.press.frame import anchor, items, page
from examples.press.texts import person, slug
from examples.webs.prose import paragraphs, rng_of, sentence

if TYPE_CHECKING:
    from examples.press.frame import Desk
    from examples.press.newsroom import Head

_ORDERS = ("best", "new")
_RELATED = 4


def _canonical(desk: Desk, head: Head) -> str:
    return f'<link rel="canonical" href="{escape(desk.plan.origin + head.address)}">'


def _metadata(desk: Desk, head: Head) -> str:
    """Return the metadata of the article in the markup of its site."""
    url, when = desk.plan.origin + head.address, head.published.isoformat()
    found = _canonical(desk, head)
    if desk.plan.markup == "json-ld":
        article_data = {
            "@context": "https://schema.org",
            "@type": "NewsArticle",
            "headline": head.title,
            "datePublished": when,
            "author": {"@type": "Person", "name": head.author},
            "articleSection": head.section,
            "mainEntityOfPage": url,
        }
        found += f'<script type="application/ld+json">{json.dumps(article_data)}</script>'
    if desk.plan.markup == "og":
        metadata = {"og:type": "article", "og:title": head.title, "og:url": url, "article:published_time": when}
        found += "".join(f'<meta property="{name}" content="{escape(value)}">' for name, value in metadata.items())
    return found


def _body(desk: Desk, head: Head) -> str:
    """Return title, date, author and text."""
    text = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in desk.room.text(head.number, desk.now))
    shown = f"{head.published.day} {head.published:%B %Y, %H:%M}"
    when = f"<span>{shown}</span>"
    if desk.plan.markup != "nothing":
        when = f'<time datetime="{head.published.isoformat()}">{shown}</time>'
    author = anchor(desk.url("author", author=slug(head.author)), head.author)
    return f"<h1>{escape(head.title)}</h1>\n<div class=byline>{when} by {author}</div>\n<div class=text>{text}</div>"


def article(desk: Desk, head: Head) -> str:
    """Return the page of an article."""
    own = {"id": head.id, "article": head.address}
    links = [
        anchor(desk.url("section", section=head.section), head.section.title()),
        anchor(desk.url("day", **_date(head)), "More of this day"),
        anchor(desk.url("print", **own), "Print"),
        anchor(desk.url("comments", **own), "Comments"),
        anchor(desk.url("send", **own), "Send to a friend"),
    ]
    if head.photos:
        links.append(anchor(desk.url("gallery", **own), f"{head.photos} photos"))
    if desk.plan.has_second:
        links.append(anchor(desk.url("second", **own), "Mobile version"))
    for tag in head.tags:
        links += [
            anchor(desk.url("tag", tag=slug(tag)), tag),
            anchor(desk.url("search", word=slug(tag)), f"All on {tag}"),
        ]
    near = range(head.number - 1, max(head.number - 1 - _RELATED, -1), -1)
    related = items(desk, (desk.room.head(number) for number in near))
    contents = f"<article>{_body(desk, head)}</article><p>{' '.join(links)}</p><h4>Related</h4>{related}"
    return page(desk, str(head.number), head.title, contents, head=_metadata(desk, head))


def _date(head: Head) -> dict[str, str]:
    return {"year": f"{head.published:%Y}", "month": f"{head.published:%m}", "day": f"{head.published:%d}"}


def second(desk: Desk, head: Head) -> str:
    """Return the article at its second address."""
    contents = f"<article>{_body(desk, head)}</article>{anchor(desk.local(head.address), 'Full version')}"
    return page(desk, f"second {head.number}", head.title, contents, head=_canonical(desk, head))


def printed(desk: Desk, head: Head) -> str:
    """Return the print version, without a frame."""
    named = _canonical(desk, head) if desk.plan.prints_name_canonical else ""
    top = f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{escape(head.title)}</title>{named}</head>'
    return f"{top}<body>{_body(desk, head)}<p>{anchor(desk.local(head.address), 'Back')}</p></body></html>"


def comments(desk: Desk, head: Head, order: str) -> str:
    """Return the comments, at first one more each hour."""
    rng = rng_of(f"comments {desk.plan.number} {head.number}")
    hours = int(max(desk.now - head.published_at, 0) // 3600)
    said = [f"<p><b>{person(rng)}</b>: {sentence(rng)}</p>" for _ in range(min(rng.randint(1, 12), hours))]
    if order == "new":
        said.reverse()
    own = {"id": head.id, "article": head.address}
    orders = " ".join(anchor(desk.url("comments_sorted", order=name, **own), name) for name in _ORDERS)
    contents = f"<h2>Comments: {anchor(desk.local(head.address), head.title)}</h2>{orders}{''.join(said)}"
    return page(desk, f"comments {head.number}", f"Comments on {head.title}", contents)


def gallery(desk: Desk, head: Head, photo: int) -> str:
    """Return all photos of the article, or the one with a number from 1."""
    shown = [photo] if photo else range(1, head.photos + 1)
    pictures = "".join(
        anchor(desk.url("photo", id=head.id, photo=number), f"Photo {number} of {head.photos}") for number in shown
    )
    if photo and photo < head.photos:
        pictures += anchor(desk.url("photo", id=head.id, photo=photo + 1), "Next")
    contents = f"<h2>{escape(head.title)}</h2>{pictures}{anchor(desk.local(head.address), 'To the article')}"
    return page(desk, f"gallery {head.number} {photo}", f"Photos: {head.title}", contents)


def send(desk: Desk, head: Head) -> str:
    """Return a form for recommending the article."""
    form = '<form method="post"><input name="to"><button>Send</button></form>'
    contents = f"<h2>Send “{escape(head.title)}”</h2>{form}{anchor(desk.local(head.address), 'Back')}"
    return page(desk, f"send {head.number}", "Send to a friend", contents)


def static(desk: Desk, name: str) -> str:
    """Return a constant page."""
    text = paragraphs(f"static {desk.plan.number} {name}", 2)
    return page(desk, f"static {name}", name.title(), f"<h1>{name.title()}</h1>{text}")

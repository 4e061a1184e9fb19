"""The pages of the town as HTML: sentences about their subject, with links, and a navigation frame."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from examples.town.plan import ENGLISH, SITES, Page, plan
from examples.town.subjects import EMPTY_ANCHORS, paragraph, sentence
from examples.webs.pages import link
from examples.webs.prose import rng_of

if TYPE_CHECKING:
    from examples.webs.pages import Web

EMPTY_ANCHOR_P = 0.15
STORY_LINKS = 4
_SECTIONS = 4  # own pages that a site links to on each page
_NEIGHBOURS = 3  # sites that a site links to as friends
_FRAME = {
    "en": ("Home", "Friends", "All sites"),
    "ru": ("Главная", "Друзья", "Все сайты"),
    "zh": ("首页", "朋友", "全部网站"),
}


def planned(web: Web, number: int, extra: str = "") -> str:
    """Return page *number* of the plan; *extra* is HTML below its text."""
    page = plan(web.scale).pages[number]
    return _document(web, page, list(plan(web.scale).links[number]), extra)


def passing(web: Web, page: Page) -> str:
    """Return a page that is not in the plan: about its subject, with some links to other pages about it."""
    about = [n for n in plan(web.scale).about(page.subject) if plan(web.scale).pages[n].lang == page.lang]
    return _document(web, page, rng_of(f"{page}").sample(about, STORY_LINKS))


def story(number: int) -> Page:
    """Return story *number* of the news."""
    subject = ENGLISH[number % len(ENGLISH)]
    return Page("news", f"/story-{number}.html", f"News of {subject}, no. {number}", subject)


def _address(web: Web, source: Page, target: Page) -> str:
    """Return a link as people write it: without the origin if source and target have the same."""
    return target.path if source.site == target.site else web.origins[target.site] + target.path


def _document(web: Web, page: Page, targets: list[int], extra: str = "") -> str:
    rng = rng_of(f"{page}")
    pages = plan(web.scale).pages
    parts = [f"<p>{paragraph(rng, page.subject, page.lang, 3)}</p>"]
    for number in targets:
        target = pages[number]
        text = rng.choice(EMPTY_ANCHORS[page.lang]) if rng.random() < EMPTY_ANCHOR_P else target.title
        words = sentence(rng, page.subject, page.lang, link(_address(web, page, target), text))
        parts.append(f"<p>{words} {paragraph(rng, page.subject, page.lang, 1)}</p>")
    main = "\n".join(parts) + extra
    head = f'<meta charset="utf-8"><title>{escape(page.title)}</title>'
    return (
        f'<!DOCTYPE html>\n<html lang="{page.lang}"><head>{head}</head>\n'
        f"<body>{_header(web, page)}\n<main><h1>{escape(page.title)}</h1>\n{main}\n</main>\n"
        f"{_footer(web, page)}</body></html>\n"
    )


def _header(web: Web, page: Page) -> str:
    found = plan(web.scale)
    first = found.numbers[page.site, "/"]
    own = [one for one in found.pages[first + 1 : first + 1 + _SECTIONS] if one.site == page.site]
    sections = " ".join(link(one.path, one.title) for one in own)
    return f"<header>{link('/', SITES[page.site].name)}</header>\n<nav>{sections}</nav>"


def _footer(web: Web, page: Page) -> str:
    home, friends, all_sites = _FRAME[page.lang]
    names = list(SITES)
    # The next ones in a ring, like the web rings of the nineties.
    near = [names[(names.index(page.site) + step) % len(names)] for step in range(1, _NEIGHBOURS + 1)]
    ring = " ".join(link(web.origins[name] + "/", SITES[name].name) for name in near if name != "portal")
    return f"<footer>{link('/', home)} | {friends}: {ring} | {link(web.origins['portal'] + '/', all_sites)}</footer>"

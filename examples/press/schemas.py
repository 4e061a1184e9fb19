"""The URL schemas of articles, and the rule that a person would write for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from examples.press.layout import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from examples.press.layout import Layout

_STORIES = quote("статьи")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of an article's address."""

    id: int
    hexadecimal: str
    slug: str  # escaped
    section: str
    day: datetime


@dataclass(frozen=True, slots=True)
class Schema:
    """A format of addresses; *rule* matches the whole path and query of articles, and of no other pages."""

    name: str
    layout_name: str
    address: Callable[[Parts], str]
    rule: str
    is_russian: bool = False

    @property
    def layout(self) -> Layout:
        return LAYOUTS[self.layout_name]


SCHEMAS = (
    Schema("date and slug", "folders", lambda p: f"/{p.day:%Y/%m/%d}/{p.slug}/", r"/\d{4}/\d{2}/\d{2}/[^/?]+/"),
    Schema(
        "section, slug and id",
        "suffixes",
        lambda p: f"/{p.section}/{p.slug}-{p.id}.html",
        r"/[a-z]+/[a-z][a-z0-9]*-[a-z0-9-]*\d+\.html",
    ),
    Schema("id in the query", "scripts", lambda p: f"/story.php?id={p.id}", r"/story\.php\?id=\d+"),
    Schema("date and id", "folders", lambda p: f"/{p.day:%Y/%m/%d}/{p.id}/", r"/\d{4}/\d{2}/\d{2}/\d+/"),
    Schema("news and id", "suffixes", lambda p: f"/news/{p.id}", r"/news/\d+"),
    Schema("slug at the root", "folders", lambda p: f"/{p.slug}", r"/[a-z0-9]+-[a-z0-9]+-[a-z0-9]+-[a-z0-9-]+"),
    Schema("hash", "folders", lambda p: f"/a/{p.hexadecimal}", r"/a/[0-9a-f]{10}"),
    Schema("escaped slug", "folders", lambda p: f"/{_STORIES}/{p.slug}", rf"/{_STORIES}/[^/?]+", is_russian=True),
    Schema("number alone", "suffixes", lambda p: f"/{p.id}.shtml", r"/\d+\.shtml"),
    Schema(
        "section, month and slug",
        "suffixes",
        lambda p: f"/{p.section}/{p.day:%Y/%m}/{p.slug}",
        r"/[a-z]+/\d{4}/\d{2}/[^/?]+",
    ),
    Schema("day and number", "suffixes", lambda p: f"/{p.day:%Y%m%d}/{p.id}.html", r"/\d{8}/\d+\.html"),
    Schema(
        "id and section in the query",
        "scripts",
        lambda p: f"/index.php?id={p.id}&section={p.section}",
        r"/index\.php\?id=\d+&section=[a-z]+",
    ),
)

# Papers with other forms than those of the press. Training of the prior was corrected once after a look at them.
PAPERS = (
    Schema(
        "section, date in the title",
        "blog",
        lambda p: f"/{p.section}/{p.day:%Y-%m-%d}-{p.slug}",
        r"/[a-z]+/\d{4}-\d{2}-\d{2}-[^/?]+",
    ),
    Schema(
        "articles and hash", "portal", lambda p: f"/news/articles/c{p.hexadecimal}", r"/news/articles/c[0-9a-f]{10}"
    ),
    Schema("id before the title", "pages", lambda p: f"/{p.id}-{p.slug}.html", r"/\d+-[^/?]+\.html"),
    Schema("language, slug, a-id", "blog", lambda p: f"/en/{p.slug}/a-{p.id}", r"/en/[^/?]+/a-\d+"),
    Schema(
        "date, section, slug.html",
        "portal",
        lambda p: f"/{p.day:%Y/%m/%d}/{p.section}/{p.slug}.html",
        r"/\d{4}/\d{2}/\d{2}/[a-z]+/[^/?]+\.html",
    ),
    Schema("artikel, id", "pages", lambda p: f"/artikel/{p.id}/", r"/artikel/\d+/"),
    Schema("section, id, slug", "portal", lambda p: f"/{p.section}/{p.id}/{p.slug}", r"/[a-z]+/\d+/[^/?]+"),
    Schema("slug with a letter and id", "blog", lambda p: f"/{p.slug}-n{p.id}", r"/[^/?]+-n\d+"),
)
# Likewise; the features and the training of the prior were fixed before these were written.
GAZETTES = (
    Schema("c1-id_slug", "lists", lambda p: f"/domaci/c1-{p.id}-{p.slug}", r"/domaci/c1-\d+-[^/?]+"),
    Schema("s, hash", "codes", lambda p: f"/s/{p.hexadecimal}", r"/s/[0-9a-f]{10}"),
    Schema(
        "day, slug, id",
        "lists",
        lambda p: f"/{p.day:%d-%m-%Y}/{p.slug}_{p.id}/",
        r"/\d{2}-\d{2}-\d{4}/[^/?]+_\d+/",
    ),
    Schema("section, slug, story", "codes", lambda p: f"/{p.section}/{p.slug}/story", r"/[a-z]+/[^/?]+/story"),
    Schema("r, id, slug", "lists", lambda p: f"/r~{p.id}/{p.slug}/", r"/r~\d+/[^/?]+/"),
    Schema("news, year, slug.htm", "codes", lambda p: f"/n/{p.day:%Y}/{p.slug}.htm", r"/n/\d{4}/[^/?]+\.htm"),
)
FAMILIES = {"press": SCHEMAS, "papers": PAPERS, "gazettes": GAZETTES}

"""The URL schemas of articles, and the rule that a person would write for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.support.sites.press.layout import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from tests.support.sites.press.layout import Layout

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

"""The tables of sitemaps and of the URLs that they list; see `crawl.site_sitemaps`.

These URLs are compared with the pages of their sites, and never become pages: a graph is made of links.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, NamedTuple

from crawlers.store.schema.rows import INSERT_NEW, UPSERT, BigInt, Name, SmallInt, table
from crawlers.store.schema.tables import metadata


class SitemapState(IntEnum):
    """What became of a sitemap."""

    WAITING = 0
    READ = 1
    UNREAD = 2  # for a reason


class SitemapRow(NamedTuple):
    """A sitemap, or an index of sitemaps, that a site has, or may have."""

    site_id: int
    key: Annotated[BigInt, "hash of `url`"]
    url: Annotated[str, "where it was requested"]
    address: Annotated[Name, "`scheme://host[:port]` at which the site was crawled then"]
    number: Annotated[int, "order in which those of an address are read"]
    index_key: Annotated[BigInt | None, "→ `sitemap.key` of the index that names it; NULL: none"]
    state: Annotated[SmallInt, "0: it waits; 1: read; 2: not read"]
    status: Annotated[SmallInt | None, "HTTP status; NULL: no response, or not requested"] = None
    kind: Annotated[Name | None, "`sitemap`, `news sitemap`, `sitemap index`, `rss`, `atom`, `json`"] = None
    reason: Annotated[str | None, "why it was not read, or not all of it, a [reason](states.md#reasons)"] = None
    urls: Annotated[int, "URLs of the site that it lists"] = 0
    outside: Annotated[int, "URLs of other sites, and those that the crawl leaves out"] = 0
    cut: Annotated[int, "URLs or sitemaps that a limit left out"] = 0
    read_at: Annotated[float | None, "when it was requested"] = None


sitemap = table("sitemap", metadata, SitemapRow, UPSERT, key=2, sqlite_with_rowid=False)


class SitemapUrlRow(NamedTuple):
    """A URL of a site that its sitemaps list."""

    site_id: int
    key: Annotated[BigInt, "→ `page.key` of the page with the same normal form"]
    url: Annotated[str, "the URL as it is listed"]
    sitemap_key: Annotated[BigInt, "→ `sitemap.key` of the first that lists it"]
    modified_at: Annotated[float | None, "last change, or publication, as listed"]


sitemap_url = table("sitemap_url", metadata, SitemapUrlRow, INSERT_NEW, key=2, sqlite_with_rowid=False)

"""The tables of sitemaps and of the URLs that they list; see `crawl.site_sitemaps`.

These URLs are compared with the pages of their sites, and never become pages: a graph is made of links.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from crawlers.storage.schema.rows import INSERT_NEW, UPSERT, BigInt, Name, SmallInt, table
from crawlers.storage.schema.tables import metadata


class SitemapState(IntEnum):
    """What became of a sitemap."""

    WAITING = 0
    READ = 1
    UNREAD = 2  # for a reason


class SitemapRow(NamedTuple):
    """A sitemap, or an index of sitemaps, that a site has, or may have."""

    site_id: int
    key: BigInt  # hash of its URL
    url: str
    address: Name  # scheme://host[:port] at which its site was crawled when it became known
    number: int  # the order in which the sitemaps of that address are read
    index_key: BigInt | None  # the index that names it; null = robots.txt does, or it is the usual place
    state: SmallInt
    status: SmallInt | None  # of HTTP; null = no response, or not requested
    kind: Name | None  # sitemap, news sitemap, sitemap index, rss, atom, json
    reason: str | None  # why it was not read, or not all of it
    urls: int  # of the site, as far as no limit cut them
    outside: int  # URLs of other sites, and those that the crawl leaves out
    cut: int  # URLs, or sitemaps that it names, that a limit cut
    read_at: float | None


sitemap = table("sitemap", metadata, SitemapRow, UPSERT, key=2, sqlite_with_rowid=False)


class SitemapUrlRow(NamedTuple):
    """A URL of a site that its sitemaps list."""

    site_id: int
    key: BigInt  # that of its page, see `page.key`
    url: str
    sitemap_key: BigInt  # the first sitemap that lists it
    modified_at: float | None  # the last change, or the publication of news, that it states


sitemap_url = table("sitemap_url", metadata, SitemapUrlRow, INSERT_NEW, key=2, sqlite_with_rowid=False)

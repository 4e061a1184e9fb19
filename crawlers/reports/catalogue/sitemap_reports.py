"""The sitemaps of the sites of a crawl, compared with the pages to which links lead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import and_, case, exists, literal_column, select, tuple_

from crawlers.items import State
from crawlers.reports.catalogue.conditions import by_code_points, equal, in_text, of_page, of_reason
from crawlers.reports.catalogue.index_walk import KeyedReport
from crawlers.reports.catalogue.page_reports import (
    FOUND,
    LEVEL,
    REASON,
    SITE,
    SIZE,
    STATE,
    STATUS,
    TITLE,
    LinkedPages,
    links_to,
)
from crawlers.reports.catalogue.page_reports import URL as PAGE_URL
from crawlers.reports.catalogue.report import Column, Group, Kind, Related
from crawlers.store.reading.url_counts import URL_KIND
from crawlers.store.schema.tables import SitemapState, page, site, sitemap, sitemap_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement, Select

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.index_walk import Part
    from crawlers.reports.catalogue.report import Cells

_STATES = {SitemapState.WAITING: "waiting", SitemapState.READ: "read", SitemapState.UNREAD: "not read"}
_index = sitemap.alias()
_first = page.alias()  # a page that represents another one
_EMPTY = (
    "Crawls of site graphs read the sitemaps that robots.txt names, or /sitemap.xml, before the first page of a site, "
    "unless SITEMAPS_ENABLED=0."
)
_NOTHING_TO_COMPARE = (
    'Nothing differs, or there was no sitemap to compare with: the report "Sitemaps" says what was read, and why not.'
)
_IS_READ = sitemap.c.state == int(SitemapState.READ)
# No parameter, so that SQLite uses the partial index.
_IS_DONE: ColumnElement[Any] = literal_column(str(int(State.DONE)))

URL = Column("url", "URL", Kind.URL, sitemap_url.c.url)
SITEMAP = Column("sitemap", "Sitemap", Kind.URL, sitemap.c.url, "the first one that lists it")


class Sitemaps(KeyedReport):
    """The sitemaps that were read, and those that could not be."""

    name = "sitemaps"
    title = "Sitemaps"
    group = Group.SITEMAPS
    about = (
        "The sitemaps that robots.txt or an index of them names, or /sitemap.xml, with the numbers of their URLs: were "
        "they read, and if not, why?"
    )
    columns = (
        Column("url", "Sitemap", Kind.URL, sitemap.c.url),
        SITE,
        Column("result", "Result", Kind.STATE, case(_STATES, value=sitemap.c.state)),
        Column("status", "HTTP status", Kind.NUMBER, sitemap.c.status),
        Column("reason", "Reason", Kind.REASON, sitemap.c.reason, "why it was not read, or not all of it"),
        Column("format", "Format", Kind.STATE, sitemap.c.kind),
        Column("urls", "URLs", Kind.COUNT, sitemap.c.urls),
        Column("outside", "Of other sites, or left out", Kind.COUNT, sitemap.c.outside),
        Column("cut", "Beyond a limit", Kind.COUNT, sitemap.c.cut),
        Column("index", "Named by", Kind.URL, _index.c.url, "an index of sitemaps; empty: robots.txt, or nothing"),
        Column("read_at", "Read", Kind.TIME, sitemap.c.read_at),
    )
    conditions: ClassVar = {
        "text": in_text(sitemap.c.url),
        "reason": of_reason(sitemap.c.reason),
        "status": equal(sitemap.c.status),
    }
    cursor_kinds = (int, int, int)  # site, number, key
    empty = _EMPTY

    key = (sitemap.c.number, sitemap.c.key)

    def of_site(self, site_id: int, filters: Filters) -> Iterator[Part]:
        yield (site_id,), [sitemap.c.site_id == site_id]

    def statement(self) -> Select[Any]:
        return (
            select(*self.key, *self.values)
            .join(site, site.c.id == sitemap.c.site_id)
            .outerjoin(_index, and_(_index.c.site_id == sitemap.c.site_id, _index.c.key == sitemap.c.index_key))
        )


class _ListedUrls(KeyedReport):
    """URLs of sitemaps, with what the crawl knows of them."""

    group = Group.SITEMAPS
    conditions: ClassVar = {"text": in_text(sitemap_url.c.url)}
    cursor_kinds = (int, int)  # site, key
    empty = _NOTHING_TO_COMPARE

    where: ClassVar[ColumnElement[bool]]

    key = (sitemap_url.c.key,)

    def of_site(self, site_id: int, filters: Filters) -> Iterator[Part]:
        yield (site_id,), [sitemap_url.c.site_id == site_id]

    def statement(self) -> Select[Any]:
        its_sitemap = and_(sitemap.c.site_id == sitemap_url.c.site_id, sitemap.c.key == sitemap_url.c.sitemap_key)
        its_page = and_(page.c.site_id == sitemap_url.c.site_id, page.c.key == sitemap_url.c.key)
        urls = select(*self.key, *self.values).outerjoin(sitemap, its_sitemap).outerjoin(page, its_page)
        return urls.where(self.where)


class InSitemapOnly(_ListedUrls):
    """URLs of sitemaps to which no link leads."""

    name = "in-sitemap-only"
    title = "In a sitemap, but not linked"
    about = (
        "Orphans: URLs that a sitemap of the site lists, and to which no links or redirects lead from the start URL. "
        "Links of such URLs to themselves or to each other do not count, because the crawl does not request them. "
        "As long as it is not finished, it may find links to some of them."
    )
    columns = (
        URL,
        SITEMAP,
        Column("modified_at", "Last change, as listed", Kind.TIME, sitemap_url.c.modified_at),
    )
    where = page.c.id.is_(None)


class SitemapErrors(_ListedUrls):
    """URLs of sitemaps that are no pages."""

    name = "sitemap-errors"
    title = "In a sitemap, but not a page"
    about = (
        "URLs that a sitemap of the site lists, and links lead to, but which redirect, respond with an error, are no "
        "HTML, or were not requested: a sitemap should list pages only."
    )
    columns = (URL, STATE, STATUS, REASON, LEVEL, SITEMAP)
    conditions: ClassVar = {
        **_ListedUrls.conditions,
        "state": equal(URL_KIND),
        "status": equal(page.c.status),
        "reason": of_reason(page.c.reason),
    }
    where = page.c.state != int(State.DONE)

    def related(self, cells: Cells) -> Related | None:
        return links_to(cells[0])


class NotInSitemap(LinkedPages):
    """Pages that no sitemap of their site lists."""

    name = "not-in-sitemap"
    title = "Linked, but not in a sitemap"
    group = Group.SITEMAPS
    about = (
        "Pages that were read, and that no sitemap of their site lists, although search engines may show them: pages "
        "that ask not to be indexed, name another canonical URL, or are duplicates are left out. Sites are left out of "
        "which no sitemap was read."
    )
    columns = (PAGE_URL, TITLE, LEVEL, SIZE, FOUND)
    conditions = of_page("text")
    scope = frozenset({"site", "level"})
    states = (State.DONE,)
    empty = _NOTHING_TO_COMPARE
    where = (
        exists().where(sitemap.c.site_id == page.c.site_id, _IS_READ, sitemap.c.urls > 0),
        ~exists().where(sitemap_url.c.site_id == page.c.site_id, sitemap_url.c.key == page.c.key),
        page.c.is_indexable.is_not(False),
        ~exists().where(
            _first.c.site_id == page.c.site_id,
            _first.c.content_hash == page.c.content_hash,
            _first.c.state == _IS_DONE,
            # URLs in the order of code points, as in graphs
            tuple_(_first.c.level, by_code_points(_first.c.url)) < tuple_(page.c.level, by_code_points(page.c.url)),
        ),
    )

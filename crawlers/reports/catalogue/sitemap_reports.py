"""The sitemaps of the sites of a crawl, compared with the pages to which links lead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import and_, case, exists, literal_column, select, tuple_

from crawlers.items import State
from crawlers.reports.catalogue.conditions import by_code_points, equal, in_text, of_page, of_reason, sites_from
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
from crawlers.reports.catalogue.page_walk import FIRST_STEP
from crawlers.reports.catalogue.report import KEYS, NUMBERS, PAGE_NUMBERS, Group, Related, Report, Row, Step
from crawlers.reports.catalogue.table import Column, Kind
from crawlers.storage.schema.sitemap_tables import SitemapState, sitemap, sitemap_url
from crawlers.storage.schema.tables import page, site
from crawlers.storage.url_kinds import URL_KIND

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from crawlers.reports.catalogue.filters import Filters
    from crawlers.reports.catalogue.report import Cursor
    from crawlers.reports.catalogue.table import Cells

SITES_AT_ONCE = 50  # with a hundred sitemaps each
URLS_AT_ONCE = 1000
MISSIONS = frozenset({"sitegraph"})  # the one that reads sitemaps
_LAST = 2**63 - 1
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


class Sitemaps(Report):
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
    cursor_ranges = (NUMBERS, range(2**31), KEYS)  # site, number, key
    missions = MISSIONS
    empty = _EMPTY

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        place = (sitemap.c.site_id, sitemap.c.number, sitemap.c.key)
        rows = (
            select(*place, *self.values)
            .join(site, site.c.id == sitemap.c.site_id)
            .outerjoin(_index, and_(_index.c.site_id == sitemap.c.site_id, _index.c.key == sitemap.c.index_key))
            .where(*self.met(filters))
            .order_by(*place)
        )
        numbers = sites_from(connection, crawl_id, filters, _first_site(after))
        for first in range(0, len(numbers), SITES_AT_ONCE):
            some = numbers[first : first + SITES_AT_ONCE]
            here = rows.where(sitemap.c.site_id.in_(some))
            if after is not None:
                here = here.where(tuple_(*place) > after)
            found = [Row(tuple(one[3:]), tuple(one[:3])) for one in connection.execute(here)]
            yield Step(found, (some[-1], 2**31 - 1, _LAST))
        yield Step([], None)


def _first_site(after: Cursor | None) -> int:
    """Return the first site that a report reads after a cursor, which may be at the end of one."""
    return 0 if after is None else after[0] + (after[-1] == _LAST)


class _ListedUrls(Report):
    """URLs of sitemaps, with what the crawl knows of them."""

    group = Group.SITEMAPS
    conditions: ClassVar = {"text": in_text(sitemap_url.c.url)}
    cursor_ranges = (NUMBERS, PAGE_NUMBERS)  # site, key
    missions = MISSIONS
    empty = _NOTHING_TO_COMPARE

    where: ClassVar[ColumnElement[bool]]

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        number = URLS_AT_ONCE if filters.given else FIRST_STEP
        for site_id in sites_from(connection, crawl_id, filters, _first_site(after)):
            here = after[1] if after is not None and after[0] == site_id else -1
            while keys := self._keys(connection, site_id, here, number):
                here = keys[-1]
                rows = connection.execute(self._rows(site_id, keys, filters))
                yield Step([Row(tuple(one[1:]), (site_id, one[0])) for one in rows], (site_id, here))
                if len(keys) < number:
                    break
                number = URLS_AT_ONCE
            yield Step([], (site_id, _LAST))
        yield Step([], None)

    def _keys(self, connection: Connection, site_id: int, after: int, number: int) -> Sequence[int]:
        """Return the keys of the next URLs from the table alone, so that no filter makes the step longer."""
        of_site = (sitemap_url.c.site_id == site_id, sitemap_url.c.key > after)
        keys = select(sitemap_url.c.key).where(*of_site).order_by(sitemap_url.c.key).limit(number)
        return connection.execute(keys).scalars().all()

    def _rows(self, site_id: int, keys: Sequence[int], filters: Filters) -> Select[Any]:
        its_sitemap = and_(sitemap.c.site_id == sitemap_url.c.site_id, sitemap.c.key == sitemap_url.c.sitemap_key)
        its_page = and_(page.c.site_id == sitemap_url.c.site_id, page.c.key == sitemap_url.c.key)
        return (
            select(sitemap_url.c.key, *self.values)
            .outerjoin(sitemap, its_sitemap)
            .outerjoin(page, its_page)
            .where(sitemap_url.c.site_id == site_id, sitemap_url.c.key.in_(keys), self.where, *self.met(filters))
            .order_by(sitemap_url.c.key)
        )


class InSitemapOnly(_ListedUrls):
    """URLs of sitemaps to which no link leads."""

    name = "in-sitemap-only"
    title = "In a sitemap, but not linked"
    about = (
        "Orphans: URLs that a sitemap of the site lists, and to which no links or redirects lead from the start page. "
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
    missions = MISSIONS
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

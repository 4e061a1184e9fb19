"""The sitemaps of the sites of a crawl, compared with the pages to which links lead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import and_, collate, exists, literal_column, select, tuple_

from crawlers.items import State
from crawlers.reports.catalogue.crawl_report import (
    KEYS,
    NUMBERS,
    PAGE_NUMBERS,
    Column,
    Group,
    Kind,
    Related,
    Report,
    Row,
    Step,
)
from crawlers.reports.catalogue.crawl_scope import page_contains, sites_from
from crawlers.reports.catalogue.page_list import COLUMNS, links_to
from crawlers.reports.catalogue.page_steps import FIRST_STEP, POSITIONS, PageWalk, Position
from crawlers.reports.catalogue.text_filter import contains
from crawlers.storage.schema.sitemap_tables import SitemapState, sitemap, sitemap_url
from crawlers.storage.schema.tables import page, site
from crawlers.storage.url_kinds import is_kind, kind_of, states_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from crawlers.reports.catalogue.crawl_report import Cursor
    from crawlers.reports.catalogue.filters import Filters
    from crawlers.storage.files.cells import Value

SITES_AT_ONCE = 50  # with a hundred sitemaps each
URLS_AT_ONCE = 1000
MISSIONS = frozenset({"sitegraph"})  # the one that reads sitemaps
_LAST = 2**63 - 1
_STATES = {SitemapState.WAITING: "waiting", SitemapState.READ: "read", SitemapState.UNREAD: "not read"}
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
        Column("url", "Sitemap", Kind.URL),
        Column("site", "Site"),
        Column("result", "Result", Kind.WORDS),
        Column("status", "HTTP status", Kind.NUMBER),
        Column("reason", "Reason", Kind.WORDS),
        Column("format", "Format", Kind.WORDS),
        Column("urls", "URLs", Kind.NUMBER),
        Column("outside", "Of other sites, or left out", Kind.NUMBER),
        Column("cut", "Beyond a limit", Kind.NUMBER),
        Column("index", "Named by", Kind.URL),
        Column("read_at", "Read", Kind.TIME),
    )
    filters = frozenset({"site", "text", "status", "reason"})
    cursor_ranges = (NUMBERS, range(2**31), KEYS)  # site, number, key
    missions = MISSIONS
    empty = _EMPTY

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        index = sitemap.alias()
        place = tuple_(sitemap.c.site_id, sitemap.c.number, sitemap.c.key)
        rows = (
            select(sitemap, site.c.site, index.c.url.label("index_url"))
            .join(site, site.c.id == sitemap.c.site_id)
            .outerjoin(index, and_(index.c.site_id == sitemap.c.site_id, index.c.key == sitemap.c.index_key))
            .where(*self._conditions(filters))
            .order_by(sitemap.c.site_id, sitemap.c.number, sitemap.c.key)
        )
        numbers = sites_from(connection, crawl_id, filters, _first_site(after))
        for first in range(0, len(numbers), SITES_AT_ONCE):
            some = numbers[first : first + SITES_AT_ONCE]
            here = rows.where(sitemap.c.site_id.in_(some))
            if after is not None:
                here = here.where(place > after)
            found = [_sitemap_row(one) for one in connection.execute(here)]
            yield Step(found, (some[-1], 2**31 - 1, _LAST))
        yield Step([], None)

    def _conditions(self, filters: Filters) -> Iterator[ColumnElement[bool]]:
        if filters.text:
            yield contains(sitemap.c.url, filters.text)
        if filters.reason:
            yield contains(sitemap.c.reason, filters.reason)
        if filters.status is not None:
            yield sitemap.c.status == filters.status


def _first_site(after: Cursor | None) -> int:
    """Return the first site that a report reads after a cursor, which may be at the end of one."""
    return 0 if after is None else after[0] + (after[-1] == _LAST)


def _sitemap_row(one: Any) -> Row:
    cells = (
        one.url,
        one.site,
        _STATES[SitemapState(one.state)],
        one.status,
        one.reason,
        one.kind,
        one.urls,
        one.outside,
        one.cut,
        one.index_url,
        one.read_at,
    )
    return Row(cells, (one.site_id, one.number, one.key))


class _ListedUrls(Report):
    """URLs of sitemaps, with what the crawl knows of them."""

    group = Group.SITEMAPS
    cursor_ranges = (NUMBERS, PAGE_NUMBERS)  # site, key
    missions = MISSIONS
    empty = _NOTHING_TO_COMPARE

    condition: ClassVar[ColumnElement[bool]]

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        number = URLS_AT_ONCE if filters.given else FIRST_STEP
        for site_id in sites_from(connection, crawl_id, filters, _first_site(after)):
            here = after[1] if after is not None and after[0] == site_id else -1
            while keys := self._keys(connection, site_id, here, number):
                here = keys[-1]
                rows = connection.execute(self._rows(site_id, keys, filters))
                yield Step([Row(self._worded(one)[1:], (site_id, one[0])) for one in rows], (site_id, here))
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
        rows = (
            select(sitemap_url.c.key, *self._selected())
            .outerjoin(sitemap, its_sitemap)
            .outerjoin(page, its_page)
            .where(sitemap_url.c.site_id == site_id, sitemap_url.c.key.in_(keys), self.condition)
            .order_by(sitemap_url.c.key)
        )
        if filters.text:
            rows = rows.where(contains(sitemap_url.c.url, filters.text))
        if filters.status is not None:
            rows = rows.where(page.c.status == filters.status)
        if filters.reason:
            rows = rows.where(contains(page.c.reason, filters.reason))
        if filters.state is not None:
            states = [int(state) for state in states_of(filters.state)]
            rows = rows.where(page.c.state.in_(states), is_kind(filters.state))
        return rows

    def _selected(self) -> tuple[ColumnElement[Any], ...]:
        raise NotImplementedError

    def _worded(self, one: Any) -> tuple[Value, ...]:
        return tuple(one)


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
        Column("url", "URL", Kind.URL),
        Column("sitemap", "Sitemap", Kind.URL),
        Column("modified_at", "Last change, as listed", Kind.TIME),
    )
    filters = frozenset({"site", "text"})
    condition = page.c.id.is_(None)

    def _selected(self) -> tuple[ColumnElement[Any], ...]:
        return sitemap_url.c.url, sitemap.c.url, sitemap_url.c.modified_at


class SitemapErrors(_ListedUrls):
    """URLs of sitemaps that are no pages."""

    name = "sitemap-errors"
    title = "In a sitemap, but not a page"
    about = (
        "URLs that a sitemap of the site lists, and links lead to, but which redirect, respond with an error, are no "
        "HTML, or were not requested: a sitemap should list pages only."
    )
    columns = (
        Column("url", "URL", Kind.URL),
        Column("state", "State", Kind.STATE),
        Column("status", "HTTP status", Kind.NUMBER),
        Column("reason", "Reason", Kind.WORDS),
        Column("level", "Level", Kind.NUMBER),
        Column("sitemap", "Sitemap", Kind.URL),
    )
    filters = frozenset({"site", "text", "state", "status", "reason"})
    condition = page.c.state != int(State.DONE)

    def _selected(self) -> tuple[ColumnElement[Any], ...]:
        return sitemap_url.c.url, page.c.state, page.c.status, page.c.reason, page.c.level, sitemap.c.url

    def _worded(self, one: Any) -> tuple[Value, ...]:
        return (*one[:2], kind_of(State(one.state), one.status), *one[3:])

    def related(self, cells: tuple[Value, ...]) -> Related | None:
        return links_to(cells[0])


class NotInSitemap(Report):
    """Pages that no sitemap of their site lists."""

    name = "not-in-sitemap"
    title = "Linked, but not in a sitemap"
    group = Group.SITEMAPS
    about = (
        "Pages that were read, and that no sitemap of their site lists, although search engines may show them: pages "
        "that ask not to be indexed, name another canonical URL, or are duplicates are left out. Sites are left out of "
        "which no sitemap was read."
    )
    columns = tuple(COLUMNS[name] for name in ("url", "title", "level", "size_bytes", "found_at"))
    filters = frozenset({"site", "text", "level"})
    cursor_ranges = POSITIONS
    states = (State.DONE,)
    missions = MISSIONS
    empty = _NOTHING_TO_COMPARE

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        stored = [page.c[column.name] for column in self.columns]
        length = len(Position._fields)
        conditions = list(self._conditions(filters, is_sqlite=connection.dialect.name == "sqlite"))
        walk = PageWalk(connection, crawl_id, filters, stored, conditions, self.states)
        for pages, position in walk.steps(Position(*after) if after is not None else None):
            rows = [Row(tuple(one[length:]), tuple(one[:length])) for one in pages]
            yield Step(rows, position)

    def _conditions(self, filters: Filters, *, is_sqlite: bool) -> Iterator[ColumnElement[bool]]:
        yield exists().where(sitemap.c.site_id == page.c.site_id, _IS_READ, sitemap.c.urls > 0)
        yield ~exists().where(sitemap_url.c.site_id == page.c.site_id, sitemap_url.c.key == page.c.key)
        yield page.c.is_indexable.is_not(False)
        first = page.alias()

        def place(one: Any) -> tuple[Any, Any]:  # URLs in the order of code points, as in graphs
            return one.c.level, one.c.url if is_sqlite else collate(one.c.url, "C")

        yield ~exists().where(
            first.c.site_id == page.c.site_id,
            first.c.content_hash == page.c.content_hash,
            first.c.state == _IS_DONE,
            tuple_(*place(first)) < tuple_(*place(page)),
        )
        if filters.text:
            yield page_contains(filters.text)

    def related(self, cells: tuple[Value, ...]) -> Related | None:
        return links_to(cells[0])

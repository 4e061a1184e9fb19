"""The links within the sites of a crawl, and those that are no links: one row for each, by the page that holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from crawlers.items import State
from crawlers.reports.catalogue.crawl_report import KEYS, PAGE_NUMBERS, Column, Group, Kind, LinkReport, Row, Step
from crawlers.reports.catalogue.page_steps import POSITIONS, PageWalk, Position
from crawlers.reports.catalogue.text_filter import contains, is_host
from crawlers.storage.link_removal import bad_link_key, remove_bad, remove_internal
from crawlers.storage.schema.tables import bad_link, link, link_anchor, page, site
from crawlers.storage.url_kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.crawl_report import Cursor
    from crawlers.reports.catalogue.filters import Filters

    RowsOf = Callable[[Sequence[Any]], Iterator[Row]]

HOLDERS_AT_ONCE = 100  # pages, of 70 links on average: their targets are read one by one


def steps_of_holders(walk: PageWalk, rows_of: RowsOf, after: Cursor | None, end: Cursor) -> Iterator[Step]:
    """Yield what *rows_of* finds on the pages of *walk*, after the cursor *after*.

    A cursor is that of the page, and the place of the row on it, which is below *end*.
    """
    length = len(Position._fields)
    place = Position(*after[:length]) if after is not None else None
    is_within = after is not None and after[length:] != end
    for pages, position in walk.steps(place, is_included=is_within):
        rows = rows_of(pages) if pages else iter(())
        found = [row for row in rows if row.cursor > after] if is_within and after is not None else list(rows)
        yield Step(found, (*position, *end) if position is not None else None)


class InternalLinks(LinkReport):
    """Links from pages to URLs of the same crawl."""

    name = "internal-links"
    title = "Internal links"
    group = Group.LINKS
    about = "Every link from a page of the crawl to another URL of it, by the page that holds the link."
    columns = (
        Column("page", "Page", Kind.URL),
        Column("url", "Target", Kind.URL),
        Column("anchor", "Text"),
        Column("links", "Links", Kind.NUMBER),
        Column("level", "Level of the page", Kind.NUMBER),
        Column("target_state", "State", Kind.STATE),
        Column("status", "HTTP status", Kind.NUMBER),
        Column("target_level", "Level of the target", Kind.NUMBER),
    )
    filters = frozenset({"site", "host", "text", "anchor", "level", "status", "since", "until"})
    cursor_ranges = (*POSITIONS, PAGE_NUMBERS)  # of the page, target
    states = (State.DONE,)
    link_kind = "internal"
    _END = (2**63 - 1,)

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        def rows_of(pages: Sequence[Any]) -> Iterator[Row]:
            return self._rows(connection, pages, filters)

        walk = PageWalk(connection, crawl_id, filters, [page.c.url], states=self.states, at_once=HOLDERS_AT_ONCE)
        return steps_of_holders(walk, rows_of, after, self._END)

    def remove(self, connection: Connection, keys: Sequence[tuple[int, ...]]) -> int:
        return remove_internal(connection, keys)

    def _rows(self, connection: Connection, pages: Sequence[Any], filters: Filters) -> Iterator[Row]:
        is_text = (link_anchor.c.source_id == link.c.source_id) & (link_anchor.c.target_id == link.c.target_id)
        links = (
            select(
                link.c.source_id,
                link.c.target_id,
                link.c["count"],
                page.c.url,
                page.c.state,
                page.c.status,
                page.c.level,
                link_anchor.c.anchor,
            )
            .join(page, page.c.id == link.c.target_id)
            .outerjoin(link_anchor, is_text)
            .where(link.c.source_id.in_([one.id for one in pages]))
            .order_by(link.c.source_id, link.c.target_id)
        )
        if filters.text:
            links = links.where(or_(contains(page.c.url, filters.text), contains(link_anchor.c.anchor, filters.text)))
        if filters.anchor:
            links = links.where(contains(link_anchor.c.anchor, filters.anchor))
        if filters.host:
            links = links.join(site, site.c.id == page.c.site_id).where(is_host(site.c.site, filters.host))
        if filters.status is not None:
            links = links.where(page.c.status == filters.status)
        of_page: dict[int, list[Any]] = {}
        for one in connection.execute(links):
            of_page.setdefault(one.source_id, []).append(one)
        for holder in pages:
            for one in of_page.get(holder.id, ()):
                state = kind_of(State(one.state), one.status)
                cells = (
                    holder.url,
                    one.url,
                    one.anchor,
                    one[2],  # `count` of a row is its method
                    holder.level,
                    state,
                    one.status,
                    one.level,
                )
                yield Row(cells, (*holder[: len(Position._fields)], one.target_id))


class BadLinks(LinkReport):
    """Links that can't be followed."""

    name = "bad-links"
    title = "Bad links"
    group = Group.ERRORS
    about = "What pages link to although it is not the URL of a page: malformed addresses, and schemes such as mailto."
    columns = (
        Column("link", "Link as it is written"),
        Column("reason", "Reason", Kind.WORDS),
        Column("anchor", "Text"),
        Column("links", "Links", Kind.NUMBER),
        Column("page", "Page", Kind.URL),
        Column("level", "Level", Kind.NUMBER),
    )
    filters = frozenset({"site", "text", "anchor", "level", "reason", "since", "until"})
    cursor_ranges = (*POSITIONS, KEYS)  # of the page, key of the link
    states = (State.DONE,)
    link_kind = "bad"
    _END = (2**63 - 1,)

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        def rows_of(pages: Sequence[Any]) -> Iterator[Row]:
            return self._rows(connection, pages, filters)

        walk = PageWalk(connection, crawl_id, filters, [page.c.url], states=self.states)
        return steps_of_holders(walk, rows_of, after, self._END)

    def remove(self, connection: Connection, keys: Sequence[tuple[int, ...]]) -> int:
        return remove_bad(connection, keys)

    def _rows(self, connection: Connection, pages: Sequence[Any], filters: Filters) -> Iterator[Row]:
        links = select(bad_link).where(bad_link.c.page_id.in_([one.id for one in pages]))
        of_page: dict[int, list[Any]] = {}
        for one in connection.execute(links):
            of_page.setdefault(one.page_id, []).append(one)
        for holder in pages:
            on_page = {bad_link_key(one.raw, one.reason): one for one in of_page.get(holder.id, ())}
            for key, (_, raw, reason, count, anchor) in sorted(on_page.items()):
                text = (anchor or "").lower()
                is_met = filters.text.lower() in f"{raw}\n{text}".lower() and filters.reason.lower() in reason.lower()
                if is_met and filters.anchor.lower() in text:
                    cells = (raw, reason, anchor, count, holder.url, holder.level)
                    yield Row(cells, (*holder[: len(Position._fields)], key))

"""The links of a crawl whose targets can't be loaded, or are no URLs, with every page that holds one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.items import State
from crawlers.reports.catalogue.crawl_report import PAGE_NUMBERS, Column, Group, Kind, Related, Report, Row, Step
from crawlers.reports.catalogue.filters import MAX_CHARS
from crawlers.reports.catalogue.link_lists import HOLDERS_AT_ONCE, steps_of_holders
from crawlers.reports.catalogue.page_steps import POSITIONS, PageWalk, Position
from crawlers.storage.broken_pages import OTHER_SCHEME, broken_ends_of, problems_of
from crawlers.storage.schema.tables import bad_link, link_anchor, page
from crawlers.storage.streaming import streamed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.crawl_report import Cursor
    from crawlers.reports.catalogue.filters import Filters
    from crawlers.storage.files.cells import Value

_LINKS, _BAD = 0, 1  # in the order of a page: links to URLs first, then links that are no URLs
_HELD = f"""
    SELECT source_id, target_id, count FROM link JOIN page ON page.id = target_id
    WHERE source_id {{ids}} AND state IN ({State.MOVED:d}, {State.REFUSED:d}, {State.FAILED:d})
    ORDER BY source_id, target_id"""  # noqa: S608


class BrokenLinks(Report):
    """Broken links by the page that holds them."""

    name = "broken-links"
    title = "Broken links"
    group = Group.ERRORS
    about = (
        "Links whose targets did not respond, responded with an error or are no URLs, with every page that holds one."
    )
    columns = (
        Column("url", "Target", Kind.URL),
        Column("status", "HTTP status", Kind.NUMBER),
        Column("reason", "Reason", Kind.WORDS),
        Column("anchor", "Text"),
        Column("links", "Links", Kind.NUMBER),
        Column("page", "Page", Kind.URL),
        Column("level", "Level", Kind.NUMBER),
    )
    filters = frozenset({"site", "text", "level", "status", "reason"})
    cursor_ranges = (*POSITIONS, range(3), PAGE_NUMBERS)  # of the page, links or bad links, target or place
    states = (State.DONE,)
    _END = (2, 0)

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        def rows_of(pages: Sequence[Any]) -> Iterator[Row]:
            return self._rows(connection, pages, filters)

        walk = PageWalk(connection, crawl_id, filters, [page.c.url], states=self.states, at_once=HOLDERS_AT_ONCE)
        return steps_of_holders(walk, rows_of, after, self._END)

    def _rows(self, connection: Connection, pages: Sequence[Any], filters: Filters) -> Iterator[Row]:
        page_ids = [one.id for one in pages]
        links = list(streamed(connection, _HELD, ids=page_ids))
        ends = broken_ends_of(connection, {target for _, target, _ in links})
        held: dict[int, list[tuple[int, int]]] = {}
        for source, target, count in links:
            if target in ends:
                held.setdefault(source, []).append((target, count))
        problems = problems_of(connection, ends, {target for links in held.values() for target, _ in links})
        anchors = select(link_anchor).where(link_anchor.c.source_id.in_(held))
        texts = {(source, target): anchor for source, target, anchor in connection.execute(anchors)}
        bad: dict[int, list[Any]] = {}
        is_broken = bad_link.c.page_id.in_(page_ids) & ~bad_link.c.reason.startswith(OTHER_SCHEME)
        for one in connection.execute(select(bad_link).where(is_broken)):
            bad.setdefault(one.page_id, []).append(one)
        for holder in pages:
            place = tuple(holder[: len(Position._fields)])
            for target, count in held.get(holder.id, ()):
                anchor = texts.get((holder.id, target))
                yield from _meeting(filters, problems[target], anchor, count, holder, (*place, _LINKS, target))
            on_page = sorted(bad.get(holder.id, ()), key=lambda one: (one.raw, one.reason))
            for number, (_, raw, reason, count, anchor) in enumerate(on_page):
                yield from _meeting(filters, (raw, None, reason), anchor, count, holder, (*place, _BAD, number))

    def related(self, cells: tuple[Value, ...]) -> Related | None:
        target = str(cells[0])
        return Related(self.name, {"text": target}) if len(target) <= MAX_CHARS else None


def _meeting(
    filters: Filters,
    problem: tuple[str, int | None, str | None],
    anchor: str | None,
    count: int,
    holder: Any,
    cursor: Cursor,
) -> Iterator[Row]:
    url, status, reason = problem
    if (
        filters.text.lower() in f"{url}\n{anchor or ''}".lower()
        and filters.reason.lower() in (reason or "").lower()
        and filters.status in (None, status)
    ):
        yield Row((url, status, reason, anchor, count, holder.url, holder.level), cursor)

"""The URLs of a crawl, and those of them that have something in common: one row for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import or_

from crawlers.items import State
from crawlers.reports.catalogue.crawl_report import Column, Group, Kind, Related, Report, Row, Step
from crawlers.reports.catalogue.crawl_scope import page_contains
from crawlers.reports.catalogue.filters import MAX_CHARS
from crawlers.reports.catalogue.page_steps import POSITIONS, PageWalk, Position
from crawlers.reports.catalogue.text_filter import contains
from crawlers.reports.crawl_overview import guesses_in
from crawlers.storage.crawl_results import is_vain_guess
from crawlers.storage.schema.tables import page, site
from crawlers.storage.url_kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from sqlalchemy import ColumnElement, Connection

    from crawlers.reports.catalogue.crawl_report import Cursor
    from crawlers.reports.catalogue.filters import Filters
    from crawlers.storage.files.cells import Value

COLUMNS = {
    "url": Column("url", "URL", Kind.URL),
    "state": Column("state", "State", Kind.STATE),
    "status": Column("status", "HTTP status", Kind.NUMBER),
    "reason": Column("reason", "Reason", Kind.WORDS),
    "level": Column("level", "Level", Kind.NUMBER),
    "title": Column("title", "Title"),
    "content_type": Column("content_type", "Type"),
    "size_bytes": Column("size_bytes", "Size", Kind.BYTES),
    "found_at": Column("found_at", "Found", Kind.TIME),
    "requested_at": Column("requested_at", "Requested", Kind.TIME),
}
_STORED = {"requested_at": "fetched_at"}  # others have the name of their column in the store


class PageList(Report):
    """URLs by site, state and level."""

    columns: ClassVar[tuple[Column, ...]]
    states: ClassVar[Sequence[State]] = tuple(State)
    cursor_ranges = POSITIONS

    def conditions(self, filters: Filters) -> Iterator[ColumnElement[bool]]:
        """Yield what the URLs have in common, besides their states."""
        if filters.text:
            yield page_contains(filters.text)
        if filters.reason:
            yield contains(page.c.reason, filters.reason)
        if filters.status is not None:
            yield page.c.status == filters.status

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        stored = [page.c[_STORED.get(column.name, column.name)] for column in self.columns]
        conditions = list(self.conditions(filters))
        if filters.state is not None and (guesses := guesses_in(connection, crawl_id)):  # which no sum counts
            conditions += [site.c.id == page.c.site_id, ~is_vain_guess(guesses)]
        walk = PageWalk(connection, crawl_id, filters, stored, conditions, self.states)
        for pages, position in walk.steps(Position(*after) if after is not None else None):
            yield Step([Row(self._cells(one), tuple(one[: len(POSITIONS)])) for one in pages], position)

    def _cells(self, one: Any) -> tuple[Value, ...]:
        cells = zip(self.columns, one[len(POSITIONS) :], strict=True)
        return tuple(kind_of(State(value), one.status) if column.name == "state" else value for column, value in cells)


class Pages(PageList):
    """All URLs."""

    name = "pages"
    title = "Pages"
    group = Group.CONTENTS
    about = (
        "Every URL of the sites of the crawl, with what became of it and why: a page, a redirect, an error (no "
        "response, or a status of an error), another response that is not a page, waiting, or not requested."
    )
    columns = tuple(COLUMNS.values())
    filters = frozenset({"site", "text", "level", "state", "status", "reason", "since", "until"})


class MissingTitles(PageList):
    """Pages without a title."""

    name = "missing-titles"
    title = "Pages without a title"
    group = Group.CONTENT
    about = "Pages that have no title, or an empty one: search engines and browsers show their URL instead."
    columns = tuple(COLUMNS[name] for name in ("url", "level", "status", "content_type", "size_bytes", "requested_at"))
    filters = frozenset({"site", "text", "level", "since", "until"})
    states = (State.DONE,)

    def conditions(self, filters: Filters) -> Iterator[ColumnElement[bool]]:
        yield from super().conditions(filters)
        yield or_(page.c.title.is_(None), page.c.title == "")

    def related(self, cells: tuple[Value, ...]) -> Related | None:
        return links_to(cells[0])


class RobotsRefusals(PageList):
    """URLs that robots.txt forbids."""

    name = "robots-refusals"
    title = "Refused by robots.txt"
    group = Group.REFUSALS
    about = "URLs that were found and not requested, because robots.txt disallows them or could not be read."
    columns = tuple(COLUMNS[name] for name in ("url", "reason", "level", "found_at"))
    filters = frozenset({"site", "text", "level", "reason"})
    states = (State.REJECTED,)

    def conditions(self, filters: Filters) -> Iterator[ColumnElement[bool]]:
        yield from super().conditions(filters)
        yield contains(page.c.reason, "robots.txt")

    def related(self, cells: tuple[Value, ...]) -> Related | None:
        return links_to(cells[0])


def links_to(url: Value) -> Related | None:
    """Return where the links to *url* are listed, unless it is too long for a filter."""
    return Related("internal-links", {"text": url}) if isinstance(url, str) and len(url) <= MAX_CHARS else None

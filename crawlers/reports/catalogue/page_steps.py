"""Walks through the pages of a crawl in bounded steps: by site, state, level and number, in the order of one index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select, tuple_

from crawlers.items import State
from crawlers.storage.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Row

    from crawlers.reports.catalogue.filters import Filters

FIRST_STEP = 100  # pages: without filters, they fill what a person looks at
PAGES_AT_ONCE = 1000
END = (2**31 - 1, 2**63 - 1)  # after every level and page of a state


class Position(NamedTuple):
    """The place of a page in the walk."""

    site_id: int
    state: int
    level: int
    page_id: int


class PageStep(NamedTuple):
    """Pages with the wanted columns; the walk goes on after *position*, which is None at its end."""

    pages: Sequence[Row[Any]]  # site_id, state, level and id come first
    position: Position | None


class PageWalk:
    """The pages of a crawl that are in some of the *states* and meet the filters and the *conditions*.

    Obeys the filters `site`, `state`, `level`, `since` and `until`, which are about the time of the request.
    """

    def __init__(
        self,
        connection: Connection,
        crawl_id: int,
        filters: Filters,
        columns: Sequence[ColumnElement[Any]],
        conditions: Sequence[ColumnElement[bool]] = (),
        states: Sequence[State] = tuple(State),
        at_once: int = PAGES_AT_ONCE,
    ) -> None:
        self._connection = connection
        self._crawl_id = crawl_id
        self._filters = filters
        self._at_once = at_once
        self._states = sorted(state for state in states if filters.state in (None, state))
        self._pages = select(page.c.site_id, page.c.state, page.c.level, page.c.id, *columns).where(
            *conditions, *_times(filters)
        )

    def steps(self, after: Position | None, *, is_included: bool = False) -> Iterator[PageStep]:
        """Yield the pages after *after*, or from there on if it *is_included*; the last step has no position."""
        number = self._at_once if self._filters.given else min(FIRST_STEP, self._at_once)
        first = 0 if after is None else after.site_id + (after[2:] == END)
        for site_id in self._sites(first):
            for state in self._states:
                here = Position(site_id, state, -1, 0)
                if after is not None and after > here:
                    if after[:2] != here[:2]:
                        continue
                    here = after
                while keys := self._keys(here, number, is_included=is_included and here is after):
                    here = Position(site_id, state, *keys[-1])
                    yield PageStep(self._read([page_id for _, page_id in keys]), here)
                    if len(keys) < number:
                        break
                    number = self._at_once
            if self._states:  # so that whoever has no more time goes on behind a site without such pages
                yield PageStep([], Position(site_id, self._states[-1], *END))
        yield PageStep([], None)

    def _sites(self, first: int) -> Sequence[int]:
        statement = select(site.c.id).where(site.c.crawl_id == self._crawl_id, site.c.id >= first).order_by(site.c.id)
        if name := self._filters.site:
            statement = statement.where(site.c.site.in_([name, f"http://{name}", f"https://{name}"]))
        return self._connection.execute(statement).scalars().all()

    def _keys(self, here: Position, number: int, *, is_included: bool) -> list[tuple[int, int]]:
        """Return (level, page) of the next pages from the index alone, so that no filter makes the step longer."""
        place = tuple_(page.c.level, page.c.id)
        statement = select(page.c.level, page.c.id).where(
            page.c.site_id == here.site_id,
            page.c.state == here.state,
            place >= here[2:] if is_included else place > here[2:],
        )
        if self._filters.level is not None:
            statement = statement.where(page.c.level == self._filters.level)
        rows = self._connection.execute(statement.order_by(page.c.level, page.c.id).limit(number))
        return [(level, page_id) for level, page_id in rows]

    def _read(self, page_ids: Sequence[int]) -> Sequence[Row[Any]]:
        return self._connection.execute(
            self._pages.where(page.c.id.in_(page_ids)).order_by(page.c.level, page.c.id)
        ).all()


def _times(filters: Filters) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if filters.since is not None:
        conditions.append(page.c.fetched_at >= filters.since)
    if filters.until is not None:
        conditions.append(page.c.fetched_at < filters.until)
    return conditions

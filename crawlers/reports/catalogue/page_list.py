"""The URLs of a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import or_

from crawlers.items import State
from crawlers.reports.catalogue.crawl_report import Column, Kind, Report, Row, Step
from crawlers.reports.catalogue.page_steps import PageWalk, Position
from crawlers.reports.catalogue.text_filter import contains
from crawlers.storage.schema.tables import page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.crawl_report import Cursor
    from crawlers.reports.catalogue.filters import Filters


class Pages(Report):
    """URLs by site, state and level."""

    name = "pages"
    title = "Pages"
    about = "Every URL of the sites of the crawl, also those that were not requested, with its state and the reason."
    columns = (
        Column("url", "URL", Kind.URL),
        Column("state", "State"),
        Column("status", "HTTP status", Kind.NUMBER),
        Column("reason", "Reason"),
        Column("level", "Level", Kind.NUMBER),
        Column("title", "Title"),
        Column("content_type", "Type"),
        Column("size_bytes", "Size", Kind.BYTES),
        Column("found_at", "Found", Kind.TIME),
        Column("requested_at", "Requested", Kind.TIME),
    )
    filters = frozenset({"site", "text", "level", "state", "status", "since", "until"})
    cursor_length = len(Position._fields)

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        names = ("url", "status", "reason", "title", "content_type", "size_bytes", "found_at", "fetched_at")
        conditions = []
        if filters.text:
            conditions.append(or_(contains(page.c.url, filters.text), contains(page.c.title, filters.text)))
        if filters.status is not None:
            conditions.append(page.c.status == filters.status)
        walk = PageWalk(connection, crawl_id, filters, [page.c[name] for name in names], conditions)
        for pages, position in walk.steps(Position(*after) if after is not None else None):
            rows = [
                Row(
                    (
                        one.url,
                        State(one.state).name.lower(),
                        one.status,
                        one.reason,
                        one.level,
                        one.title,
                        one.content_type,
                        one.size_bytes,
                        one.found_at,
                        one.fetched_at,
                    ),
                    (one.site_id, one.state, one.level, one.id),
                )
                for one in pages
            ]
            yield Step(rows, position)

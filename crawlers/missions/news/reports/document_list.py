"""The documents of a news crawl, the latest first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import select, true

from crawlers.missions.news.reports.search import matching_among, matching_documents
from crawlers.missions.news.stored.news_tables import document
from crawlers.reports.catalogue.conditions import equal, in_text, is_wanted_site
from crawlers.reports.catalogue.index_walk import (
    FIRST_STEP,
    PLACES,
    ROWS_AT_ONCE,
    Place,
    in_order,
    place_of,
    value_steps,
)
from crawlers.reports.catalogue.report import Column, Group, Kind, Report, Row, Step
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.schema.tables import site
from crawlers.urls.domains import host_group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Cells, Cursor

MOST_FOUND = 500  # documents with the wanted words; more of them are looked for step by step
MERGED_SITES = 50  # whose lists are read one by one; of more sites, the list of all crawls is searched
ACCESS = {True: "free", False: "paywall"}
_NO_TIME = len("2026-11-23")  # a day without a time says nothing about the delay
_CELLS = (
    document.c.page_id,
    document.c.title,
    document.c.url,
    site.c.site,
    document.c.published_at,
    document.c.published,
    document.c.language,
    document.c.authors,
    document.c.is_free,
    document.c.stored_at,
    document.c.version,
)


class Documents(Report):
    """Documents by the time at which they were found."""

    name = "documents"
    title = "Documents"
    group = Group.CONTENTS
    about = "The articles that a news crawl found, the latest first: what they are, when they were published and found."
    columns = (
        Column("number", "Number", Kind.NUMBER),
        Column("title", "Title", Kind.TITLE),
        Column("published_at", "Published", Kind.TIME),
        Column("found_at", "Found", Kind.TIME),
        Column("delay_s", "Found after", Kind.SECONDS, about="from its publication; empty if only its day is known"),
        Column("url", "URL", Kind.URL),
        Column("site", "Site", about="its host[:port]"),
        Column("language", "Language"),
        Column("authors", "Authors"),
        Column("access", "Access", Kind.STATE, about="free, paywall, or empty if the page does not say"),
        Column("versions", "Versions", Kind.NUMBER),
        Column("kept", "Kept in", Kind.STATE, about="the store, and the WARC file of its response"),
    )
    conditions: ClassVar = {
        "text": in_text(document.c.title, document.c.url),
        "language": equal(document.c.language),
    }
    scope = frozenset({"site", "words", "since", "until"})
    has_tab = True
    cursor_kinds = PLACES
    order = "-found_at"
    empty = (
        "A news crawl stores the articles that it finds. If it has read pages and found none, look at its URL rules: "
        "the report about them leads to a page that tries them."
    )

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        place = place_of(after) if after is not None else None
        kept = _kept(connection, crawl_id)
        for rows, following in self._walk(connection, crawl_id, filters, place):
            found = [Row(_cells(one, kept), at.cursor) for at, one in rows]
            yield Step(found, following.cursor if following is not None else None)

    def _walk(
        self, connection: Connection, crawl_id: int, filters: Filters, after: Place | None, *, ascending: bool = False
    ) -> Iterator[tuple[list[tuple[Place, Any]], Place | None]]:
        times = []
        if filters.since is not None:
            times.append(document.c.stored_at >= filters.since)
        if filters.until is not None:
            times.append(document.c.stored_at < filters.until)
        wanted = is_wanted_site(crawl_id, filters)
        sites = connection.execute(select(site.c.id).where(wanted).limit(MERGED_SITES + 1)).scalars().all()
        parts = [[document.c.site_id == one, *times] for one in sites]
        statement = select(*_CELLS).join(site, site.c.id == document.c.site_id).where(wanted)
        statement = statement.where(*self.met(filters))
        found = matching_documents(connection, filters.words, MOST_FOUND) if filters.words else None
        is_frequent = found is not None and len(found) == MOST_FOUND
        walk = value_steps(
            connection,
            (document.c.stored_at, document.c.page_id),
            parts if len(sites) <= MERGED_SITES else [times or [true()]],
            after,
            ROWS_AT_ONCE if filters.given else FIRST_STEP,
            ascending=ascending,
        )
        for places, following in walk:
            if is_frequent:
                found = matching_among(connection, filters.words, [one.number for one in places])
            if found is not None:
                places = [one for one in places if one.number in found]
            rows = connection.execute(statement.where(document.c.page_id.in_([one.number for one in places]))).all()
            yield in_order(rows, places, "page_id"), following

    def neighbours(
        self, connection: Connection, crawl_id: int, filters: Filters, number: int, is_over: Callable[[], bool]
    ) -> list[Any]:
        """Return the rows before and after the document with that *number* in the list that the *filters* show.

        The search for each of them ends when the time *is_over*; then it is None, as at an end of the list.
        """
        stored_at = connection.execute(select(document.c.stored_at).where(document.c.page_id == number)).scalar_one()
        found: list[Any] = []
        for ascending in (True, False):
            neighbour = None
            for rows, _ in self._walk(connection, crawl_id, filters, Place(stored_at, number), ascending=ascending):
                if rows:
                    _, neighbour = rows[0]
                if rows or is_over():
                    break
            found.append(neighbour)
        return found


def _cells(one: Any, kept: str) -> Cells:
    has_time = one.published_at is not None and len(one.published or "") > _NO_TIME
    return (
        one.page_id,
        one.title,
        one.published_at,
        one.stored_at,
        one.stored_at - one.published_at if has_time else None,
        one.url,
        host_group(one.site),
        one.language,
        ", ".join(json.loads(one.authors)),
        ACCESS.get(one.is_free),
        one.version,
        kept,
    )


def _kept(connection: Connection, crawl_id: int) -> str:
    """Return where the crawl keeps its documents."""
    warc = recorded(connection, crawl_id, "WARC_FILE").get("WARC_FILE")
    return "store" if warc in (None, "", "None") else f"store, {warc}"

"""Reports about the URLs of a crawl: all of them, and those that have something in common."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import func, or_, select

from crawlers.items import State
from crawlers.reasons import ROBOTS, TRAPS
from crawlers.reports.catalogue.conditions import (
    MAX_CHARS,
    Filters,
    by_code_points,
    in_text,
    is_wanted_page,
    of_page,
    of_reason,
)
from crawlers.reports.catalogue.index_walk import PageReport
from crawlers.reports.catalogue.report import Column, ComputedReport, Group, Kind, Related, Row
from crawlers.store.reading.redirect_chains import redirect_cells
from crawlers.store.reading.url_counts import MIN_ERROR_STATUS, URL_KIND, UrlKind, guesses_of, has_reason, is_vain_guess
from crawlers.store.schema.tables import crawl, page, site

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from crawlers.files.csv_tables import Value
    from crawlers.reports.catalogue.report import Cells, Cursor

URL = Column("url", "URL", Kind.URL, page.c.url)
STATE = Column("state", "State", Kind.STATE, URL_KIND, "what became of it: see the states of the table page")
STATUS = Column("status", "HTTP status", Kind.NUMBER, page.c.status)
REASON = Column("reason", "Reason", Kind.REASON, page.c.reason, "why it is not a page, or has no response")
LEVEL = Column("level", "Level", Kind.NUMBER, page.c.level, "clicks from the start URL of its site")
TITLE = Column("title", "Title", value=page.c.title)
TYPE = Column("content_type", "Type", value=page.c.content_type)
SIZE = Column("size_bytes", "Size", Kind.BYTES, page.c.size_bytes, "of its body, decompressed")
FOUND = Column("found_at", "Found", Kind.TIME, page.c.found_at)
REQUESTED = Column("requested_at", "Requested", Kind.TIME, page.c.fetched_at, "the last time")
SITE = Column("site", "Site", value=site.c.site)

MIN_REDIRECT_STATUS = 300


def links_to(url: Value, report: str = "internal-links") -> Related | None:
    """Return where the links to *url* are listed, or the rows of another *report* with it; None: it is too long."""
    return Related(report, {"text": url}) if isinstance(url, str) and len(url) <= MAX_CHARS else None


class Pages(PageReport):
    """All URLs."""

    name = "pages"
    title = "Pages"
    group = Group.CONTENTS
    about = (
        "Every URL of the sites of the crawl, with what became of it and why: a page, a redirect, an error (no "
        "response, or a status of an error), another response that is not a page, waiting, or not requested."
    )
    columns = (URL, STATE, STATUS, REASON, LEVEL, TITLE, TYPE, SIZE, FOUND, REQUESTED)
    conditions = of_page("text", "status") | {"reason": of_reason(page.c.reason)}
    scope = PageReport.scope | {"state"}

    def wanted(self, connection: Connection, crawl_id: int, filters: Filters) -> list[ColumnElement[bool]]:
        conditions = super().wanted(connection, crawl_id, filters)
        if filters.state is not None and (guesses := guesses_in(connection, crawl_id)):  # which no sum counts
            conditions += [site.c.id == page.c.site_id, ~is_vain_guess(guesses)]
        return conditions


class LinkedPages(PageReport):
    """Pages that have something in common; each row leads to the links to its page."""

    conditions = of_page("text")

    def related(self, cells: Cells) -> Related | None:
        return links_to(cells[0])


class MissingTitles(LinkedPages):
    """Pages without a title."""

    name = "missing-titles"
    title = "Pages without a title"
    group = Group.CONTENT
    about = "Pages that have no title, or an empty one: search engines and browsers show their URL instead."
    columns = (URL, LEVEL, STATUS, TYPE, SIZE, REQUESTED)
    states = (State.DONE,)
    where = (or_(page.c.title.is_(None), page.c.title == ""),)


class RobotsRefusals(LinkedPages):
    """URLs that robots.txt forbids."""

    name = "robots-refusals"
    title = "Refused by robots.txt"
    group = Group.REFUSALS
    about = "URLs that were found and not requested, because robots.txt disallows them or could not be read."
    columns = (URL, REASON, LEVEL, FOUND)
    conditions = of_page("text") | {"reason": of_reason(page.c.reason)}
    scope = frozenset({"site", "level"})
    states = (State.REJECTED,)
    where = (has_reason(page.c.reason, ROBOTS),)


class Redirects(LinkedPages):
    """Redirects by site and level."""

    name = "redirects"
    title = "Redirects"
    group = Group.ERRORS
    about = "URLs that redirect, each with all URLs of its chain: link to the last one instead."
    columns = (
        URL,
        STATUS,
        Column("redirects", "Redirects", Kind.NUMBER, about="of its chain"),
        Column("final_url", "Ends at", Kind.URL),
        Column("final_status", "Status there", Kind.NUMBER),
        Column("problem", "Problem", Kind.REASON, about="why it does not end at a page"),
        LEVEL,
        Column("chain", "Chain", about="its URLs in order, with > between them"),
    )
    conditions = of_page("status") | {"text": in_text(page.c.url)}
    states = (State.MOVED, State.REFUSED, State.FAILED)
    # A redirect that could not be followed has no page as its target.
    where = (
        or_(
            page.c.state == int(State.MOVED),
            page.c.status.between(MIN_REDIRECT_STATUS, MIN_ERROR_STATUS - 1),
        ),
    )

    @property
    def values(self) -> list[Any]:
        return [page.c.url, page.c.status]

    def rows(self, connection: Connection, prefix: Cursor, found: Sequence[Any], filters: Filters) -> Iterator[Row]:
        for one, cells in zip(found, redirect_cells(connection, found), strict=True):
            yield Row(cells, self.place(prefix, one))


class TopPages(ComputedReport):
    """The pages with the highest values of a column of the store."""

    group = Group.SPEED
    conditions = of_page("text", "level", "status")
    most = 10_000  # whoever wants more reads all pages
    columns = (
        URL,
        Column("latency_s", "Response time", Kind.SECONDS, page.c.latency_s, "to the head of the response"),
        SIZE,
        LEVEL,
        STATUS,
        TYPE,
        TITLE,
    )
    states: ClassVar[Sequence[State]] = (State.DONE, State.MOVED, State.REFUSED)
    value: ClassVar[ColumnElement[Any]]

    def query(self, crawl_id: int, filters: Filters) -> Select[Any]:
        wanted = (is_wanted_page(crawl_id, filters, *self.states), self.value > 0)
        return select(*self.values).where(*wanted).order_by(self.value.desc(), page.c.id)

    def related(self, cells: Cells) -> Related | None:
        return links_to(cells[0])


class SlowPages(TopPages):
    """The pages whose responses began last."""

    name = "slow-pages"
    title = "Slow pages"
    about = "The URLs that took the longest from the request to the head of the response, as the crawler measured it."
    value = page.c.latency_s


class LargePages(TopPages):
    """The largest bodies."""

    name = "large-pages"
    title = "Large pages"
    about = "The URLs with the largest bodies, decompressed; bodies that were not read count what was read of them."
    value = page.c.size_bytes


class DeepestPages(TopPages):
    """The pages that are farthest from the start URLs of their sites."""

    name = "deepest-pages"
    title = "Deepest pages"
    about = "The pages that are the most clicks away from the start URL of their site."
    states = (State.DONE,)
    value = page.c.level


class SameTitles(ComputedReport):
    """Titles that several pages of a site have."""

    name = "same-titles"
    title = "Pages with the same title"
    group = Group.CONTENT
    about = "Titles that several pages of one site have, with the numbers of these pages and of their contents."
    columns = (
        TITLE,
        Column("pages", "Pages", Kind.COUNT, func.count()),
        Column("contents", "Different contents", Kind.COUNT, func.count(page.c.content_hash.distinct())),
        Column("url", "First URL", Kind.URL, func.min(by_code_points(page.c.url))),
        SITE,
    )
    conditions: ClassVar = {"text": in_text(page.c.title)}

    def query(self, crawl_id: int, filters: Filters) -> Select[Any]:
        return (
            select(*self.values)
            .join(site, site.c.id == page.c.site_id)
            .where(is_wanted_page(crawl_id, filters, State.DONE), page.c.title != "")
            .group_by(site.c.id, site.c.site, page.c.title)
            .having(func.count() > 1)
            .order_by(func.count().desc(), site.c.id, by_code_points(page.c.title))
        )

    def related(self, cells: Cells) -> Related | None:
        title, site_name = str(cells[0]).strip(), str(cells[-1])
        filters = {"text": title, "site": site_name, "state": UrlKind.PAGE}
        return Related("pages", filters) if 0 < len(title) <= MAX_CHARS else None


class Duplicates(ComputedReport):
    """Pages with the same body."""

    name = "duplicates"
    title = "Duplicates"
    group = Group.CONTENT
    about = (
        "Pages whose body is the same, byte by byte, as that of another page of their site; the page with the lowest "
        "level represents them in graphs."
    )
    columns = (
        Column("representative", "Represented by", Kind.URL),
        Column("url", "Duplicate", Kind.URL),
        Column("urls", "URLs", Kind.COUNT, about="more than one: their rows were deleted (SAVE_DUPLICATES=0)"),
        LEVEL,
        SIZE,
        TITLE,
    )
    scope = frozenset({"site", "text", "level"})

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        # All pages are sorted once, without their texts; only those that have copies are read as a whole.
        of_content = [page.c.site_id, page.c.content_hash]
        pages_by_content = (
            select(
                page.c.id,
                page.c.duplicates,
                func.count().over(partition_by=of_content).label("copies"),
                func.max(page.c.size_bytes).over(partition_by=of_content).label("size"),
            )
            .where(is_wanted_page(crawl_id, filters, State.DONE), page.c.content_hash.is_not(None))
            .subquery()
        )
        statement = (
            select(*of_content, page.c.level, page.c.url, page.c.title, page.c.size_bytes, page.c.duplicates)
            .join(pages_by_content, pages_by_content.c.id == page.c.id)
            .where(or_(pages_by_content.c.copies > 1, pages_by_content.c.duplicates > 0))
            .order_by(pages_by_content.c.size.desc(), *of_content, page.c.level)
        )
        for _, pages in groupby(connection.execute(statement), key=itemgetter(0, 1)):
            first, *others = sorted(pages, key=lambda one: (one.level, one.url))
            copies: list[Cells] = [(one.url, 1, one.level, one.size_bytes, one.title) for one in others]
            if deleted := sum(one.duplicates for one in (first, *others)):
                copies.append((None, deleted, None, first.size_bytes, None))
            for cells in copies:
                texts = f"{first.url}\n{cells[0] or ''}\n{cells[-1] or ''}".lower()
                if filters.text.lower() in texts and filters.level in (None, cells[2]):
                    yield (first.url, *cells)

    def related(self, cells: Cells) -> Related | None:
        return links_to(cells[0], self.name)


class Traps(ComputedReport):
    """URLs that were not requested because they belong to a trap, by the reason."""

    name = "traps"
    title = "Traps"
    group = Group.REFUSALS
    about = "Endless calendars, session numbers and loops that were recognised, with the URLs that were left out."
    columns = (
        Column("reason", "Why it is a trap", Kind.REASON, page.c.reason),
        Column("urls", "URLs left out", Kind.COUNT, func.count()),
        SITE,
        Column("level", "Lowest level", Kind.NUMBER, func.min(page.c.level)),
        Column("url", "Example", Kind.URL, func.min(by_code_points(page.c.url))),
    )
    conditions: ClassVar = {"reason": of_reason(page.c.reason)}

    def query(self, crawl_id: int, filters: Filters) -> Select[Any]:
        return (
            select(*self.values)
            .join(site, site.c.id == page.c.site_id)
            .where(is_wanted_page(crawl_id, filters, State.REJECTED), has_reason(page.c.reason, TRAPS))
            .group_by(site.c.id, site.c.site, page.c.reason)
            .order_by(func.count().desc(), site.c.id, by_code_points(page.c.reason))
        )

    def related(self, cells: Cells) -> Related | None:
        reason = str(cells[0])[:MAX_CHARS].strip()
        return Related("pages", {"site": str(cells[2]), "state": UrlKind.NOT_REQUESTED, "reason": reason})


def trap_counts(connection: Connection, crawl_id: int) -> dict[int, int]:
    """Return the number of URLs that were left out as traps, by site, without sites that have none."""
    statement = (
        select(page.c.site_id, func.count())
        .where(is_wanted_page(crawl_id, Filters(), State.REJECTED), has_reason(page.c.reason, TRAPS))
        .group_by(page.c.site_id)
    )
    return {site_id: number for site_id, number in connection.execute(statement)}


def guesses_in(connection: Connection, crawl_id: int) -> Sequence[str]:
    """Return `guesses_of` the mission of a crawl."""
    mission = connection.execute(select(crawl.c.mission).where(crawl.c.id == crawl_id)).scalar()
    return guesses_of(mission or "")

"""The pages of a crawl that have their title or their content in common with others of the same site."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from sqlalchemy import func, or_, select

from crawlers.items import State
from crawlers.reports.catalogue.computed_report import ComputedReport
from crawlers.reports.catalogue.crawl_report import Column, Group, Kind, Related
from crawlers.reports.catalogue.crawl_scope import is_wanted_page
from crawlers.reports.catalogue.filters import MAX_CHARS
from crawlers.reports.catalogue.text_filter import by_code_points, contains
from crawlers.storage.schema.tables import page, site
from crawlers.storage.url_kinds import UrlKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.computed_report import Cells
    from crawlers.reports.catalogue.filters import Filters


class SameTitles(ComputedReport):
    """Titles that several pages of a site have."""

    name = "same-titles"
    title = "Pages with the same title"
    group = Group.CONTENT
    about = "Titles that several pages of one site have, with the numbers of these pages and of their contents."
    columns = (
        Column("title", "Title"),
        Column("pages", "Pages", Kind.NUMBER),
        Column("contents", "Different contents", Kind.NUMBER),
        Column("url", "First URL", Kind.URL),
        Column("site", "Site"),
    )
    filters = frozenset({"site", "text"})

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        contents = func.count(page.c.content_hash.distinct())
        number = func.count()
        statement = (
            select(page.c.title, number, contents, func.min(by_code_points(page.c.url)), site.c.site)
            .join(site, site.c.id == page.c.site_id)
            .where(is_wanted_page(crawl_id, filters, State.DONE), page.c.title != "")
            .group_by(site.c.id, site.c.site, page.c.title)
            .having(number > 1)
            .order_by(number.desc(), site.c.id, by_code_points(page.c.title))
            .limit(self.most + 1)
        )
        if filters.text:
            statement = statement.where(contains(page.c.title, filters.text))
        for row in connection.execute(statement):
            yield tuple(row)

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
        Column("urls", "URLs", Kind.NUMBER),  # more than one: their rows were deleted
        Column("level", "Level", Kind.NUMBER),
        Column("size_bytes", "Size", Kind.BYTES),
        Column("title", "Title"),
    )
    filters = frozenset({"site", "text", "level"})

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
            select(
                page.c.site_id,
                page.c.content_hash,
                page.c.level,
                page.c.url,
                page.c.title,
                page.c.size_bytes,
                page.c.duplicates,
            )
            .join(pages_by_content, pages_by_content.c.id == page.c.id)
            .where(or_(pages_by_content.c.copies > 1, pages_by_content.c.duplicates > 0))
            .order_by(pages_by_content.c.size.desc(), page.c.site_id, page.c.content_hash, page.c.level)
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
        representative = str(cells[0])
        return Related(self.name, {"text": representative}) if len(representative) <= MAX_CHARS else None

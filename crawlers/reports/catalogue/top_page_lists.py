"""The pages of a crawl that are the slowest, the largest or the deepest ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import select

from crawlers.items import State
from crawlers.reports.catalogue.computed_report import ComputedReport
from crawlers.reports.catalogue.crawl_report import Column, Group, Kind, Related
from crawlers.reports.catalogue.crawl_scope import is_wanted_page, page_conditions
from crawlers.reports.catalogue.page_list import links_to
from crawlers.storage.schema.tables import page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from sqlalchemy import ColumnElement, Connection

    from crawlers.reports.catalogue.computed_report import Cells
    from crawlers.reports.catalogue.filters import Filters

_ROWS = 10_000  # whoever wants more reads all pages


class TopPages(ComputedReport):
    """The pages with the highest values of a column of the store."""

    filters = frozenset({"site", "text", "level", "status"})
    most = _ROWS
    columns = (
        Column("url", "URL", Kind.URL),
        Column("latency_s", "Response time", Kind.SECONDS),
        Column("size_bytes", "Size", Kind.BYTES),
        Column("level", "Level", Kind.NUMBER),
        Column("status", "HTTP status", Kind.NUMBER),
        Column("content_type", "Type"),
        Column("title", "Title"),
    )
    states: ClassVar[Sequence[State]] = (State.DONE, State.MOVED, State.REFUSED)
    value: ClassVar[ColumnElement[Any]]

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        statement = (
            select(*(page.c[column.name] for column in self.columns))
            .where(is_wanted_page(crawl_id, filters, *self.states), self.value > 0, *page_conditions(filters))
            .order_by(self.value.desc(), page.c.id)
            .limit(self.most + 1)
        )
        for row in connection.execute(statement):
            yield tuple(row)

    def related(self, cells: Cells) -> Related | None:
        return links_to(cells[0])


class SlowPages(TopPages):
    """The pages whose responses began last."""

    name = "slow-pages"
    title = "Slow pages"
    group = Group.SPEED
    about = "The URLs that took the longest from the request to the head of the response, as the crawler measured it."
    value = page.c.latency_s


class LargePages(TopPages):
    """The largest bodies."""

    name = "large-pages"
    title = "Large pages"
    group = Group.SPEED
    about = "The URLs with the largest bodies, decompressed; bodies that were not read count what was read of them."
    value = page.c.size_bytes


class DeepestPages(TopPages):
    """The pages that are farthest from the home pages of their sites."""

    name = "deepest-pages"
    title = "Deepest pages"
    group = Group.SPEED
    about = "The pages that are the most clicks away from the start page of their site."
    states = (State.DONE,)
    value = page.c.level

"""The links that leave the sites of a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sqlalchemy import or_, select

from crawlers.items import State
from crawlers.reports.catalogue.crawl_report import Column, Group, Kind, Report, Row, Step
from crawlers.reports.catalogue.link_lists import steps_of_holders
from crawlers.reports.catalogue.page_steps import PageWalk
from crawlers.reports.catalogue.text_filter import contains, is_host
from crawlers.storage.schema.tables import external_link, external_url, link_context, page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.crawl_report import Cursor
    from crawlers.reports.catalogue.filters import Filters

END_OF_PAGE = (2**63 - 1, 2**63 - 1)  # after every URL and context


class ExternalLinks(Report):
    """Links of pages to URLs of other sites, by page."""

    name = "external-links"
    title = "External links"
    group = Group.LINKS
    about = "Every link from a page of the crawl to a URL of another site, with its text and its place on the page."
    columns = (
        Column("url", "URL", Kind.URL),
        Column("host", "Host"),
        Column("anchor", "Text"),
        Column("position", "Place"),
        Column("links", "Links", Kind.NUMBER),
        Column("page", "Page", Kind.URL),
        Column("level", "Level", Kind.NUMBER),
        Column("read_at", "Read", Kind.TIME),
    )
    filters = frozenset({"site", "host", "text", "level", "since", "until"})
    cursor_length = 6  # of the page in the walk, URL, context

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        columns = (page.c.url, page.c.fetched_at)
        walk = PageWalk(connection, crawl_id, filters, columns, states=(State.DONE, State.REFUSED))

        def rows_of(pages: Sequence[Any]) -> Iterator[Row]:
            return self._rows(connection, pages, filters)

        return steps_of_holders(walk, rows_of, after, END_OF_PAGE)

    def _rows(self, connection: Connection, pages: Sequence[Any], filters: Filters) -> Iterator[Row]:
        links = (
            select(
                external_link.c.page_id,
                external_link.c.url_id,
                external_link.c.context_id,
                external_link.c["count"],
                external_url.c.url,
                external_url.c.site,
                link_context.c.anchor,
                link_context.c.position,
            )
            .join(external_url, external_url.c.id == external_link.c.url_id)
            .join(link_context, link_context.c.id == external_link.c.context_id)
            .where(external_link.c.page_id.in_([one.id for one in pages]))
            .order_by(external_link.c.page_id, external_link.c.url_id, external_link.c.context_id)
        )
        if filters.host:
            links = links.where(is_host(external_url.c.site, filters.host))
        if filters.text:
            links = links.where(
                or_(contains(external_url.c.url, filters.text), contains(link_context.c.anchor, filters.text))
            )
        of_page: dict[int, list[Any]] = {}
        for link in connection.execute(links):
            of_page.setdefault(link.page_id, []).append(link)
        for one in pages:
            for link in of_page.get(one.id, ()):
                host = urlsplit(link.site).hostname
                cells = (link.url, host, link.anchor, link.position, link.count, one.url, one.level, one.fetched_at)
                yield Row(cells, (one.site_id, one.state, one.level, one.id, link.url_id, link.context_id))

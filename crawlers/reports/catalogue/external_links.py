"""The links that leave the sites of a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sqlalchemy import or_, select

from crawlers.items import REDIRECT, State
from crawlers.reports.catalogue.crawl_report import KEYS, Column, Group, Kind, LinkReport, Row, Step
from crawlers.reports.catalogue.link_lists import steps_of_holders
from crawlers.reports.catalogue.page_steps import POSITIONS, PageWalk
from crawlers.reports.catalogue.text_filter import contains, is_host
from crawlers.storage.link_removal import remove_external
from crawlers.storage.schema.tables import external_link, external_url, link_context, page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.crawl_report import Cursor
    from crawlers.reports.catalogue.filters import Filters

END_OF_PAGE = (2**63 - 1, 2**63 - 1)  # after every URL and context


class ExternalLinks(LinkReport):
    """Links of pages to URLs of other sites, by page."""

    name = "external-links"
    title = "External links"
    group = Group.LINKS
    about = (
        "Every link from a page of the crawl to a URL of another site, with its text and its place on the page, and "
        "every redirect to another site, whose place is redirect."
    )
    columns = (
        Column("url", "URL", Kind.URL),
        Column("host", "Host"),
        Column("anchor", "Text"),
        Column("position", "Place", Kind.WORDS),
        Column("links", "Links", Kind.NUMBER),
        Column("page", "Page", Kind.URL),
        Column("level", "Level", Kind.NUMBER),
        Column("status", "Page status", Kind.NUMBER),
        Column("read_at", "Read", Kind.TIME),
    )
    filters = frozenset({"site", "host", "text", "anchor", "level", "status", "since", "until"})
    cursor_ranges = (*POSITIONS, KEYS, KEYS)  # of the page in the walk, URL, context
    states = (State.DONE, State.REFUSED)
    link_kind = "external"

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        columns = (page.c.url, page.c.fetched_at, page.c.status)
        conditions = [] if filters.status is None else [page.c.status == filters.status]
        walk = PageWalk(connection, crawl_id, filters, columns, conditions, self.states)

        def rows_of(pages: Sequence[Any]) -> Iterator[Row]:
            return self._rows(connection, pages, filters)

        return steps_of_holders(walk, rows_of, after, END_OF_PAGE)

    def remove(self, connection: Connection, keys: Sequence[tuple[int, ...]]) -> int:
        return remove_external(connection, keys)

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
                link_context.c.tag,
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
        if filters.anchor:
            links = links.where(contains(link_context.c.anchor, filters.anchor))
        of_page: dict[int, list[Any]] = {}
        for link in connection.execute(links):
            of_page.setdefault(link.page_id, []).append(link)
        for one in pages:
            for link in of_page.get(one.id, ()):
                host = urlsplit(link.site).hostname
                on_page = (one.url, one.level, one.status, one.fetched_at)
                position = REDIRECT if link.tag == REDIRECT else link.position
                cells = (link.url, host, link.anchor, position, link.count, *on_page)
                yield Row(cells, (one.site_id, one.state, one.level, one.id, link.url_id, link.context_id))

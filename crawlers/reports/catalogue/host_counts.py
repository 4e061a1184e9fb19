"""The hosts to which the sites of a crawl link, by the number of links."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sqlalchemy import func, select

from crawlers.items import State
from crawlers.reports.catalogue.computed_report import ComputedReport
from crawlers.reports.catalogue.crawl_report import Column, Group, Kind, Related
from crawlers.reports.catalogue.crawl_scope import is_wanted_page
from crawlers.reports.catalogue.text_filter import is_host
from crawlers.storage.schema.tables import external_link, external_url, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.computed_report import Cells
    from crawlers.reports.catalogue.filters import Filters


class ExternalHosts(ComputedReport):
    """External sites by number of links."""

    name = "external-hosts"
    title = "External hosts"
    group = Group.LINKS
    about = "The sites outside of the crawl that its pages link to, those with the most links first."
    columns = (
        Column("site", "Site", Kind.URL),
        Column("host", "Host"),
        Column("links", "Links", Kind.NUMBER),
        Column("urls", "Different URLs", Kind.NUMBER),
    )
    filters = frozenset({"site", "host"})

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        by_url = (
            select(external_link.c.url_id, func.sum(external_link.c["count"]).label("links"))
            .join(page, page.c.id == external_link.c.page_id)
            .where(is_wanted_page(crawl_id, filters, State.DONE, State.REFUSED))
            .group_by(external_link.c.url_id)
            .subquery()
        )
        links = func.sum(by_url.c.links)
        statement = (
            select(external_url.c.site, links, func.count())
            .join(by_url, by_url.c.url_id == external_url.c.id)
            .group_by(external_url.c.site)
            .order_by(links.desc(), external_url.c.site)
            .limit(self.most + 1)
        )
        if filters.host:
            statement = statement.where(is_host(external_url.c.site, filters.host))
        for name, number, urls in connection.execute(statement):
            yield name, urlsplit(name).hostname, int(number), urls

    def related(self, cells: Cells) -> Related | None:
        return Related("external-links", {"host": str(cells[1])})

"""The sites to which the sites of a crawl link, by the number of links.

A link is external if it leaves the site of its page (scheme://host[:port]) and the scope of the crawl has no other
sites, as in crawls of site graphs and external links: so sites of the crawl may be among those that others link to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sqlalchemy import func, select

from crawlers.items import State
from crawlers.reports.catalogue.computed_report import ComputedReport
from crawlers.reports.catalogue.crawl_report import Column, Group, Kind, Related
from crawlers.reports.catalogue.crawl_scope import is_wanted_page
from crawlers.reports.catalogue.text_filter import is_host
from crawlers.reports.histories.history import N_
from crawlers.storage.schema.tables import external_link, external_url, page, site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.computed_report import Cells
    from crawlers.reports.catalogue.filters import Filters


class ExternalHosts(ComputedReport):
    """External sites by number of links."""

    name = "external-hosts"
    title = "External sites"
    group = Group.LINKS
    about = (
        "The other sites that pages link to, those with the most links first. http and https of a host are two sites; "
        "a link from one site of the crawl to another one is external, too."
    )
    columns = (
        Column("site", "Site", Kind.URL),
        Column("host", "Host"),
        Column("links", "Links", Kind.NUMBER),
        Column("urls", "Different URLs", Kind.NUMBER),
        Column("in_crawl", "In this crawl", Kind.STATE),
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
            select(external_url.c.site, links, func.count(), func.max(site.c.id))
            .join(by_url, by_url.c.url_id == external_url.c.id)
            .outerjoin(site, (site.c.site == external_url.c.site) & (site.c.crawl_id == crawl_id))
            .group_by(external_url.c.site)
            .order_by(links.desc(), external_url.c.site)
            .limit(self.most + 1)
        )
        if filters.host:
            statement = statement.where(is_host(external_url.c.site, filters.host))
        for name, number, urls, site_id in connection.execute(statement):
            yield name, urlsplit(name).hostname, int(number), urls, N_("yes") if site_id is not None else None

    def related(self, cells: Cells) -> Related | None:
        return Related("external-links", {"host": str(cells[0])})

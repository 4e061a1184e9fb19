"""A mission of one's own, in a module of the user's project: pages that lead to PDFs and data sets.

With `SPIDER_MODULES = ["crawlers.spiders", "papers"]`, `scrapy crawl papers -a hosts=hosts.txt -s RULE=auto -s
PAGE_BUDGET=2000` reads most where it finds most, and `scrapy report files` lists what was found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from sqlalchemy import Select, select

from crawlers.crawl.run import Run
from crawlers.crawl.spec import CrawlSpec, crawl_of
from crawlers.frontier.values import Decision, Lease, Reward
from crawlers.mission import Mission, add
from crawlers.options.kinds import Names, Reach, Setting, group
from crawlers.reports.catalogue.conditions import Filters, is_wanted_site
from crawlers.reports.catalogue.page_reports import SITE, TITLE, URL
from crawlers.reports.catalogue.report import Column, ComputedReport, Group, Kind
from crawlers.spiders.base import SiteSpider
from crawlers.store.schema.rows import UPSERT, BigInt, RowId, table
from crawlers.store.schema.tables import metadata, page, site
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawlers.items import Page

TYPES = Setting("FILE_TYPES", ["pdf", "csv", "zip"], Names("Extensions"), Reach.RESULTS).says("files to look for")


class FileRow(NamedTuple):
    """A file to which a page leads."""

    page_id: RowId
    key: BigInt
    url: Annotated[str, "where it is"]


file_link = table("file_link", metadata, FileRow, UPSERT, key=2)


class Files(ComputedReport):
    name, title, group = "files", "Files", Group.CONTENTS
    about = "The PDFs and data sets to which pages lead; FILE_TYPES says which."
    columns = (Column("file", "File", Kind.URL, file_link.c.url), URL, TITLE, SITE)

    def query(self, crawl_id: int, filters: Filters) -> Select[Any]:
        found = file_link.join(page, page.c.id == file_link.c.page_id).join(site, site.c.id == page.c.site_id)
        wanted = select(*self.values).select_from(found).where(is_wanted_site(crawl_id, filters))
        return wanted.order_by(file_link.c.url, page.c.url)


class PapersRun(Run):
    def __init__(self, session: Any, types: list[str]) -> None:
        super().__init__(session.spec.reader, session.reader.run)
        self._endings = tuple(f".{one.lower()}" for one in types)

    def decide(self, lease: Lease, page: Page, now: float) -> Decision:
        links = [*(FileRow(page.id, to.key, to.url) for to, _ in page.links)]
        links += [FileRow(page.id, to.key, to.url) for to, _ in page.external]
        files = {link for link in links if link.url.lower().endswith(self._endings)}
        return Decision(page, reward=Reward(float(len(files))), changes=ChangeSet(*files))


class PapersSpider(SiteSpider):
    name = "papers"
    custom_settings = {**SiteSpider.custom_settings, TYPES.name: TYPES.default}  # noqa: RUF012 - Scrapy's convention

    def crawl_spec(self, settings: BaseSettings) -> CrawlSpec:
        types, sites = settings.getlist(TYPES.name), self.sites(self.hosts, settings)
        return crawl_of(self.name, sites, settings, open=lambda session: PapersRun(session, types), has_rewards=True)


MISSION = Mission("papers", "pages that lead to PDFs and data sets", package="", parts={"reports": __name__})
add(MISSION, group("Files", TYPES))

"""The reports, by name. Adding one is one class and one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.reports.catalogue.alarm_list import Alarms
from crawlers.reports.catalogue.broken_link_list import BrokenLinks
from crawlers.reports.catalogue.copy_reports import Duplicates, SameTitles
from crawlers.reports.catalogue.document_list import Documents
from crawlers.reports.catalogue.external_links import ExternalLinks
from crawlers.reports.catalogue.feed_list import Feeds
from crawlers.reports.catalogue.host_counts import ExternalHosts
from crawlers.reports.catalogue.link_lists import BadLinks, InternalLinks
from crawlers.reports.catalogue.page_list import MissingTitles, Pages, RobotsRefusals
from crawlers.reports.catalogue.redirect_list import Redirects
from crawlers.reports.catalogue.scored_page_lists import ImportantPages, TopicPages
from crawlers.reports.catalogue.site_report import Sites
from crawlers.reports.catalogue.sitemap_reports import InSitemapOnly, NotInSitemap, SitemapErrors, Sitemaps
from crawlers.reports.catalogue.top_page_lists import DeepestPages, LargePages, SlowPages
from crawlers.reports.catalogue.trap_report import Traps
from crawlers.reports.catalogue.url_rule_list import UrlRules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.reports.catalogue.crawl_report import Report

_ALL = (
    Pages(),
    Sites(),
    Documents(),
    Feeds(),
    UrlRules(),
    TopicPages(),
    ImportantPages(),
    InternalLinks(),
    ExternalLinks(),
    ExternalHosts(),
    Alarms(),
    BrokenLinks(),
    BadLinks(),
    Redirects(),
    MissingTitles(),
    SameTitles(),
    Duplicates(),
    SlowPages(),
    LargePages(),
    DeepestPages(),
    Sitemaps(),
    InSitemapOnly(),
    NotInSitemap(),
    SitemapErrors(),
    Traps(),
    RobotsRefusals(),
)
REPORTS: Mapping[str, Report] = {report.name: report for report in _ALL}


def reports_about(mission: str) -> list[Report]:
    """Return the reports that make sense for crawls of that mission; the others exist and have no rows."""
    return [report for report in REPORTS.values() if not report.missions or mission in report.missions]


def report_named(name: str) -> Report:
    """Return the report of that name. Raises `ConfigError` if there is none."""
    if name not in REPORTS:
        raise ConfigError(f"there is no report {name!r}; there are {', '.join(REPORTS)}")
    return REPORTS[name]

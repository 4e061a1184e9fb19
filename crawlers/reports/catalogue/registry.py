"""The reports, by name. Adding one is one class and one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.reports.catalogue.external_links import ExternalLinks
from crawlers.reports.catalogue.page_list import Pages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.reports.catalogue.crawl_report import Report

REPORTS: Mapping[str, Report] = {report.name: report for report in (Pages(), ExternalLinks())}


def report_named(name: str) -> Report:
    """Return the report of that name. Raises `ConfigError` if there is none."""
    if name not in REPORTS:
        raise ConfigError(f"there is no report {name!r}; there are {', '.join(REPORTS)}")
    return REPORTS[name]

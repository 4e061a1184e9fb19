"""The reports, by name: every one that a module of a subject describes, by what people look for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlers.errors import ConfigError
from crawlers.mission import missions, parts_of_all
from crawlers.reports.catalogue import link_reports, page_reports, score_reports, site_report, sitemap_reports
from crawlers.reports.catalogue.report import Group, Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

SUBJECTS = (page_reports, site_report, *parts_of_all("reports"), score_reports, link_reports, sitemap_reports)


def described_in(module: ModuleType, base: type) -> Iterator[Any]:
    """Yield the reports or pictures of a module: the classes with a name; what several of them share has none."""
    for one in vars(module).values():
        if isinstance(one, type) and issubclass(one, base) and "name" in vars(one):
            yield one()


_ALL = [report for module in SUBJECTS for report in described_in(module, Report)]
REPORTS: Mapping[str, Report] = {report.name: report for group in Group for report in _ALL if report.group is group}


def missions_of(report: Report) -> list[str]:
    """Return the missions that a report is about; empty: all of them. In other crawls it has no rows."""
    modules = {one.name: [part.__name__ for part in one.all_parts("reports")] for one in missions().values()}
    return [
        one.name
        for one in missions().values()
        if report.name in one.reports or type(report).__module__ in modules[one.name]
    ]


def reports_about(mission: str) -> list[Report]:
    """Return the reports that make sense for crawls of that mission."""
    return [one for one in REPORTS.values() if mission in (missions_of(one) or [mission])]


def report_named(name: str) -> Report:
    """Return the report of that name. Raises `ConfigError` if there is none."""
    if name not in REPORTS:
        raise ConfigError(f"there is no report {name!r}; there are {', '.join(REPORTS)}")
    return REPORTS[name]

"""The actions of `scrapy sites` that show the state of news sources: their alarms and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.urls.domains import is_in_domain, rule_domain
from crawlers.cli.sites.site_parts import opened, seed_named
from crawlers.inputs.program import suggested
from crawlers.reports.source_figures import source_figures
from crawlers.reports.text_table import NOTHING, table, time_of
from crawlers.storage.news.alarms import list_alarms
from crawlers.storage.news.stored_sources import urls_of_feeds

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings

    from crawlers.reports.source_figures import SourceFigures
    from crawlers.storage.news.alarms import AlarmRow

HEADINGS = ("crawl", "raised (UTC)", "ended (UTC)", "alarm", "subject", "problem and remedy")
SOURCES = ("number", "site", "enabled", "documents", "last one (UTC)", "feeds", "open alarms")


def show(settings: BaseSettings, wanted: list[str], opts: argparse.Namespace) -> None:
    """Print the open alarms of a source, or of all."""
    with opened(settings) as database:
        alarms = list_alarms(database)
        if wanted:
            seed = seed_named(database, wanted[0])
            domain, feeds = rule_domain(seed.site), urls_of_feeds(database, seed.number)
            alarms = [one for one in alarms if one.subject in feeds or is_in_domain(one.subject, domain)]
    shown = [one for one in alarms if opts.all or one.ended_at is None]
    if shown:
        print(table([HEADINGS, *map(_row, shown)]))
    else:
        print("no open alarms")
    if len(shown) < len(alarms):
        more = len(alarms) - len(shown)
        print(f"{more} more {'has' if more == 1 else 'have'} ended; --all shows them")


def show_sources(settings: BaseSettings) -> None:
    """Print the news sources with their results."""
    with opened(settings) as database:
        sources = source_figures(database)
    if sources:
        print(table([SOURCES, *map(_source, sources)]))
    else:
        print(suggested("no sources yet; add some: scrapy sites import sources.yaml"))


def _row(alarm: AlarmRow) -> tuple[str, ...]:
    times = time_of(alarm.raised_at), time_of(alarm.ended_at)
    return alarm.crawl, *times, alarm.kind, alarm.subject, suggested(alarm.message)


def _source(source: SourceFigures) -> tuple[str, ...]:
    number, site, enabled, documents, stored_at, feeds, alarms = source
    counts = documents, time_of(stored_at), feeds, alarms or NOTHING
    return str(number), site, "yes" if enabled else "no", *map(str, counts)

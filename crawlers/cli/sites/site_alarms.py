"""The actions of `scrapy sites` that show the state of news sources: their alarms and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.urls.domains import is_in_domain, rule_domain
from crawlers.cli.sites.site_parts import opened, seed_named
from crawlers.inputs.program import suggested
from crawlers.reports.catalogue.renderers import text_table
from crawlers.reports.catalogue.table import Column, Kind
from crawlers.reports.source_figures import source_figures
from crawlers.storage.news.alarms import list_alarms
from crawlers.storage.news.stored_sources import urls_of_feeds

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings

ALARMS = (
    Column("crawl", "crawl"),
    Column("raised_at", "raised (UTC)", Kind.TIME),
    Column("ended_at", "ended (UTC)", Kind.TIME),
    Column("kind", "alarm"),
    Column("subject", "subject"),
    Column("message", "problem and remedy"),
)
SOURCES = (
    Column("number", "number", Kind.NUMBER),
    Column("site", "site"),
    Column("enabled", "enabled"),
    Column("documents", "documents", Kind.COUNT),
    Column("stored_at", "last one (UTC)", Kind.TIME),
    Column("feeds", "feeds", Kind.COUNT),
    Column("alarms", "open alarms", Kind.COUNT),
)


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
        rows = (
            (one.crawl, one.raised_at, one.ended_at, one.kind, one.subject, suggested(one.message)) for one in shown
        )
        print(text_table(ALARMS, rows))
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
        print(text_table(SOURCES, ((*one[:-1], one.alarms or None) for one in sources)))
    else:
        print(suggested("no sources yet; add some: scrapy sites import sources.yaml"))

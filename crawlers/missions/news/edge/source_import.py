"""Adds the sources of a file to the store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from crawlers.cli.sites.site_parts import opened
from crawlers.files.text_file import shortened_list
from crawlers.missions.news.feeds.sources_file import read_sources
from crawlers.missions.news.stored.stored_sources import save_sources

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def import_sources(settings: BaseSettings, name: str) -> None:
    """Add the sources in the file *name*, and print them."""
    sources, problems = read_sources(name)
    with opened(settings, create=True) as database:
        saved = save_sources(database, sources)
    for number, source, is_new in saved:
        print(f"{number} {source.limits.start_url} {'added' if is_new else 'changed'}")
    for problem in shortened_list(problems):
        print(f"Skipped: {problem}", file=sys.stderr)
    if problems:
        print(
            f"Skipped: {len(problems)} of {len(problems) + len(saved)} entries; fix them, and import the file again",
            file=sys.stderr,
        )

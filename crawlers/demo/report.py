"""Summarises the results of a crawl in plain language, from its store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from crawlers.graphs.site_graph import SiteGraph
from crawlers.items import State
from crawlers.storage.files.names import file_stem
from crawlers.storage.queries import crawl_named, progress, sites_of
from crawlers.storage.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crawlers.storage.database import Database

MAX_REASONS = 12


def report(database: Database, folder: Path, names: Mapping[str, str]) -> str:
    """Return some forty lines; *names* are the display names of sites, by URL."""
    crawl = crawl_named(database, None)
    lines = ["", "Results", ""]
    states = {row.site: row for row in progress(database, crawl.id)}
    for crawled in sites_of(database, crawl.id):
        graph = SiteGraph(database, crawled.id, crawled.site)
        edges = sum(len(targets) for _, targets in graph.edges())
        copies = sum(len(members) - 1 for members in graph.members())
        row = states[crawled.site]
        lines.append(
            f"  {names.get(crawled.site, crawled.site):<9} {len(graph):>4} pages, {edges:>5} links between them, "
            f"{copies} duplicates merged, {row.counts.get(State.MOVED, 0)} redirects followed, "
            f"down to level {row.level}"
        )
    lines += ["", "URLs that are not pages, by reason", ""]
    lines += [f"  {number:>5}  {state.name.lower()}: {reason}" for state, reason, number in reasons(database, crawl.id)]
    result = folder / "result"
    stem = file_stem(next(iter(states)))
    lines += [
        "",
        "Files",
        "",
        f"  {result}/*.gexf    one graph per site, for Gephi",
        f"  {result}/*.csv     the same graphs as tables",
        f"  {folder}/crawl.sqlite    everything: pages, links, reasons",
        f"  {folder}/logs/     one line per response, and per error",
        "",
        "Next steps",
        "",
        f"  cd {folder}",
        f"  scrapy explain {next(iter(states))}/     shows the history of one URL",
        f"  scrapy graph --level site     writes the graph of the sites themselves ({stem} and the others)",
        "  scrapy crawl sitegraph -a hosts=example.org     in another folder: crawls your own site, politely",
        "  (source .venv/bin/activate first)",
    ]
    return "\n".join(lines)


def reasons(database: Database, crawl_id: int) -> list[tuple[State, str, int]]:
    """Return (state, reason, number) of URLs that are not pages, the most frequent first."""
    number = func.count()
    statement = (
        select(page.c.state, page.c.reason, number)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id, page.c.state.notin_([State.DONE, State.MOVED, State.WAITING]))
        .group_by(page.c.state, page.c.reason)
        .order_by(number.desc(), page.c.reason)
        .limit(MAX_REASONS)
    )
    with database.read() as connection:
        return [(State(state), reason, count) for state, reason, count in connection.execute(statement)]

"""Summarises the results of a crawl in plain language, from its store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from crawlers.algorithms.plurals import plural
from crawlers.demo.running import shown
from crawlers.graphs.site_graph import SiteGraph
from crawlers.items import State
from crawlers.storage.queries import crawl_named, progress, sites_of
from crawlers.storage.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crawlers.storage.database import Database

MAX_REASONS = 12


def report(database: Database, names: Mapping[str, str]) -> str:
    """Return some twenty lines; *names* are the display names of sites, by URL."""
    crawl = crawl_named(database, None)
    lines = ["", "Results", ""]
    states = {row.site: row for row in progress(database, crawl.id)}
    for crawled in sites_of(database, crawl.id):
        graph = SiteGraph(database, crawled.id, crawled.site)
        edges = sum(len(targets) for _, targets in graph.edges())
        copies = sum(len(members) - 1 for members in graph.members())
        row = states[crawled.site]
        moved = row.counts.get(State.MOVED, 0)
        lines.append(
            f"  {names.get(crawled.site, crawled.site):<9} {len(graph):>4} pages, {edges:>5} links between them, "
            f"{copies} {plural(copies, 'duplicate')} merged, {moved} {plural(moved, 'redirect')} followed, "
            f"down to level {row.level}"
        )
    lines += ["", "URLs that are not pages, by reason", ""]
    found = [f"  {number:>5}  {state.name.lower()}: {reason}" for state, reason, number in reasons(database, crawl.id)]
    lines += [*found[:MAX_REASONS], *(["      …  others"] if len(found) > MAX_REASONS else [])]
    return "\n".join(lines)


def closing_words(folder: Path, url: str) -> str:
    """Return which files are in *folder*, and what to do next; *url* is a page of the first crawl."""
    base = shown(folder)
    files = {
        "result/*.gexf": "one graph per site, for Gephi",
        "result/*.csv": "the graphs as tables; pages, broken links, redirects",
        "crawl.sqlite": "everything: pages, links, reasons",
        "logs/": "one line per response, and per error",
        "harvest/": "the harvest: result/external-links.csv, crawl.sqlite, logs/",
        "town/result/top.csv": "the most important pages of the town",
        "town/result/topic.pages.csv": "the pages about the topic",
        "town/result/topic.gexf": "their graph",
        "town/": "the crawls of the town: crawl.sqlite, logs/",
    }
    # Without the project's scrapy.cfg above the folder, only the program that pip installs finds the settings.
    is_in_project = any((above / "scrapy.cfg").exists() for above in folder.parents)
    scrapy, crawl = ("scrapy", "scrapy crawl") if is_in_project else ("crawlers", "crawlers")
    commands = {
        **({"source .venv/bin/activate": "once, in the project's folder"} if is_in_project else {}),
        f"cd {base}": "",
        f"{scrapy} web": "shows the crawl in a browser, at http://127.0.0.1:8060/",
        f"{scrapy} explain {url}": "shows the history of one URL",
        f"{scrapy} graph --level site": "writes the graph of the sites themselves",
        "mkdir ../mine && cd ../mine": "a folder for a crawl of your own",
        f"{crawl} sitegraph -a hosts=example.org": "crawls a site: result/example.org.gexf, crawl.sqlite, logs/",
    }
    lines = ["", "Files", "", *(f"  {base / name!s:<40} {what}" for name, what in files.items())]
    lines += ["", "Next steps", "", *(f"  {command:<44} {what}".rstrip() for command, what in commands.items())]
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
        .limit(MAX_REASONS + 1)
    )
    with database.read() as connection:
        return [(State(state), reason, count) for state, reason, count in connection.execute(statement)]

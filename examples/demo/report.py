"""Summarises the results of a crawl in plain language, from its store."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from crawlers.graphs.site_graph import SiteGraph
from crawlers.items import State
from crawlers.plurals import plural
from crawlers.reasons import sentence
from crawlers.reports.live_display import progress
from crawlers.store.reading.queries import crawl_named, sites_of
from crawlers.store.reading.url_counts import kind_of
from crawlers.store.schema.tables import page, site
from examples.demo.running import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.store.database import Database
    from crawlers.store.reading.url_counts import UrlKind

MAX_REASONS = 12
PANEL = "The panel is at http://127.0.0.1:8060/"


def report(database: Database, names: Mapping[str, str]) -> str:
    """Return some twenty lines; *names* are the display names of sites, by URL."""
    crawl = crawl_named(database, None)
    lines = ["", "Results", ""]
    states = {row.site: row for row in progress(database, crawl.id, crawl.mission)}
    for crawled in sites_of(database, crawl.id):
        graph = SiteGraph(database, crawled.id, crawled.site)
        edges = sum(len(targets) for _, targets in graph.edges())
        copies = sum(len(members) - 1 for members in graph.members())
        row = states[crawled.site]
        moved = row.counts.redirects
        lines.append(
            f"  {names.get(crawled.site, crawled.site):<9} {len(graph.ids):>4} pages, {edges:>5} links between them, "
            f"{copies} {plural(copies, 'duplicate')} merged, {moved} {plural(moved, 'redirect')} followed, "
            f"down to level {row.counts.deepest or 0}"
        )
    lines += ["", "URLs that are not pages, by reason", ""]
    found = [f"  {number:>5}  {kind}: {reason}" for kind, reason, number in reasons(database, crawl.id)]
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
    project = next((above for above in folder.parents if (above / "scrapy.cfg").exists()), None)
    is_in_project = project is not None
    scrapy, crawl = ("scrapy", "scrapy crawl") if is_in_project else ("crawlers", "crawlers")
    commands = {
        **({"source .venv/bin/activate": "once, in the project's folder"} if is_in_project else {}),
        f"cd {base}": "",
        f"{scrapy} explain {url}": "shows the history of one URL",
        f"{scrapy} graph --level site": "writes the graph of the sites themselves",
        "mkdir ../mine && cd ../mine": "a folder for a crawl of your own",
        f"{crawl} sitegraph -a hosts=example.org": "crawls a site: result/example.org.gexf, crawl.sqlite, logs/",
    }
    lines = ["", "Files", "", *(f"  {base / name!s:<40} {what}" for name, what in files.items())]
    lines += ["", "Next steps", "", *(f"  {command:<44} {what}".rstrip() for command, what in commands.items())]
    lines += [
        "",
        "Look at it in a browser",
        "",
        f"  {panel_command(folder, project)}",
        "",
        f"  {PANEL}: click the crawl,",
    ]
    lines += [
        "  then Graph; a click on a page explains how it was found. The same command in harvest/ and in town/",
        "  shows the other crawls. The web of the demo is not served any more: crawl a site of your own.",
    ]
    return "\n".join(lines)


def panel_command(folder: Path, project: Path | None) -> str:
    """Return the command that shows the store in *folder* in a browser, typed where the demo was started.

    *project* is the folder of this project if *folder* is below it.
    """
    program = Path(sys.executable).with_name("scrapy")
    if project is None:
        name = "crawlers"
    elif program.is_relative_to(project):  # so it works in any shell, whether the environment is active or not
        name = os.path.relpath(program, folder)
    else:
        name = "scrapy"
    return f"cd {shown(folder)} && {name} web"


def reasons(database: Database, crawl_id: int) -> list[tuple[UrlKind, str, int]]:
    """Return (kind, reason, number) of URLs that are not pages, the most frequent first."""
    number = func.count()
    statement = (
        select(page.c.state, func.max(page.c.status), page.c.reason, number)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id, page.c.state.notin_([State.DONE, State.MOVED, State.WAITING]))
        .group_by(page.c.state, page.c.reason)
        .order_by(number.desc(), page.c.reason)
        .limit(MAX_REASONS + 1)
    )
    with database.read() as connection:
        rows = connection.execute(statement).all()
    return [(kind_of(State(state), status), sentence(reason), count) for state, status, reason, count in rows]

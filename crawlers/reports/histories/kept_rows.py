"""Where a page is kept: its rows in the store, its node in the graph, its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import exists, func, or_, select

from crawlers.files.names import file_stem, of_worker
from crawlers.items import State
from crawlers.reports.crawl_manifest import setting_lines
from crawlers.reports.histories.history import Count, Fact, Topic, fact
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.reading.crawls import RUNNING
from crawlers.store.reading.result_folders import recorded_folder, successor
from crawlers.store.schema.tables import bad_link, external_link, link, site, worker
from crawlers.store.schema.tables import crawl as stored_crawl

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crawlers.store.reading.queries import NamedCrawl

MAX_FILES = 5  # that are named


def kept_facts(connection: Connection, crawl: NamedCrawl, site_row: Any, row: Any) -> list[Fact]:
    """Return what is stored of the page *row* besides itself, and the files with it; nothing if it was not read."""
    if row.fetched_at is None or State(row.state) not in (State.DONE, State.REFUSED, State.MOVED):
        return []
    numbers = [
        connection.execute(select(func.coalesce(func.sum(table.c["count"]), 0)).where(key == row.id)).scalar_one()
        for table, key in (
            (link, link.c.source_id),
            (external_link, external_link.c.page_id),
            (bad_link, bad_link.c.page_id),
        )
    ]
    internal, external, bad = numbers
    links = fact(
        Topic.KEPT,
        "its links in the store: %(internal)s, %(external)s and %(bad)s",
        internal=Count(internal, "%(number)s within the crawl", "%(number)s within the crawl"),
        external=Count(external, "%(number)s external link", "%(number)s external links"),
        bad=Count(bad, "%(number)s bad link", "%(number)s bad links"),
    )
    facts = [links] if any(numbers) else []
    files = recorded(connection, crawl.id, "RESULT_FOLDER", "WARC_FILE")
    if row.state == State.DONE and not crawl.is_foreign and _writes_gexf(connection, crawl):
        insecure = f"http://{site_row.site.partition('://')[2]}"  # the only other site on which the name depends
        with_name = select(site.c.site).where(site.c.crawl_id == crawl.id, site.c.site == insecure)
        names = connection.execute(with_name).scalars().all()
        stem = file_stem(site_row.site, names, site_row.folder or "")
        recorded_at = recorded_folder(connection, crawl.id)
        file = f"{_shown(recorded_at) or files.get('RESULT_FOLDER') or 'RESULT_FOLDER'}/{stem}.gexf"
        in_graph = fact(Topic.KEPT, "in the graph of its site: %(file)s", file=file)
        if crawl.state == RUNNING:
            in_graph = fact(Topic.KEPT, "in the graph of its site: %(file)s when the crawl has ended", file=file)
        if recorded_at is None or successor(connection, crawl.id, recorded_at) is None:
            facts.append(in_graph)
    warc = files.get("WARC_FILE")
    if warc not in (None, "", "None"):
        names = _warc_files(connection, crawl.id, str(warc))
        shown = ", ".join(names[:MAX_FILES])
        if len(names) == 1:
            facts.append(fact(Topic.KEPT, "request and response in %(file)s", file=shown))
        else:
            of_workers = "request and response in one of %(number)s files of workers: %(files)s"
            facts.append(fact(Topic.KEPT, of_workers, number=len(names), files=shown))
    return facts


def _writes_gexf(connection: Connection, crawl: NamedCrawl) -> bool:
    """Return whether the latest run of the crawl writes GEXF files of its sites: most missions write none."""
    stored = connection.execute(select(stored_crawl.c.manifest).where(stored_crawl.c.id == crawl.id)).scalar_one()
    manifest = json.loads(stored)
    of_latest = (manifest.get("command") or {}).get("settings", {})
    recorded = {one.name: one.text for one in setting_lines(manifest)} | of_latest
    return "gexf" in recorded.get("GRAPH_FORMATS", "").split(",")


def _shown(folder: Path | None) -> Path | None:
    return folder.relative_to(Path.cwd()) if folder is not None and folder.is_relative_to(Path.cwd()) else folder


def _warc_files(connection: Connection, crawl_id: int, warc: str) -> list[str]:
    """Return the WARC files of a crawl: workers that joined others have files of their own."""
    earlier = worker.alias()
    joined_another = (
        exists()
        .where(earlier.c.crawl_id == crawl_id, earlier.c.id < worker.c.id)
        .where(or_(earlier.c.ended_at.is_(None), earlier.c.ended_at > worker.c.joined_at))
    )
    joined = connection.execute(
        select(worker.c.id).where(worker.c.crawl_id == crawl_id, joined_another).order_by(worker.c.id)
    ).scalars()
    return [warc, *(of_worker(warc, number) for number in joined)]

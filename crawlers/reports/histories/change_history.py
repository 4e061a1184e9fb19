"""The changes of a page between visits, the sitemap that lists it, and where it is kept: in store, graph and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import exists, func, or_, select, text

from crawlers.files.atomic import file_stem, of_worker
from crawlers.items import State
from crawlers.reports.crawl_manifest import setting_lines
from crawlers.reports.histories.history import (
    SHOWN,
    Count,
    Fact,
    Moment,
    Topic,
    Url,
    counted_times,
    event,
    fact,
    said,
    url_of,
)
from crawlers.store.reading.crawl_settings import recorded, recorded_folder, successor
from crawlers.store.reading.crawls import RUNNING
from crawlers.store.reading.url_counts import kind_of
from crawlers.store.schema.tables import (
    bad_link,
    external_link,
    link,
    link_change,
    page_change,
    site,
    sitemap,
    sitemap_url,
    worker,
)
from crawlers.store.schema.tables import crawl as stored_crawl

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crawlers.reports.histories.history import Part, Said
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


# The count of a link before and after each change.
_LINKS = """
    SELECT c.target_id, c.changed_at, c.last_seen, c.count AS before, coalesce(
            lead(c.count) OVER (PARTITION BY c.target_id ORDER BY c.changed_at), l.count, 0) AS after
    FROM link_change c LEFT JOIN link l ON l.source_id = c.source_id AND l.target_id = c.target_id
    WHERE c.source_id = :page ORDER BY c.changed_at DESC, c.target_id LIMIT :shown"""


def change_events(connection: Connection, page_id: int) -> list[Fact]:
    """Return how often a page and its links changed, and the latest of these changes."""
    of_page = page_change.c.page_id == page_id
    changes = connection.execute(select(func.count()).where(of_page)).scalar_one()
    if not changes:
        return []
    some = said("changed %(times)s; the last %(shown)s are shown", times=counted_times(changes), shown=SHOWN)
    found = [Fact(Topic.CHANGE, some if changes > SHOWN else said("changed %(times)s", times=counted_times(changes)))]
    previous = select(page_change).where(of_page).order_by(page_change.c.changed_at.desc()).limit(SHOWN)
    found += [Fact(Topic.CHANGE, _previous(row), row.changed_at) for row in connection.execute(previous)]
    number = connection.execute(
        select(func.count()).select_from(link_change).where(link_change.c.source_id == page_id)
    ).scalar_one()
    if number:
        times = counted_times(number)
        some = said("its links changed %(times)s; the last %(shown)s are shown", times=times, shown=SHOWN)
        found.append(Fact(Topic.CHANGE, some if number > SHOWN else said("its links changed %(times)s", times=times)))
        rows = connection.execute(text(_LINKS), {"page": page_id, "shown": SHOWN}).all()
        found += [
            Fact(Topic.CHANGE, _link(row, Url(url_of(connection, row.target_id))), row.changed_at) for row in rows
        ]
    return found


def _previous(row: Any) -> Said:
    was: list[str] = [kind_of(State(row.state), row.status)]
    was += [f"status {row.status}"] if row.status else []
    was += [f"content {row.content_hash[:8]}"] if row.content_hash else []
    if row.last_seen is None:
        return said("found changed; before that: %(before)s", before=", ".join(was))
    return said("found changed; until %(seen)s: %(before)s", seen=Moment(row.last_seen), before=", ".join(was))


def _link(row: Any, target: Url) -> Said:
    if not row.before:
        return said("new link to %(url)s", url=target)
    parts: dict[str, Part] = {"url": target, "before": row.before}
    if row.after:
        parts["after"] = row.after
        if row.last_seen is None:
            return said("%(after)s links to %(url)s, earlier %(before)s", **parts)
        return said("%(after)s links to %(url)s, until %(seen)s %(before)s", seen=Moment(row.last_seen), **parts)
    if row.last_seen is None:
        return said("no link to %(url)s any more", url=target)
    return said("no link to %(url)s any more, last seen %(seen)s", url=target, seen=Moment(row.last_seen))


def sitemap_events(connection: Connection, site_id: int, key: int) -> list[Fact]:
    """Return the first sitemap of a site that lists the page *key*; nothing if none does."""
    is_its = (sitemap.c.site_id == sitemap_url.c.site_id) & (sitemap.c.key == sitemap_url.c.sitemap_key)
    found = connection.execute(
        select(sitemap.c.url, sitemap_url.c.modified_at, sitemap.c.read_at)
        .join(sitemap, is_its)
        .where(sitemap_url.c.site_id == site_id, sitemap_url.c.key == key)
    ).one_or_none()
    if found is None or found.read_at is None:
        return []
    further = (
        [] if found.modified_at is None else [said("last change, as listed: %(at)s", at=Moment(found.modified_at))]
    )
    return [event(found.read_at, Topic.FOUND, "listed in the sitemap %(sitemap)s", further, sitemap=Url(found.url))]

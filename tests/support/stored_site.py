"""Sites for the tests of graphs: pages with links, duplicates, redirects and external links."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from crawlers.items import State
from crawlers.store.schema import tables
from crawlers.store.schema.tables import EndedPage, PageLinks
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.keys import url_key
from crawlers.urls.resolution import resolve
from tests.support.stored_rows import add_sites, new_page, page_ids, write_changes_of

_numbers = count(1)
DONE, MOVED, REFUSED = State.DONE, State.MOVED, State.REFUSED


@dataclass(frozen=True)
class Stored:
    """A stored page; links, external URLs and redirects by index or name."""

    path: str
    level: int = 1
    state: State = DONE
    body: str | None = None  # equal bodies are duplicates; None: unique
    links: dict[int, int] = field(default_factory=dict)
    external: tuple[str, ...] = ()
    moved_to: int | None = None
    leaves: bool = False  # its redirect leads to another site
    title: str = ""
    bad: tuple[str, ...] = ()  # links that are no URLs
    reason: str | None = None
    latency_s: float | None = None
    size_bytes: int = 9


def store(database, pages, order=None, name="", base="http://a.test", crawl_id=1):
    """Store a new site called *name* with *pages* at *base*, numbered in *order*, and return its id."""
    order = range(len(pages)) if order is None else order
    site_id = add_sites(database, crawl_id, name or f"http://host{next(_numbers)}.test")[0].id
    ids = dict(zip(order, page_ids(database, len(pages)), strict=True))
    changes = ChangeSet()
    for index in order:
        page, page_id = pages[index], ids[index]
        url = f"{base}{page.path}"
        body = (page.body or page.path).encode().hex().zfill(32)[-32:]
        changes.add(new_page(page_id, site_id, key=resolve(url, "").key, url=url, level=page.level))
        moved_to = None if page.moved_to is None else ids[page.moved_to]
        status = {DONE: 200, MOVED: 301}.get(page.state, 404)
        content_hash = body if page.state is DONE else None
        ended = (page_id, int(page.state), page.reason, 1, 0.0, 0.0, status, moved_to, content_hash, 0, page.title)
        changes.add(EndedPage(*ended, None, None, page.size_bytes, None, None, None, page.latency_s))
        changes.add(*[tables.BadLinkRow(page_id, raw, "not_a_url", 1, None) for raw in page.bad])
        changes.add(PageLinks(page_id, {ids[target]: count for target, count in page.links.items()}))
        for url in page.external + (("http://left.test/",) if page.leaves else ()):
            tag = "redirect" if url == "http://left.test/" else "a"
            changes.add(tables.ExternalUrlRow(url_key(url), "http://b.test", url, resolve(url, "").key))
            changes.add(tables.LinkContextRow(url_key(tag), "", "", "", "", tag))
            changes.add(tables.ExternalLinkRow(page_id, url_key(url), url_key(tag), 1))
    write_changes_of(database, changes)
    return site_id

"""Stored crawls with scores: pages, links, and the values of the order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from crawlers.items import State
from crawlers.ranking.opic import OPIC
from crawlers.store.schema.tables import ImportanceRow, OrderTotalsRow, PageLinks
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.keys import url_key
from tests.support.stored_rows import begin, ended_page, new_page, page_ids, write_changes_of

if TYPE_CHECKING:
    from collections.abc import Mapping


A, B = "http://a.test", "http://b.test"


class Linked(NamedTuple):
    """A page and the URLs that it links to; a waiting page has no links."""

    url: str
    links: tuple[str, ...] | None = None
    body: str = ""  # equal bodies are duplicates; empty = unique
    moved_to: str = ""
    title: str = ""


class Stored(NamedTuple):
    """A stored crawl, with numbers by name."""

    id: int
    sites: Mapping[str, int]
    pages: Mapping[str, int]
    opic: OPIC

    def share(self, url):
        """Return the importance of a page that was read."""
        read = [page for page in self.pages.values() if self.opic.queue(page) == 1]
        return self.opic.importance(self.pages[url]) / sum(map(self.opic.importance, read))


def site_of(url):
    return "/".join(url.split("/")[:3])


def store(database, pages, *, order="aopic", mission="broad", name="broad", rounds=3, settings=None):
    """Store a crawl of *pages*, all read *rounds* times by AOPIC, whatever its recorded *order*."""
    names = sorted({site_of(one.url) for one in pages})
    recorded = {"ORDER": order, "AOPIC_WINDOW_VISITS": 2.0, **(settings or {})}
    crawl = begin(database, *names, name=name, mission=mission, **recorded)
    sites = {row.site: row.id for row in crawl.sites}
    ids = dict(zip((one.url for one in pages), page_ids(database, len(pages)), strict=True))
    changes = ChangeSet()
    for one in pages:
        page_id, site_id, key = ids[one.url], sites[site_of(one.url)], url_key(one.url)
        changes.add(new_page(page_id, site_id, key=key, url=one.url, level=1, found_at=10.0))
        if one.moved_to:
            state, moved_to = State.MOVED, ids[one.moved_to]
        else:
            state, moved_to = State.DONE, None
        if one.links is None and not one.moved_to:
            continue
        content = (one.body or one.url).encode().hex().zfill(32)[-32:] if state is State.DONE else None
        read = {"fetched_at": 20.0, "state_at": 20.0, "title": one.title, "size_bytes": 9}
        changes.add(ended_page(page_id, state, moved_to=moved_to, content_hash=content, content_signature=0, **read))
        counts = {}
        for url in one.links or ():
            counts[ids[url]] = counts.get(ids[url], 0) + 1
        changes.add(PageLinks(page_id, counts))
    opic = _read(pages, ids, rounds)
    for url, page in ids.items():
        changes.add(ImportanceRow(page, sites[site_of(url)], opic.queue(page), opic.score(page), *opic.record(page)))
    changes.add(OrderTotalsRow(crawl.id, 0, json.dumps(opic.totals()), "[]"))
    write_changes_of(database, changes)
    return Stored(crawl.id, sites, ids, opic)


def _read(pages, ids, rounds):
    opic = OPIC(window=2.0)
    for page in ids.values():
        opic.add_waiting(page, 0)
    for one in pages:
        if one.moved_to:
            opic.record_alias(ids[one.url], ids[one.moved_to])
    for _ in range(rounds):
        for one in pages:
            if one.links is not None:
                opic.fetched(ids[one.url], {ids[url]: 1.0 for url in one.links})
    return opic

"""Stored topic crawls given as literals, for tests of reports and graphs."""

import json

from sqlalchemy import insert

from crawlers.items import State
from crawlers.missions.topic.topic_file import topic_terms
from crawlers.missions.topic.topic_tables import topic_page
from crawlers.store.schema.tables import link, page
from crawlers.store.sites.site_opening import SiteRow
from tests.support.stored_rows import begin, execute, new_page, write_rows

NAMES = ("http://a.test", "http://b.test")


def begin_topic(database, name="topic", **terms):
    """Store a crawl, with a topic if there are *terms*; return it with its two sites."""
    row = begin(database, *(SiteRow(0, site, 2, None, 0.0) for site in NAMES), name=name, mission="topic", now=1.0)
    if terms:
        write_rows(database, topic_terms(row.id, terms))
    return row.id, [site.id for site in row.sites]


def add_page(database, number, site, url, terms=None, similarity=0.0, **columns):
    """Store a page, which was read if it has *terms*; otherwise *columns* give its state."""
    found = new_page(number, site, State.DONE, url=url, level=1, found_at=1.0, state_at=2.0)
    row = {**found._asdict(), "fetched_at": 1.5, **columns}
    execute(database, insert(page).values(row))
    if terms is not None:
        values = {"page_id": number, "similarity": similarity, "terms": json.dumps(dict(terms))}
        execute(database, insert(topic_page).values(values))


def add_links(database, *rows):
    """Store links, given as (source, target, count)."""
    names = ("source_id", "target_id", "count")
    execute(database, insert(link), [dict(zip(names, row, strict=True)) for row in rows])

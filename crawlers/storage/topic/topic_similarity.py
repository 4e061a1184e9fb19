"""Computes the final similarities of a topic crawl, from all pages that it read."""

from __future__ import annotations

import json
import math
from array import array
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select, update

from crawlers.algorithms.topic.vectors import DocumentFrequencies, Topic
from crawlers.storage.schema.score_tables import topic_page
from crawlers.storage.schema.tables import page, site
from crawlers.storage.topic.topics import terms_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.storage.database import Database

DECIMALS = 12  # further digits depend on the processor (logarithm, square root)
PAGES_AT_ONCE = 500  # rows read and written together: the terms of a page take some kilobytes


def store_similarities(database: Database, crawl_id: int) -> float | None:
    """Store the similarity of each page of a topic crawl to its topic, with the document frequencies of all its pages.

    So the similarities depend on which pages were read, but not on their order. Runs in one transaction, with the
    vocabulary in memory. Returns their mean, or None if the crawl has no topic and so no pages. Raises `StoreError`.
    """
    terms = terms_of(database, crawl_id)
    if terms is None:
        return None
    topic = Topic(terms)
    seen = DocumentFrequencies(counts for pages in _pages(database, crawl_id) for _, counts in pages)
    statement = (
        update(topic_page)
        .where(topic_page.c.page_id == bindparam("settled_id"))
        .values(similarity=bindparam("settled_similarity"))
    )
    settled = array("d")
    with database.write() as connection:
        for pages in _pages(database, crawl_id):
            rows = []
            for page_id, counts in pages:
                similarity = round(topic.tf_idf_similarity(counts, seen), DECIMALS)
                rows.append({"settled_id": page_id, "settled_similarity": similarity})
                settled.append(similarity)
            connection.execute(statement, rows)
    return math.fsum(settled) / max(len(settled), 1)


def _pages(database: Database, crawl_id: int) -> Iterator[list[tuple[int, dict[str, int]]]]:
    """Yield the pages that were read, with their terms, in blocks of `PAGES_AT_ONCE`."""
    statement = (
        select(topic_page.c.page_id, topic_page.c.terms)
        .join(page, page.c.id == topic_page.c.page_id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id)
    )
    with database.read() as connection:
        rows = connection.execution_options(yield_per=PAGES_AT_ONCE).execute(statement)
        for some in rows.partitions():
            yield [(page_id, json.loads(terms)) for page_id, terms in some]

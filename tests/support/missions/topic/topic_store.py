"""Stored topic crawls given as literals, for tests of reports and graphs."""

import json

from crawlers.missions.topic.topic_file import topic_terms
from crawlers.missions.topic.topic_tables import TopicPageRow
from tests.support import stored_pages
from tests.support.stored_pages import begin_crawl
from tests.support.stored_rows import write_rows


def begin_topic(database, name="topic", **terms):
    """Store a crawl, with a topic if there are *terms*; return its number, and those of its two sites."""
    crawl_id, sites = begin_crawl(database, name, "topic")
    if terms:
        write_rows(database, topic_terms(crawl_id, terms))
    return crawl_id, sites


def add_page(database, number, site, url, terms=None, similarity=0.0, **columns):
    """Store a page, which was read if it has *terms*; otherwise *columns* give its state."""
    stored_pages.add_page(database, number, site, url, **columns)
    if terms is not None:
        write_rows(database, TopicPageRow(number, similarity, json.dumps(dict(terms))))

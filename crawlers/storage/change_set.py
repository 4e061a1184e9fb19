"""What one event of the crawl writes: rows that are committed together or not at all.

Rows are plain lists in the order of the column tuples below, because they travel to the database as
JSON text: one statement a table and batch, run without Python's lock, instead of one call a row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

Row = list[Any]

NEW_PAGE = (
    ("id", "bigint"),
    ("site_id", "integer"),
    ("key", "bigint"),
    ("url", "text"),
    ("variant", "integer"),
    ("level", "integer"),
    ("hops", "integer"),
    ("priority", "float"),
    ("state", "integer"),
    ("reason", "text"),
    ("request", "text"),
    ("found_on", "bigint"),
    ("found_at", "float"),
    ("state_at", "float"),
    ("link_group", "integer"),
)
# A page found again, nearer or in a better spelling, that waits or is too deep; or one that goes back to waiting.
WAITING_PAGE = (
    ("id", "bigint"),
    ("url", "text"),
    ("variant", "integer"),
    ("level", "integer"),
    ("hops", "integer"),
    ("priority", "float"),
    ("state", "integer"),
    ("reason", "text"),
    ("attempts", "integer"),
    ("request", "text"),
    ("state_at", "float"),
)
ENDED_PAGE = (
    ("id", "bigint"),
    ("state", "integer"),
    ("reason", "text"),
    ("attempts", "integer"),
    ("fetched_at", "float"),
    ("state_at", "float"),
    ("status", "integer"),
    ("moved_to", "bigint"),
    ("content_hash", "text"),
    ("content_signature", "bigint"),
    ("title", "text"),
    ("canonical", "text"),
    ("content_type", "text"),
    ("size_bytes", "bigint"),
    ("etag", "text"),
    ("last_modified", "text"),
)
# A page that is as it was.
SEEN_AGAIN = (
    ("id", "bigint"),
    ("reason", "text"),
    ("fetched_at", "float"),
    ("etag", "text"),
    ("last_modified", "text"),
)
PAGE_CHANGE = (
    ("page_id", "bigint"),
    ("changed_at", "float"),
    ("last_seen", "float"),
    ("state", "integer"),
    ("status", "integer"),
    ("content_hash", "text"),
)
LINK_CHANGE = (
    ("source_id", "bigint"),
    ("target_id", "bigint"),
    ("changed_at", "float"),
    ("last_seen", "float"),
    ("count", "integer"),
)
_SCORES = (("page_id", "bigint"), ("site_id", "integer"), ("queue", "integer"), ("score", "float"))
IMPORTANCE = (*_SCORES, ("cash", "float"), ("history", "float"), ("visited", "float"), ("alias", "float"))
RELEVANCE = (*_SCORES, ("anchor", "float"), ("level", "integer"), ("rank", "float"))
NEWS_SCORE = (*_SCORES, ("value", "float"), ("opic", "float"))
POLL = (
    ("page_id", "bigint"),
    ("site_id", "integer"),
    ("kind", "text"),
    ("due_at", "float"),
    ("polled_at", "float"),
    ("polls", "integer"),
    ("failures", "integer"),
    ("new_items", "integer"),
    ("newest_at", "float"),
    ("rate", "text"),
    ("problem", "text"),
)
FEED = (("site", "text"), ("url", "text"), ("kind", "text"))  # the site of its source
FEED_ITEM = (
    ("feed_id", "bigint"),
    ("key", "bigint"),
    ("published_at", "float"),
    ("found_at", "float"),
    ("title", "text"),
)
PAGE_LABEL = (("page_id", "bigint"), ("site_id", "integer"), ("odds", "float"))
DOCUMENT = (
    ("page_id", "bigint"),
    ("site_id", "integer"),
    ("url", "text"),
    ("canonical", "text"),
    ("title", "text"),
    ("text", "text"),
    ("published_at", "float"),
    ("published", "text"),
    ("authors", "text"),
    ("section", "text"),
    ("language", "text"),
    ("image", "text"),
    ("extractor", "text"),
    ("text_hash", "text"),
    ("simhash", "bigint"),
    ("version", "integer"),
    ("stored_at", "float"),
    ("changed_at", "float"),
)
DOCUMENT_VERSION = (
    ("page_id", "bigint"),
    ("version", "integer"),
    ("title", "text"),
    ("text", "text"),
    ("published_at", "float"),
    ("stored_at", "float"),
)
DOCUMENT_KEY = (("high", "bigint"), ("low", "bigint"), ("page_id", "bigint"))
DOCUMENT_BAND = (("band", "bigint"), ("page_id", "bigint"), ("simhash", "bigint"))
ITERATION = (
    ("crawl_id", "integer"),
    ("number", "integer"),
    ("began_at", "float"),
    ("ended_at", "float"),
    ("fit", "integer"),
    ("not_fit", "integer"),
    ("polls", "integer"),
    ("errors", "integer"),
    ("documents", "integer"),
    ("duplicates", "integer"),
    ("total_documents", "integer"),
)
TOPIC_PAGE = (("page_id", "bigint"), ("similarity", "float"), ("terms", "text"))
LINK_TEXT = (("source_id", "bigint"), ("target_id", "bigint"), ("context_id", "bigint"))
ORDER_TOTALS = (("crawl_id", "integer"), ("totals", "text"))
EXTERNAL_URL = (("id", "bigint"), ("site", "text"), ("url", "text"), ("key", "bigint"))
LINK_CONTEXT = (
    ("id", "bigint"),
    ("anchor", "text"),
    ("context", "text"),
    ("position", "text"),
    ("rel", "text"),
    ("tag", "text"),
)
EXTERNAL_LINK = (("page_id", "bigint"), ("url_id", "bigint"), ("context_id", "bigint"), ("count", "integer"))
BAD_LINK = (("page_id", "bigint"), ("raw", "text"), ("reason", "text"))
LINK_GROUP = (("site_id", "integer"), ("number", "integer"), ("name", "text"))
COUNTED_KEY = (("site_id", "integer"), ("key", "bigint"))
PULL = (("site_id", "integer"), ("page_id", "bigint"), ("reward", "float"), ("ended_at", "float"))
SITE_ROBOTS = (("id", "integer"), ("robots_status", "integer"), ("robots_text", "text"), ("robots_at", "float"))
SITE_AVAILABILITY = (("id", "integer"), ("availability", "text"))
SITE_RULES = (("id", "integer"), ("rules", "text"))


@dataclass(slots=True)
class ChangeSet:
    """Rows of one event; or, while they wait for the writer, of many."""

    new_pages: list[Row] = field(default_factory=list)
    waiting_pages: list[Row] = field(default_factory=list)
    ended_pages: list[Row] = field(default_factory=list)
    links: list[Row] = field(default_factory=list)  # [source id, {target id: count}]
    external_urls: list[Row] = field(default_factory=list)
    link_contexts: list[Row] = field(default_factory=list)
    external_links: list[Row] = field(default_factory=list)
    bad_links: list[Row] = field(default_factory=list)
    link_groups: list[Row] = field(default_factory=list)
    counted_keys: list[Row] = field(default_factory=list)
    pulls: list[Row] = field(default_factory=list)  # in the order in which they ended
    seen_again: list[Row] = field(default_factory=list)
    page_changes: list[Row] = field(default_factory=list)
    lost_links: list[Row] = field(default_factory=list)  # [source id, target id]
    link_changes: list[Row] = field(default_factory=list)
    forgotten: list[Row] = field(default_factory=list)  # [page id]: its bad links were those of an earlier visit
    importance: list[Row] = field(default_factory=list)
    relevance: list[Row] = field(default_factory=list)
    news_score: list[Row] = field(default_factory=list)
    polls: list[Row] = field(default_factory=list)
    feeds: list[Row] = field(default_factory=list)
    feed_items: list[Row] = field(default_factory=list)
    page_labels: list[Row] = field(default_factory=list)
    documents: list[Row] = field(default_factory=list)
    document_versions: list[Row] = field(default_factory=list)
    document_keys: list[Row] = field(default_factory=list)
    document_bands: list[Row] = field(default_factory=list)
    iterations: list[Row] = field(default_factory=list)
    topic_pages: list[Row] = field(default_factory=list)
    link_texts: list[Row] = field(default_factory=list)
    order_totals: list[Row] = field(default_factory=list)
    site_robots: list[Row] = field(default_factory=list)
    site_availability: list[Row] = field(default_factory=list)
    site_rules: list[Row] = field(default_factory=list)

    def extend(self, other: ChangeSet) -> None:
        for name in _LISTS:
            rows = getattr(other, name)
            if rows:
                getattr(self, name).extend(rows)


_LISTS = tuple(f.name for f in fields(ChangeSet))

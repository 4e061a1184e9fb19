"""The rows by which the workers of a crawl send each other links; see `workers.exchange`."""

from __future__ import annotations

from typing import NamedTuple

from crawlers.store.schema.rows import DELETE, INSERT, INSERT_NEW, UPDATE, writes
from crawlers.store.schema.tables import LinkRow, link, message, page

NO_PAGE = 0  # the source of a message that is not a link
_SENT = tuple(message.c.keys()[1:])  # all but the number


@writes(
    message,
    INSERT,
    columns=_SENT,
    select="""
        SELECT r.crawl_id, site.id, r.source_id, r.target_id, r.key, r.url, r.level, r.hops, r.count, r.value,
            r.carried, r.sent_at, r.details
        FROM ({rows}) AS r JOIN site ON site.crawl_id = r.crawl_id AND site.site = r.site""",
)
class Message(NamedTuple):
    """A link to a page of a *site* that another worker holds, or nobody; the site must be one of the crawl."""

    crawl_id: int
    site: str
    source_id: int
    target_id: int | None
    key: int
    url: str
    level: int
    hops: int
    count: int  # type: ignore[assignment]  # hides the method of tuples
    value: float
    carried: float
    sent_at: float
    details: str | None
    id: int = 0  # given by the database


@writes(message, DELETE)
class TakenMessage(NamedTuple):
    """A message whose link is stored."""

    id: int


@writes(
    link,
    INSERT_NEW,
    columns=LinkRow._fields,
    select={
        "sqlite": """
            SELECT r.source_id, r.target_id, m.count
            FROM ({rows}) AS r JOIN message AS m ON m.id = r.message_id AND m.count > 0""",
        # The lock lets `ChangedLinks` of the source wait for this transaction, or this wait for them.
        "postgresql": """
            SELECT * FROM (
                SELECT r.source_id, r.target_id, m.count
                FROM ({rows}) AS r JOIN message AS m ON m.id = r.message_id AND m.count > 0
                ORDER BY m.id FOR UPDATE OF m
            ) AS found""",
    },
)
class ReceivedLink(NamedTuple):
    """The link of a message, unless the page was found changed since it was sent."""

    source_id: int
    target_id: int
    message_id: int


@writes(
    page,
    UPDATE,
    columns=("id", "moved_to"),
    select="SELECT r.id, r.moved_to FROM ({rows}) AS r JOIN page AS p ON p.id = r.id AND p.state = 2",
)
class MovedPage(NamedTuple):
    """The target of a redirect to a site of another worker."""

    id: int
    moved_to: int

"""The table of messages between the workers of a crawl, and what becomes of their links; see `workers.links`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    bindparam,
    delete,
    select,
    update,
)

from crawlers.store.schema.rows import ABOUT, DELETE, INSERT, INSERT_NEW, ROW_ID, UPDATE, writes, written_by
from crawlers.store.schema.tables import LinkRow, link, metadata, page, site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

NO_PAGE = 0  # the source of a message that is not a link

message = Table(
    "message",
    metadata,
    Column("id", ROW_ID, primary_key=True),
    Column("crawl_id", Integer, nullable=False),
    Column("site_id", Integer, nullable=False, doc="→ `site.id` of the target"),
    Column("source_id", BigInteger, nullable=False, doc="→ `page.id` of the page with the link; 0: robots.txt"),
    Column("target_id", BigInteger, doc="→ `page.id` of the target, if the sender knows it"),
    Column("key", BigInteger, nullable=False, doc="→ `page.key` of the target"),
    Column("url", Text, nullable=False, doc="URL of the target"),
    Column("level", Integer, nullable=False, doc="clicks from the root to the target"),
    Column("hops", SmallInteger, nullable=False, doc="redirects within this level"),
    Column("count", Integer, nullable=False, doc="links to be stored; 0: none"),
    Column("value", Float, nullable=False, doc="of the link"),
    Column("carried", Float, nullable=False, doc="cash, or the logarithm of a TimelyRank"),
    Column("sent_at", Float, nullable=False, doc="when the page was read"),
    Column("details", Text, doc="JSON: what few links have, such as texts"),
    Index("message_of_site", "crawl_id", "site_id", "id"),
    Index("message_of_page", "source_id"),
    info={ABOUT: "A link to a page of a site that another worker holds, or nobody, until its holder has stored it."},
)
message.add_is_dependent_on(site)  # a site and the first message to it may be found by one page
message.add_is_dependent_on(page)  # a page that is found and fetched within one batch may send itself a message
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


def _drop_old_links(connection: Connection, rows: Sequence[ChangedLinks]) -> None:
    kept = {row.source_id: set(row.kept) for row in rows}
    sources = list(kept)
    # Whoever is taking a message up ends first, and finds nothing to store afterwards. In the order of `ReceivedLink`.
    sent = (message.c.source_id.in_(sources), message.c.count > 0)
    connection.execute(select(message.c.id).where(*sent).order_by(message.c.id).with_for_update())
    connection.execute(update(message).where(*sent).values(count=0))
    stored = connection.execute(select(link.c.source_id, link.c.target_id).where(link.c.source_id.in_(sources))).all()
    gone = [{"source": source, "target": target} for source, target in stored if target not in kept[source]]
    if gone:
        of_link = (link.c.source_id == bindparam("source"), link.c.target_id == bindparam("target"))
        connection.execute(delete(link).where(*of_link), gone)


@written_by(link, DELETE, _drop_old_links)
class ChangedLinks(NamedTuple):
    """The targets to which a page that was found changed has as many links as before: its other links are no more.

    That includes links that are in messages, or were stored by another worker since the previous visit was read.
    """

    source_id: int
    kept: list[int]


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

"""Links to pages of sites that other workers hold, or nobody: they are sent as messages, and taken up as links.

A message is written in the transaction of the page with the link, and deleted in the one that stores the link.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from crawlers.frontier.acknowledgement import is_unchanged
from crawlers.frontier.values import IncomingLink, OutgoingLinks
from crawlers.items import Hint, LinkPlace, Target
from crawlers.store.schema.message_tables import NO_PAGE, Message, MovedPage, ReceivedLink, TakenMessage
from crawlers.store.schema.tables import LinkAnchorRow, LinkChangeRow, LinkTextRow
from crawlers.store.streaming import AMONG
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.page_rows import add_contexts
from crawlers.urls.resolution import variant_rank

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from crawlers.frontier.frontier import Frontier
    from crawlers.frontier.values import Decision, Lease
    from crawlers.store.database import Database
    from crawlers.store.schema.rows import Row

_WAITING = """
    SELECT p.id, site.site, p.key, p.url FROM page AS p JOIN {table} AS s ON s.page_id = p.id
    JOIN site ON site.id = p.site_id WHERE site.is_open AND s.queue >= 0 AND p.id"""


class Details(NamedTuple):
    """What few messages contain."""

    normalized: str | None = None  # of the target, if it differs from the URL
    request: str | None = None
    hint: Hint | None = None  # for the target
    anchor: str | None = None  # text of the first link, if it is stored
    place: Sequence[str] | None = None  # what the page shows of the link, if the order learns from links
    contexts: Sequence[int] = ()  # numbers of the texts of the links
    is_new: bool = False  # the page did not have the link when it was last visited
    has_moved: bool = False  # the page redirects to the target


def link_message(
    crawl_id: int, source_id: int, target: Target, level: int, hops: int, now: float, details: Details
) -> Message:
    """Return the message that a page leads to *target*; it carries no links and nothing else yet."""
    if target.normalized != target.url:
        details = details._replace(normalized=target.normalized)
    where = (target.key, target.url, level, hops)
    return Message(crawl_id, target.site, source_id, None, *where, 0, 0.0, 0.0, now, text_of(details))


def root_message(crawl_id: int, target: Target, hint: Hint | None, now: float) -> Message:
    """Return the message that *target*, on level 0, is to be fetched; no page of the crawl has a link to it."""
    return link_message(crawl_id, NO_PAGE, target, 0, 0, now, Details(hint=hint))


def text_of(details: Details) -> str | None:
    """Return *details* as JSON; None if there are none."""
    given = {name: one for name, one in details._asdict().items() if one or one == ""}
    return json.dumps(given) if given else None


def details_of(message: Message) -> Details:
    """Return the details of a message."""
    return Details(**json.loads(message.details)) if message.details else Details()


class SentLinks:
    """Makes the messages of pages, which the *frontier* acknowledges, to the sites that are not open in it."""

    def __init__(self, frontier: Frontier, database: Database) -> None:
        self._frontier = frontier
        self._scoring = frontier.scoring
        self._database = database
        self._crawl_id = frontier.store.crawl_id

    def of_page(self, lease: Lease, decision: Decision, now: float) -> OutgoingLinks:
        """Return what the page of *decision* says to other workers; the numbers of texts are added to its changes."""
        previous = lease.previous
        if previous is not None and is_unchanged(decision.page, previous):
            return OutgoingLinks(list(self._again(lease, previous.links, now)))
        messages = [*self._redirect(lease, decision, now), *self._links(lease, decision, now)]
        return OutgoingLinks(messages) if previous is None or not messages else self._numbered(messages, decision)

    def _is_away(self, site: str) -> bool:
        return self._frontier.schedule.by_name(site) is None

    def _redirect(self, lease: Lease, decision: Decision, now: float) -> Iterator[Message]:
        target = decision.page.moved_to
        if target is not None and self._is_away(target.site):
            hint = decision.hints.get(target.key)
            if hint is None and self._scoring is not None:
                hint = self._scoring.scores.passed_on(lease.id)
            details = Details(hint=hint, has_moved=True)
            yield link_message(self._crawl_id, lease.id, target, lease.level, lease.hops + 1, now, details)

    def _links(self, lease: Lease, decision: Decision, now: float) -> Iterator[Message]:
        page, places, values = decision.page, decision.links.places, decision.links.values or {}
        found: dict[int, tuple[Target, int]] = {}  # by key
        for target, count in page.cross_site_links:
            if self._is_away(target.site):
                first, before = found.get(target.key, (target, 0))
                best = min(first, target, key=lambda one: (variant_rank(one), one.url))
                found[target.key] = best, before + count
        contexts: dict[int, list[int]] = {}
        for key, number in add_contexts(decision.changes, decision.links.texts, found, {}):
            contexts.setdefault(key, []).append(number)
        anchors = page.anchors.texts(found) if page.anchors is not None and found else {}
        for key, (target, count) in found.items():
            of_link = (decision.hints.get(key), anchors.get(key), places.get(key), contexts.get(key, ()))
            details = Details(None, None, *of_link)
            message = link_message(self._crawl_id, lease.id, target, lease.level + 1, 0, now, details)
            yield message._replace(count=count, value=values.get(key, 0.0))

    def _again(self, lease: Lease, links: Collection[int], now: float) -> Iterator[Message]:
        """Yield the messages of an unchanged page: its *links* are stored, but carry cash again."""
        if self._scoring is None or not self._scoring.scores.is_shared:
            return
        away = [number for number in links if not self._scoring.holds(number)]
        statement = _WAITING.format(table=self._scoring.scores.table) + AMONG[self._database.engine.dialect.name]
        for number, site, key, url in self._database.rows(text(statement), ids=json.dumps(away)) if away else ():
            if self._is_away(site):
                where = (site, lease.id, number, key, url, lease.level + 1, 0)
                yield Message(self._crawl_id, *where, 0, 0.0, 0.0, now, None)

    def _numbered(self, sent: Sequence[Message], decision: Decision) -> OutgoingLinks:
        """Return the messages of a page that was visited before, with the numbers of the targets that are known.

        Links to these may have been stored at an earlier visit. Messages that say nothing new are left out.
        """
        pays_again = self._scoring is None or self._scoring.scores.is_shared
        numbers = self._frontier.store.numbers([(message.site, message.key) for message in sent])
        known: dict[int, int] = {}
        numbered = []
        for message in sent:
            number = numbers.get(message.key)
            if number is not None and message.count:
                known[number] = message.count
                message = message._replace(target_id=number, count=0)
                if not pays_again and details_of(message).hint is None:
                    continue
            elif message.count and decision.records_changes:
                details = details_of(message)._replace(is_new=True)
                message = message._replace(details=text_of(details))
            elif message.count:
                message = message._replace(count=0)
            numbered.append(message)
        return OutgoingLinks(numbered, known)


def incoming(message: Message) -> IncomingLink:
    """Return the link of a message."""
    details = details_of(message)
    target = Target(message.url, details.normalized or message.url, message.key, message.site)
    hint = tuple(details.hint) if details.hint is not None else None
    place = LinkPlace(*details.place) if details.place is not None else None
    return IncomingLink(message, target, hint, place, details.request)


def receive(frontier: Frontier, links: Iterable[IncomingLink], now: float) -> None:
    """Let the *frontier* take up *links*, in this order; those to sites that are not open are ignored."""
    changes = ChangeSet()
    for link in links:
        if frontier.schedule.by_name(link.target.site) is not None:
            changes.add(*_rows(link.message, frontier.discovery.receive(link, now, changes)))
    frontier.submit(changes, now)


def _rows(message: Message, number: int) -> Iterator[Row]:
    """Yield the rows by which a message to the page with that *number* is taken up."""
    details, source_id = details_of(message), message.source_id
    yield TakenMessage(message.id)
    if message.count:
        yield ReceivedLink(source_id, number, message.id)
        if details.is_new:
            yield LinkChangeRow(source_id, number, message.sent_at, None, 0)
    for context in details.contexts:
        yield LinkTextRow(source_id, number, context)
    if details.anchor is not None:
        yield LinkAnchorRow(source_id, number, details.anchor)
    if details.has_moved:
        yield MovedPage(source_id, number)

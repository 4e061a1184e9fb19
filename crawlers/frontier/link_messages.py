"""Links to pages of sites that this worker does not hold: they are sent to the workers that do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from crawlers.items import QueueSlot, Target
from crawlers.store.schema.message_tables import NO_PAGE, Message

if TYPE_CHECKING:
    from collections.abc import Sequence


class Details(NamedTuple):
    """What few messages contain."""

    normalized: str | None = None  # of the target, if it differs from the URL
    request: str | None = None
    slot: tuple[int, float] | None = None
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


def root_message(crawl_id: int, target: Target, slot: QueueSlot | None, now: float) -> Message:
    """Return the message that *target*, on level 0, is to be fetched; no page of the crawl has a link to it."""
    details = Details(slot=(slot.queue, slot.value) if slot is not None else None)
    return link_message(crawl_id, NO_PAGE, target, 0, 0, now, details)


def text_of(details: Details) -> str | None:
    """Return *details* as JSON; None if there are none."""
    given = {name: one for name, one in details._asdict().items() if one or one == ""}
    return json.dumps(given) if given else None


def details_of(message: Message) -> Details:
    """Return the details of a message."""
    return Details(**json.loads(message.details)) if message.details else Details()


def target_of(message: Message, details: Details) -> Target:
    """Return the target of the link."""
    return Target(message.url, details.normalized or message.url, message.key, message.site)

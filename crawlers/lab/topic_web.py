"""The stored web of a topic crawl: the terms of its pages, and the texts and targets of their links."""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.items import State
from crawlers.lab.simulation.topic_replay import FetchOutcome
from crawlers.storage.redirect_chains import final_target, redirects_of
from crawlers.storage.schema.score_tables import link_text, relevance, topic_page
from crawlers.storage.schema.tables import link, link_context, page, site

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from sqlalchemy import Connection

    from crawlers.storage.database import Database

CACHED_TEXTS = 50_000  # link texts whose value is cached: those of menus are on every page


class StoredLink(NamedTuple):
    """The links from one page to another."""

    url: str
    texts: Collection[tuple[str, str]]  # of each link: its anchor text, and the anchor with the surrounding text


class StoredWeb:
    """The pages that a crawl discovered, as a `topic_replay.Web`; *worth* returns the value of a link's text."""

    def __init__(self, connection: Connection, crawl_id: int, worth: Callable[[str], float]) -> None:
        self._connection = connection
        self.worth = lru_cache(CACHED_TEXTS)(worth)
        self.roots: list[int] = []
        #: Site, state and redirect target by page.
        self.pages: dict[int, tuple[int, State, int | None]] = {}
        statement = (
            select(page.c.id, page.c.site_id, page.c.state, page.c.moved_to, page.c.level, page.c.found_on)
            .join(site, site.c.id == page.c.site_id)
            .join(relevance, relevance.c.page_id == page.c.id)  # pages that were rejected when discovered have none
            .where(site.c.crawl_id == crawl_id)
            .order_by(page.c.id)
        )
        for number, site_id, state, moved_to, level, found_on in connection.execute(statement):
            self.pages[number] = site_id, State(state), moved_to
            if level == 0 and found_on is None:
                self.roots.append(number)

    def site(self, number: int) -> int | None:
        """As `topic_replay.Web`."""
        known = self.pages.get(number)
        return None if known is None else known[0]

    def outcome(self, number: int) -> FetchOutcome | None:
        """As `topic_replay.Web`."""
        _, state, moved_to = self.pages[number]
        if state is State.WAITING:
            return None
        return FetchOutcome(state is State.DONE, state is not State.REJECTED, moved_to)

    def links(self, number: int) -> Mapping[int, float]:
        """As `topic_replay.Web`: the value of a link is that of its best text."""
        return {
            target: max((self.worth(context) for _, context in found.texts), default=0.0)
            for target, found in self.texts(number).items()
        }

    def texts(self, number: int) -> dict[int, StoredLink]:
        """As `links_of`."""
        return links_of(self._connection, number)


def links_of(connection: Connection, number: int) -> dict[int, StoredLink]:
    """Return the links of a page by target, in the order in which the targets were discovered."""
    statement = (
        select(link.c.target_id, page.c.url, link_context.c.anchor, link_context.c.context)
        .join(page, page.c.id == link.c.target_id)
        .outerjoin(
            link_text,
            (link_text.c.source_id == link.c.source_id) & (link_text.c.target_id == link.c.target_id),
        )
        .outerjoin(link_context, link_context.c.id == link_text.c.context_id)
        .where(link.c.source_id == number)
        .order_by(link.c.target_id)
    )
    found: dict[int, tuple[str, set[tuple[str, str]]]] = {}
    for target, url, anchor, context in connection.execute(statement):
        texts = found.setdefault(target, (url, set()))[1]
        if context is not None:
            texts.add((anchor, context))
    return {target: StoredLink(url, texts) for target, (url, texts) in found.items()}


@contextmanager
def stored_web(database: Database, crawl_id: int, worth: Callable[[str], float]) -> Iterator[StoredWeb]:
    """Yield the web of a crawl; *worth* returns the value, in [0, 1], of a link's text."""
    with database.read() as connection:
        yield StoredWeb(connection, crawl_id, worth)


def terms_of_page(database: Database, number: int) -> dict[str, int]:
    """Return the term frequencies of a page that was read."""
    statement = select(topic_page.c.terms).where(topic_page.c.page_id == number)
    with database.read() as connection:
        return dict(json.loads(connection.execute(statement).scalar_one()))


def links_between(database: Database, crawl_id: int) -> Iterator[tuple[int, int]]:
    """Yield the links of a crawl as (source, target); redirects are followed to their final targets."""
    target = page.alias()
    of_crawl = site.c.crawl_id == crawl_id
    statement = (
        select(link.c.source_id, link.c.target_id)
        .join(page, page.c.id == link.c.source_id)
        .join(site, site.c.id == page.c.site_id)
        .join(target, target.c.id == link.c.target_id)
        .where(of_crawl, target.c.state.in_((int(State.DONE), int(State.MOVED))))
        .order_by(link.c.source_id, link.c.target_id)
    )
    with database.read() as connection:
        moved = redirects_of(connection, crawl_id)
        for source, to in connection.execution_options(yield_per=10_000).execute(statement):
            if (end := final_target(to, moved)) is not None:
                yield source, end

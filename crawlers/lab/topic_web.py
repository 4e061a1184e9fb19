"""The stored web of a topic crawl: the terms of its pages, and the texts and targets of their links."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sqlalchemy import select

from crawlers.items import LinkPlace, State
from crawlers.lab.simulation.topic_replay import FetchOutcome
from crawlers.missions.topic.topic_tables import relevance, topic_page
from crawlers.missions.topic.vectors import DocumentFrequencies
from crawlers.ranking.link_features import link_features
from crawlers.store.reading.redirect_chains import final_target, redirects_of
from crawlers.store.schema.score_tables import link_text
from crawlers.store.schema.tables import link, link_context, page, site
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from sqlalchemy import Connection

    from crawlers.missions.topic.terms import Terms
    from crawlers.missions.topic.vectors import Topic
    from crawlers.ranking.link_table import Features
    from crawlers.store.database import Database

CACHED_TEXTS = 50_000  # link texts whose value is cached: those of menus are on every page


class StoredLink(NamedTuple):
    """The links from one page to another."""

    url: str
    texts: Collection[tuple[str, str]]  # of each link: its anchor text, and the anchor with the surrounding text


class StoredWeb:
    """The pages that a crawl discovered, as a `topic_replay.Web`."""

    def __init__(self, connection: Connection, crawl_id: int, topic: Topic, terms: Terms) -> None:
        self._connection = connection
        self._topic = topic
        self._worth = lru_cache(CACHED_TEXTS)(lambda text: topic.anchor_relevance(terms(text)))
        self._seen = DocumentFrequencies()
        self._texts: tuple[int, Mapping[int, StoredLink]] = (0, {})  # of the links of one page
        self.roots: list[int] = []  # with which the crawl began
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

    def begin(self) -> None:
        """Forget the pages whose similarity was asked for: another replay begins."""
        self._seen = DocumentFrequencies()

    def site(self, number: int) -> int | None:
        """Return the site of a page; None if it is not in the web."""
        known = self.pages.get(number)
        return None if known is None else known[0]

    def outcome(self, number: int) -> FetchOutcome | None:
        """Return the stored result of fetching a page; None if the crawl never fetched it."""
        _, state, moved_to = self.pages[number]
        if state is State.WAITING:
            return None
        return FetchOutcome(state is State.DONE, state is not State.REJECTED, moved_to)

    def links(self, number: int) -> Mapping[int, float]:
        """Return the targets of a page, each with the value of the best text of the links; their order breaks ties."""
        return {
            target: max((self._worth(context) for _, context in found.texts), default=0.0)
            for target, found in links_of(self._connection, number).items()
        }

    def similarity(self, number: int) -> float:
        """Return the similarity of a page to the topic, by the pages asked for so far."""
        terms = select(topic_page.c.terms).where(topic_page.c.page_id == number)
        counts = json.loads(self._connection.execute(terms).scalar_one())
        self._seen.add(counts)
        return self._topic.tf_idf_similarity(counts, self._seen)

    def features(self, number: int, target: int, level: int) -> Features:
        """Return the features of the links from a page to *target*, which they show to be on *level*."""
        if self._texts[0] != number:
            self._texts = number, links_of(self._connection, number)
        found = self._texts[1][target]
        # The same link as in a crawl, see `PageAnalyzer`.
        _, anchor = max(((self._worth(context), anchor) for anchor, context in found.texts), default=(0.0, ""))
        place = LinkPlace("", "", anchor)
        return np.array(link_features(site_of(found.url), found.url, level, number, place), np.uint32)


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

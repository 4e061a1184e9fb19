"""The policy of a topic crawl: its topic is determined once, from keywords and examples, and stored.

Pages are analysed for it: their terms, their similarity, and the expected relevance of their links.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from crawlers.crawl.policy import CrawlPolicy
from crawlers.frontier.values import Decision, LinkFacts, Reward
from crawlers.items import LinkPlace, LinkText, State, Target
from crawlers.missions.topic import topic_file
from crawlers.missions.topic.topic_file import read_pages
from crawlers.missions.topic.topic_tables import TopicPageRow
from crawlers.missions.topic.vectors import DocumentFrequencies, Topic, topic_of
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping, Sequence

    from crawlers.errors import BadUrl
    from crawlers.frontier.values import Lease
    from crawlers.items import Page
    from crawlers.missions.topic.vectors import Terms
    from crawlers.pages.html import ParsedPage
    from crawlers.store.database import Database
    from crawlers.store.writing.writer import Writer

MAX_TEXTS = 2_000  # per page; pages with more links are link lists, whose links are not relevant
CACHED_TEXTS = 50_000  # link texts whose relevance is cached, since menus repeat them on every page


class TopicFacts(NamedTuple):
    """The results of a page's analysis."""

    similarity: float  # to the topic of the crawl, in [0, 1], by the pages read until now
    terms: Mapping[str, int]  # number of occurrences of each term
    links: LinkFacts  # with the expected relevance of each

    @property
    def in_feeds(self) -> float:
        """The similarity."""
        return self.similarity


class PageAnalyzer:
    """Adds its terms, its similarity to *topic*, and the relevance and the text of its links to each page.

    The relevance of the links to a URL is that of the one with the most relevant text, whose anchor is the text by
    which the crawl learns what such links lead to. Their places on the page are left out: with them, it learns less.
    """

    def __init__(self, topic: Topic, terms: Terms) -> None:
        self._topic = topic
        self._terms = terms
        self._seen = DocumentFrequencies()
        self._worth = lru_cache(CACHED_TEXTS)(lambda text: topic.anchor_relevance(terms(text)))

    def recall(self, pages: Iterable[Mapping[str, int]]) -> None:
        """Add the terms of *pages* that were read in previous runs."""
        for counts in pages:
            self._seen.add(counts)

    def __call__(self, page: Page, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl], text: str) -> Page:
        """Return *page* with the results of its analysis."""
        counts = self._terms(f"{page.title}\n{text}")
        self._seen.add(counts)
        similarity = self._topic.tf_idf_similarity(counts, self._seen)
        followed = {target.key for target, _ in (*page.links, *page.cross_site_links)}
        best: dict[int, tuple[float, str]] = {}  # relevance and anchor of the best link, by key
        texts: dict[LinkText, None] = {}
        for index, href in enumerate(parsed.hrefs[:MAX_TEXTS]):
            target = targets[href]
            if isinstance(target, Target) and target.key in followed:
                link = parsed.link(index)
                found = self._worth(link.context), link.anchor
                best[target.key] = max(best.get(target.key, found), found)
                texts[LinkText(target.key, *link)] = None
        places = {key: LinkPlace("", "", anchor) for key, (_, anchor) in best.items()}
        links = LinkFacts(places, {key: worth for key, (worth, _) in best.items()}, list(texts))
        return replace(page, facts=TopicFacts(similarity, dict(counts), links))


class TopicPolicy(CrawlPolicy):
    """Ready at once if the crawl *crawl_id* has a topic in *database*; else after `determine_topic`.

    *terms* are those of the `PageAnalyzer`.
    """

    def __init__(self, database: Database, writer: Writer, crawl_id: int, terms: Terms) -> None:
        self._writer = writer
        self._crawl_id = crawl_id
        self._terms = terms
        self.analyzer: PageAnalyzer | None = None  # None: the topic is not known yet
        stored = topic_file.terms_of(database, crawl_id)
        if stored is not None:
            self.analyzer = PageAnalyzer(Topic(stored), terms)
            self.analyzer.recall(page.terms for page in read_pages(database, crawl_id))

    @property
    def is_ready(self) -> bool:
        """Whether the topic is known."""
        return self.analyzer is not None

    def decide(self, lease: Lease, page: Page, now: float) -> Decision:
        """Reward pages by their similarity, and keep their terms."""
        facts = page.facts
        if not isinstance(facts, TopicFacts) or page.state is not State.DONE:
            return Decision(page)
        row = TopicPageRow(page.id, facts.similarity, json.dumps(facts.terms, ensure_ascii=False))
        return Decision(page, links=facts.links, reward=Reward(facts.similarity), changes=ChangeSet(row))

    def determine_topic(self, keywords: Mapping[str, float], examples: Sequence[Counter[str]]) -> None:
        """Determine and store the topic of the crawl; raises `ConfigError` if it has no terms."""
        topic = topic_of(keywords, examples)
        self._writer.submit(ChangeSet(topic_file.topic_terms(self._crawl_id, topic.terms)))
        self.analyzer = PageAnalyzer(topic, self._terms)

    def forget(self) -> None:
        """Let the next run use another topic file, because this one has no topic yet."""
        self._writer.run(partial(topic_file.forget_topic, crawl_id=self._crawl_id))

"""The policy of a topic crawl: its topic is determined once, from keywords and examples, and stored."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from crawlers.crawl.policy import CrawlPolicy
from crawlers.frontier.values import Decision, Reward
from crawlers.items import State
from crawlers.missions.topic import topics
from crawlers.missions.topic.page_analysis import PageAnalyzer, TopicFacts
from crawlers.missions.topic.topic_tables import TopicPageRow
from crawlers.missions.topic.topics import read_pages
from crawlers.missions.topic.vectors import Topic, topic_of
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from crawlers.frontier.values import Lease
    from crawlers.items import Page
    from crawlers.missions.topic.terms import Terms
    from crawlers.store.database import Database
    from crawlers.store.writing.writer import Writer


class TopicPolicy(CrawlPolicy):
    """Ready at once if the crawl *crawl_id* has a topic in *database*; else after `determine_topic`.

    *terms* are those of the `PageAnalyzer`.
    """

    def __init__(self, database: Database, writer: Writer, crawl_id: int, terms: Terms) -> None:
        self._writer = writer
        self._crawl_id = crawl_id
        self._terms = terms
        self.analyzer: PageAnalyzer | None = None  # None: the topic is not known yet
        stored = topics.terms_of(database, crawl_id)
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
        self._writer.submit(ChangeSet(topics.topic_terms(self._crawl_id, topic.terms)))
        self.analyzer = PageAnalyzer(topic, self._terms)

    def forget(self) -> None:
        """Let the next run use another topic file, because this one has no topic yet."""
        self._writer.run(partial(topics.forget_topic, crawl_id=self._crawl_id))

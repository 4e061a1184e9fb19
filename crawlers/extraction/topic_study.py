"""Reads pages with a topic in mind: what they say, and what their links promise."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from crawlers.algorithms.topic import DocumentFrequencies
from crawlers.items import LinkText, Study, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlers.algorithms.terms import Terms
    from crawlers.algorithms.topic import Topic
    from crawlers.errors import BadUrl
    from crawlers.extraction.page import ParsedPage
    from crawlers.items import Page

MOST_TEXTS = 2_000  # links of a page whose texts are read; those behind are worth nothing, as a page of them all is
REMEMBERED = 50_000  # texts of links whose worth is kept: those of menus stand on every page


class TopicStudy:
    """Adds to each page its terms, its similarity to *topic*, and what its links are worth."""

    def __init__(self, topic: Topic, terms: Terms) -> None:
        self._topic = topic
        self._terms = terms
        self._seen = DocumentFrequencies()
        self._worth = lru_cache(REMEMBERED)(lambda text: topic.anchor_relevance(terms(text)))

    def recall(self, pages: Iterable[Mapping[str, int]]) -> None:
        """Take note of the terms of *pages* that were read before."""
        for counts in pages:
            self._seen.add(counts)

    def __call__(self, page: Page, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl], text: str) -> None:
        """Study *page*; its links must be sorted already."""
        counts = self._terms(f"{page.title}\n{text}")
        self._seen.add(counts)
        page.similarity = self._topic.tf_idf_similarity(counts, self._seen)
        followed = {target.key for target, _ in (*page.links, *page.elsewhere)}
        values: dict[int, float] = {}
        texts: dict[LinkText, None] = {}
        for index, href in enumerate(parsed.hrefs[:MOST_TEXTS]):
            target = targets[href]
            if isinstance(target, Target) and target.key in followed:
                link = parsed.link(index)
                values[target.key] = max(self._worth(link.context), values.get(target.key, 0.0))
                texts[LinkText(target.key, link.anchor, link.context, link.position, link.rel, link.tag)] = None
        page.study = Study(dict(counts), values, list(texts))

"""Analyses pages for a topic: their terms, their similarity, and the expected relevance of their links."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from crawlers.frontier.values import LinkFacts
from crawlers.items import LinkPlace, LinkText, Target
from crawlers.missions.topic.vectors import DocumentFrequencies

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlers.errors import BadUrl
    from crawlers.items import Page
    from crawlers.missions.topic.terms import Terms
    from crawlers.missions.topic.vectors import Topic
    from crawlers.pages.html import ParsedPage

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

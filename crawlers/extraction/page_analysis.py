"""Analyses pages for a topic: their terms, their similarity, and the expected relevance of their links."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from crawlers.algorithms.topic.link_learner import LinkLearner
from crawlers.algorithms.topic.vectors import DocumentFrequencies
from crawlers.items import LinkText, PageAnalysis, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlers.algorithms.topic.link_learner import Links
    from crawlers.algorithms.topic.terms import Terms
    from crawlers.algorithms.topic.vectors import Topic
    from crawlers.errors import BadUrl
    from crawlers.extraction.html import ParsedPage
    from crawlers.items import Page

MAX_TEXTS = 2_000  # per page; pages with more links are link lists, whose links are not relevant
CACHED_TEXTS = 50_000  # link texts whose relevance is cached, since menus repeat them on every page


class PageAnalyzer:
    """Adds its terms, its similarity to *topic*, and the relevance of its links to each page.

    The relevance of a link is that of its text; with a *learning_rate* above 0, also that of targets of similar links.
    """

    def __init__(self, topic: Topic, terms: Terms, learning_rate: float = 0.0) -> None:
        self._topic = topic
        self._terms = terms
        self._seen = DocumentFrequencies()
        self._worth = lru_cache(CACHED_TEXTS)(lambda text: topic.anchor_relevance(terms(text)))
        self._learner = (
            LinkLearner(learning_rate, self._worth, lru_cache(CACHED_TEXTS)(terms)) if learning_rate else None
        )

    @property
    def learns(self) -> bool:
        """Return whether `recall` needs the links of pages."""
        return self._learner is not None

    def recall(self, pages: Iterable[tuple[str, Mapping[str, int], Links]]) -> None:
        """Add *pages* that were read in previous runs: URL, terms, and links if it `learns`."""
        for url, counts, links in pages:
            if self._learner is None:
                self._seen.add(counts)
            else:
                self._learner.read(url, self._similarity(counts), links)

    def _similarity(self, counts: Mapping[str, int]) -> float:
        """Return the similarity of the page that is being read."""
        self._seen.add(counts)
        return self._topic.tf_idf_similarity(counts, self._seen)

    def __call__(self, page: Page, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl], text: str) -> Page:
        """Return *page* with the results of its analysis."""
        counts = self._terms(f"{page.title}\n{text}")
        similarity = self._similarity(counts)
        followed = {target.key for target, _ in (*page.links, *page.cross_site_links)}
        urls: dict[int, str] = {}
        links: dict[str, set[tuple[str, str]]] = {}
        texts: dict[LinkText, None] = {}
        for index, href in enumerate(parsed.hrefs[:MAX_TEXTS]):
            target = targets[href]
            if isinstance(target, Target) and target.key in followed:
                link = parsed.link(index)
                url = urls.setdefault(target.key, target.url)
                links.setdefault(url, set()).add((link.anchor, link.context))
                texts[LinkText(target.key, link.anchor, link.context, link.position, link.rel, link.tag)] = None
        if self._learner is None:
            worth = {url: max(self._worth(context) for _, context in found) for url, found in links.items()}
        else:
            worth = self._learner.read(page.url, similarity, links)
        analysis = PageAnalysis(dict(counts), {key: worth[url] for key, url in urls.items()}, list(texts))
        return replace(page, similarity=similarity, analysis=analysis)

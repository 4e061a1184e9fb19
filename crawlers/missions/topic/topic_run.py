"""A topic crawl at work: its topic is determined once, from keywords and examples, and stored."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawlers.crawl.run import Run
from crawlers.crawl.spec import crawl_of
from crawlers.errors import ConfigError, StoreError
from crawlers.frontier.values import Decision, LinkFacts, Reward
from crawlers.items import LinkPlace, LinkText, SiteLimits, State, Target
from crawlers.missions.topic import TOPIC, topic_file
from crawlers.missions.topic.topic_file import read_topic
from crawlers.missions.topic.topic_tables import TopicPageRow
from crawlers.missions.topic.vectors import DocumentFrequencies, Terms, Topic, topic_of
from crawlers.pages.html import parse_page
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.resolution import site_of
from crawlers.urls.scope import Scope

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping, Sequence

    from crawlers.crawl.run import Fetch
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.spec import CrawlSpec
    from crawlers.errors import BadUrl
    from crawlers.frontier.values import Lease
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.items import Page
    from crawlers.missions.topic.topic_file import TopicSpec
    from crawlers.pages.html import ParsedPage
    from crawlers.pages.response import ResponseReader, WebResponse

MAX_EXAMPLE_BYTES = 4_000_000  # bytes of a file that are read
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

    def __call__(self, page: Page, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl]) -> Page:
        """Return *page* with the results of its analysis."""
        counts = self._terms(f"{page.title}\n{parsed.text}")
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


def topic_crawl(name: str, path: str | None, settings: SettingValues) -> CrawlSpec:
    """Return the specification of a crawl about the topic in the file *path*. Raises `ConfigError`."""
    if not path:
        raise ConfigError("no topic is given: add -a topic=topic.yaml")
    spec = read_topic(path)
    terms = Terms(spec.language)
    examples = [
        example_terms(terms, read_example(Path(path).parent / name)) for name in spec.examples if "://" not in name
    ]
    named = [url for url in spec.examples if "://" in url]
    if not named:
        topic_of(spec.keywords, examples)  # raises an error if there are no terms, before anything is stored
    firsts = {site_of(url): url for url in reversed(spec.roots)}
    return crawl_of(
        name,
        [SiteLimits(site, start_url=url) for site, url in reversed(firsts.items())],
        settings,
        Scope(spec.scope, firsts),
        open=lambda session: TopicRun(session, spec, terms, examples),
        roots=spec.roots,
        gives={TOPIC: spec.weights},
        has_rewards=True,
        recorded={topic_file.TOPIC_SETTING: spec.summary, "SCOPE": spec.scope, "REWARD": "similarity"},
        named=named,
        page_budget=settings.getint("PAGE_BUDGET") or spec.budget or 0,
    )


class TopicRun(Run):
    """Ready at once if the topic of *spec* is known: from the store, or without examples that must be downloaded.

    *examples* are the terms of those in files.
    """

    def __init__(self, session: CrawlSession, spec: TopicSpec, terms: Terms, examples: Sequence[Counter[str]]) -> None:
        super().__init__(session.spec.reader, session.reader.run)
        self._session = session
        self._spec = spec
        self._terms = terms
        self._examples = examples
        self._analyzing: ResponseReader | None = None  # None: the topic is not known yet
        self.is_ready = False
        stored = topic_file.terms_of(session.database, session.row.id)
        if stored is not None:
            analyzer = self._analyze(Topic(stored))
            analyzer.recall(page.terms for page in topic_file.read_pages(session.database, session.row.id))
        elif not session.spec.named:
            self._determine(examples)

    async def begin(self, fetch: Fetch) -> None:
        """Download the examples of the topic, if it is not known yet."""
        control = self._session.control
        if self.is_ready or control.failure is not None:
            return
        try:
            # Requested by the user, once, so the rules for discovered pages do not apply.
            found = [await self._example(url, fetch) for url in self._session.spec.named]
            self._determine([*self._examples, *found])
            control.resume()
        except ConfigError as error:
            # The next run may omit the example.
            self._session.writer.run(partial(topic_file.forget_topic, crawl_id=self._session.row.id))
            control.abort(error, "no_topic")
        except StoreError as error:
            control.abort(error)

    async def _example(self, url: str, fetch: Fetch) -> Counter[str]:
        try:
            response = await fetch(url)
        except Exception as error:  # whatever a downloader raises
            raise _unreadable(url, f"{type(error).__name__} {error}".strip()) from error
        if response.status != 200:
            raise _unreadable(url, f"status {response.status}")
        return example_terms(self._terms, response.body, response.content_type)

    def _determine(self, examples: Sequence[Counter[str]]) -> None:
        """Determine and store the topic of the crawl; raises `ConfigError` if it has no terms."""
        topic = topic_of(self._spec.keywords, examples)
        self._session.writer.submit(ChangeSet(topic_file.topic_terms(self._session.row.id, topic.terms)))
        self._analyze(topic)

    def _analyze(self, topic: Topic) -> PageAnalyzer:
        assert self._reader is not None
        analyzer = PageAnalyzer(topic, self._terms)
        self._analyzing, self.is_ready = replace(self._reader, analysis=analyzer), True
        return analyzer

    def read(self, response: WebResponse, lease: Lease, now: float) -> Page:
        """Return the page; in the order of the responses, because similarities depend on the pages read before."""
        assert self._analyzing is not None
        return self._analyzing.read(response, lease.id, lease.level, now)

    def decide(self, lease: Lease, page: Page, now: float) -> Decision:
        """Reward pages by their similarity, and keep their terms."""
        facts = page.facts
        if not isinstance(facts, TopicFacts) or page.state is not State.DONE:
            return Decision(page)
        row = TopicPageRow(page.id, facts.similarity, json.dumps(facts.terms, ensure_ascii=False))
        return Decision(page, links=facts.links, reward=Reward(facts.similarity), changes=ChangeSet(row))


def example_terms(terms: Terms, body: bytes, content_type: str | None = None) -> Counter[str]:
    """Return the terms of an example."""
    parsed = parse_page(body, content_type, frozenset())
    return terms(f"{parsed.title}\n{parsed.text}")


def read_example(path: Path) -> bytes:
    """Return the beginning of a file; raises `ConfigError`."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_EXAMPLE_BYTES)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise _unreadable(str(path), getattr(error, "strerror", None) or str(error)) from error


def _unreadable(example: str, reason: str) -> ConfigError:
    return ConfigError(f"the example {example} of the topic can't be read: {reason}; correct or remove it")

"""The pages about a topic, by the text of links, distance and TimelyRank."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request

from crawlers.errors import ConfigError, StoreError
from crawlers.items import REDIRECT, SiteLimits
from crawlers.missions.topic import TOPIC
from crawlers.spiders.base import SiteSpider, header
from crawlers.urls.scope import Scope

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import AsyncIterator

    from scrapy.settings import BaseSettings

    from crawlers.crawl.control import CrawlControl
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.spec import CrawlSpec
    from crawlers.missions.topic.topic_file import TopicSpec
    from crawlers.missions.topic.topic_policy import TopicPolicy
    from crawlers.urls.resolution import Redirect

MAX_REDIRECTS = 5  # of an example
MAX_EXAMPLE_BYTES = 4_000_000  # bytes of a file that are read


class TopicSpider(SiteSpider):
    """`scrapy crawl topic -a topic=topic.yaml`; see `missions.topic.topic_file` for its content."""

    name = "topic"
    can_be_shared = True
    reads_in_order = True
    arguments = ("topic",)
    components = {  # noqa: RUF012 - as declared
        "ITEM_PIPELINES": {"crawlers.missions.topic.edge.topic_results.TopicPipeline": 970}
    }
    topic: str | None = None
    custom_settings = {  # noqa: RUF012 - Scrapy's convention
        **SiteSpider.custom_settings,
        "RULE": "best",
        "ORDER": "topic",
        "GRAPH_FORMATS": [],  # a topic has one graph of all sites, see pipelines.topic
        "RESULT_TABLES": [],
        "FEED_EXPORT_FIELDS": {
            **{name: name for name in ("url", "title")},
            "facts": "similarity",
            **{name: name for name in ("level", "state", "status", "reason")},
        },
    }
    _spec: TopicSpec
    _opened: tuple[TopicPolicy, CrawlControl] | None = None  # None: the crawl could not begin

    def prepare(self, settings: BaseSettings) -> None:
        from crawlers.missions.topic.topic_file import read_topic
        from crawlers.missions.topic.vectors import Terms, topic_of
        from crawlers.urls.resolution import site_of

        path = self.topic
        if not path:
            raise ConfigError("no topic is given: add -a topic=topic.yaml")
        spec = read_topic(path)
        self._spec = spec
        firsts = {site_of(url): url for url in reversed(spec.roots)}
        self.site_limits = [SiteLimits(site, start_url=url) for site, url in reversed(firsts.items())]
        self.scope = Scope(spec.scope, firsts)
        self._terms = Terms(spec.language)
        self._examples: list[Counter[str]] = []
        self._addresses = []  # of examples that are still to be downloaded
        for example in spec.examples:
            if "://" in example:
                self._addresses.append(example)
            else:
                self._examples.append(self._terms_of(_read(Path(path).parent / example), None))
        if not self._addresses:
            topic_of(spec.keywords, self._examples)  # raises an error if there are no terms, before anything is stored
        self._settings = settings

    def crawl_spec(self) -> CrawlSpec:
        from crawlers.missions.topic.topic_file import TOPIC_SETTING

        spec = super().crawl_spec()
        budget = spec.page_budget or self._spec.budget or 0
        return replace(
            spec,
            roots=self._spec.roots,
            gives={TOPIC: self._spec.weights},
            has_rewards=True,
            recorded={TOPIC_SETTING: self._spec.summary, "SCOPE": self._spec.scope, "REWARD": "similarity"},
            named=[url for url in self._spec.examples if "://" in url],
            page_budget=budget,
        )

    def crawl_policy(self, session: CrawlSession) -> TopicPolicy:
        from crawlers.missions.topic.topic_policy import TopicPolicy

        policy = TopicPolicy(session.database, session.writer, session.row.id, self._terms)
        if not policy.is_ready and not self._addresses:
            policy.determine_topic(self._spec.keywords, self._examples)
        if policy.is_ready:
            self._reader = self.reader(self._settings, analysis=policy.analyzer)
        self._opened = policy, session.control
        return policy

    async def start(self) -> AsyncIterator[Any]:
        """Download the examples of the topic, if it is not known yet."""
        if self._opened is not None:
            await self._read_examples(*self._opened)
        return
        yield  # makes this a generator

    async def _read_examples(self, policy: TopicPolicy, control: CrawlControl) -> None:
        if policy.is_ready or control.failure is not None:
            return
        try:
            for url in self._addresses:
                # Requested by the user, once, so the rules for discovered pages do not apply.
                self._examples.append(await self._download(url))
            policy.determine_topic(self._spec.keywords, self._examples)
            self._reader = self.reader(self._settings, analysis=policy.analyzer)
            control.resume()
        except ConfigError as error:
            policy.forget()  # so that the next run may omit the example
            control.abort(error, "no_topic")
        except StoreError as error:
            control.abort(error)

    async def _download(self, url: str) -> Counter[str]:
        engine = self.crawler.engine
        assert engine is not None
        address = url
        for _ in range(MAX_REDIRECTS):
            try:
                request = Request(address, meta={"handle_httpstatus_all": True, "dont_redirect": True})
                response = await engine.download_async(request)
            except Exception as error:  # whatever a downloader raises
                raise _unreadable(url, f"{type(error).__name__} {error}".strip()) from error
            redirect: Redirect | None = request.meta.get(REDIRECT)
            if redirect is None or redirect.target is None:
                break
            address = redirect.target.url
        if response.status != 200:
            raise _unreadable(url, f"status {response.status}")
        return self._terms_of(response.body, header(response, "Content-Type"))

    def _terms_of(self, body: bytes, content_type: str | None) -> Counter[str]:
        from crawlers.pages.html import parse_page

        parsed = parse_page(body, content_type, frozenset())
        return self._terms(f"{parsed.title}\n{parsed.text()}")


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_EXAMPLE_BYTES)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise _unreadable(str(path), getattr(error, "strerror", None) or str(error)) from error


def _unreadable(example: str, reason: str) -> ConfigError:
    return ConfigError(f"the example {example} of the topic can't be read: {reason}; correct or remove it")

"""The runs that `scrapy lab topic` compares, and the pages by which they are measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.errors import ConfigError
from crawlers.lab.options import label_of
from crawlers.lab.simulation.topic_replay import replay
from crawlers.lab.topic_web import StoredWeb, links_between
from crawlers.missions.topic.link_relevance import LinkRelevance
from crawlers.missions.topic.terms import Terms
from crawlers.missions.topic.topic_file import read_topic
from crawlers.missions.topic.topic_scores import TopicScores
from crawlers.missions.topic.topics import language_of, read_pages, terms_of
from crawlers.missions.topic.vectors import STRATEGIES, Topic, topic_of
from crawlers.plurals import counted
from crawlers.store.reading.queries import crawl_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl


class Runs(NamedTuple):
    """The compared runs. Pages are identified by numbers."""

    title: str
    topic: Topic
    read: dict[str, list[int]]  # by the name of the run, in order
    documents: Callable[[], Iterator[tuple[int, Mapping[str, int]]]]  # terms of pages
    links: Iterable[tuple[int, int]]
    unknown: dict[str, int]  # by name: pages that a replay skipped
    wanted: int  # pages that each run should have read


def as_they_ran(database: Database, names: Sequence[str]) -> Runs:
    """Return the runs of the crawls called *names*; pages with the same URL are the same. Raises `ConfigError`."""
    crawls = list(dict.fromkeys(crawl_named(database, name) for name in names))
    vectors = {crawl.id: _terms(database, crawl) for crawl in crawls}
    first = crawls[0]
    for crawl in crawls[1:]:
        if vectors[crawl.id] != vectors[first.id]:
            raise ConfigError(
                f"--crawls: {first.name} and {crawl.name} have different topics ({_words(vectors[first.id])}; "
                f"{_words(vectors[crawl.id])}); compare crawls of one topic, or replay one with --topic"
            )
    numbers: dict[str, int] = {}  # of the first page with a URL
    same: dict[int, int] = {}  # by page: the first page with its URL
    read: dict[str, list[int]] = {}
    for crawl in crawls:
        pages = read[label_of(crawl, crawls)] = []
        for page in read_pages(database, crawl.id):
            same[page.id] = numbers.setdefault(page.url, page.id)
            pages.append(same[page.id])
        if not pages:
            raise _empty(crawl)

    def documents() -> Iterator[tuple[int, Mapping[str, int]]]:
        for crawl in crawls:
            yield from ((page.id, page.terms) for page in read_pages(database, crawl.id) if same[page.id] == page.id)

    links = (
        (same[source], same[target])
        for crawl in crawls
        for source, target in links_between(database, crawl.id)
        if source in same and target in same
    )
    title = f"crawls {', '.join(read)} as they ran"
    return Runs(title, Topic(vectors[first.id]), read, documents, links, {}, 0)


def replayed(
    database: Database,
    name: str | None,
    topic_file: str | None,
    strategies: Sequence[str],
    most: int,
) -> Runs:
    """Return replays of *strategies* on the web of the crawl called *name*, *most* pages each.

    The topic is that of the crawl, or the keywords of *topic_file*.
    Raises `ConfigError`.
    """
    crawl = crawl_named(database, name)
    topic = Topic(_terms(database, crawl))
    terms = Terms(language_of(database, crawl.id))
    if topic_file is not None:
        spec = read_topic(topic_file)
        if spec.examples:
            raise ConfigError(f"--topic {topic_file}: a replay does not read examples; describe the topic by keywords")
        topic, terms = topic_of(spec.keywords, ()), Terms(spec.language)
    read: dict[str, list[int]] = {}
    unknown: dict[str, int] = {}

    with database.read() as connection:
        web = StoredWeb(connection, crawl.id, topic, terms)
        for strategy in strategies:
            web.begin()
            run = replay(web, LinkRelevance(TopicScores(STRATEGIES[strategy])), most)
            if not run.read:
                raise _empty(crawl)
            read[strategy], unknown[strategy] = run
    return Runs(
        f"crawl {crawl.name} (number {crawl.id}, {crawl.state}): {counted(len(web.pages), 'URL')}, replayed",
        topic,
        read,
        lambda: ((page.id, page.terms) for page in read_pages(database, crawl.id)),
        links_between(database, crawl.id),
        unknown,
        most,
    )


def _terms(database: Database, crawl: NamedCrawl) -> dict[str, float]:
    terms = terms_of(database, crawl.id)
    if terms is None:
        raise ConfigError(
            f"CRAWL={crawl.name} has no topic; name a crawl of scrapy crawl topic with --crawl or --crawls"
        )
    return terms


def _words(terms: Mapping[str, float]) -> str:
    return " ".join(list(terms)[:5])


def _empty(crawl: NamedCrawl) -> ConfigError:
    return ConfigError(f"CRAWL={crawl.name} has not read a page yet; crawl first, or name another")

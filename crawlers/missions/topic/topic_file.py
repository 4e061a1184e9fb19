"""The topic of a crawl: reads it from topic.yaml, stores it, and computes the final similarities of pages.

```yaml
keywords:                       # words or phrases, each with a weight > 0 …
  character encoding: 2
  unicode: 3
  кодировка: 1
# keywords: [unicode, utf-8]    # … or a list, where each weighs 1
examples:                       # pages about the topic: URLs or file names; give keywords, examples, or both
  - http://encodings.example/utf8.html
  - examples/unicode.html
roots:                          # where the crawl begins
  - http://encodings.example/
  - http://text.example/docs/
strategy: learnt                # learnt (the default), anchor, breadth, links or mixed; or instead of it
# alpha: 0.4                    # the anchor text
# beta: 0.2                     # the distance from the roots
# delta: 0.4                    # what was learnt of similar links; or gamma, the number of paths to a page
scope: sites                    # the sites of the roots (the default); all; or a list of domains:
# scope: [encodings.example, text.example]
language: auto                  # of the keywords and pages: auto (the default), en, ru, zh, de …
budget: 2000                    # pages to read (default: PAGE_BUDGET)
```
"""

from __future__ import annotations

import json
import math
from array import array
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from sqlalchemy import bindparam, delete, select, update

from crawlers.batches import batches
from crawlers.errors import ConfigError
from crawlers.files.text_file import is_whole, quoted, read_text, shortened
from crawlers.files.yaml_reader import Item, Problem, converted, item_of, items_of, optional, read_fields
from crawlers.missions.topic.topic_tables import topic_page
from crawlers.missions.topic.vectors import (
    AUTO,
    DEFAULT_STRATEGY,
    STRATEGIES,
    DocumentFrequencies,
    Terms,
    Topic,
    Weights,
    language_code,
)
from crawlers.reports.catalogue.conditions import by_code_points
from crawlers.sites.seed_list import host_name, seed_address
from crawlers.store.reading.crawl_settings import setting_of
from crawlers.store.schema.tables import SettingRow, crawler_setting, page, site
from crawlers.urls.resolution import parsed
from crawlers.urls.scope import ALL, SITES, Scope

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import Connection, Select

    from crawlers.files.yaml_reader import Field
    from crawlers.store.database import Database

TERMS = "TOPIC_TERMS"  # the topic's vector, stored like a setting of the crawl
TOPIC_SETTING = "TOPIC"  # the topic as given, in short form, stored like a setting; the last item is its language


def topic_terms(crawl_id: int, terms: Mapping[str, float]) -> SettingRow:
    """Return the row of the topic of a crawl, which must not change any more."""
    return SettingRow(crawl_id, TERMS, json.dumps(dict(terms), ensure_ascii=False))


def terms_of(database: Database, crawl_id: int) -> dict[str, float] | None:
    """Return the terms of a crawl's topic with their weights; None if it has no topic, or not yet."""
    text = database.scalar(setting_of(crawl_id, TERMS))
    return None if text is None else json.loads(text)


def language_of(database: Database, crawl_id: int) -> str:
    """Return the language of a crawl's topic, for `Terms`."""
    text = database.scalar(setting_of(crawl_id, TOPIC_SETTING))
    return AUTO if text is None else str(json.loads(text)[-1])


def weights_of(connection: Connection, crawl_id: int) -> Weights | None:
    """Return the weights of the scores of a topic crawl; None if the crawl has no topic."""
    text = connection.scalar(setting_of(crawl_id, TOPIC_SETTING))
    return None if text is None else Weights(*json.loads(text)[2])


def topic_change(before: str, today: str) -> tuple[str, str]:
    """Return what the topic of an unfinished crawl is *today*, and what it was *before*, as far as they differ."""
    keywords, examples, weights, language = json.loads(today)
    *others, weights_before, language_before = json.loads(before)
    if [keywords, examples, language] != [*others, language_before]:
        return "the keywords, examples or language of the topic changed", "another topic"
    return f"the strategy is {_strategy(weights)}", _strategy(weights_before)


def _strategy(weights: Sequence[float]) -> str:
    """Return the strategy that gives these weights, or the weights if no strategy has them."""
    named = [name for name, one in STRATEGIES.items() if one == Weights(*weights)]
    return named[0] if named else ", ".join(f"{one:g}" for one in weights)


def forget_topic(connection: Connection, crawl_id: int) -> None:
    """Allow a crawl that has not read a page yet to continue with another topic."""
    its = (crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == TOPIC_SETTING)
    connection.execute(delete(crawler_setting).where(*its))


def most_similar_first(crawl_id: int, *columns: Any) -> Select[Any]:
    """Return the query for *columns* of the pages that a topic crawl read, most similar first, then by URL."""
    return (
        select(*columns)
        .select_from(topic_page)
        .join(page, page.c.id == topic_page.c.page_id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .order_by(topic_page.c.similarity.desc(), by_code_points(page.c.url))
    )


class PageTerms(NamedTuple):
    """A page that was read, with its term frequencies."""

    id: int
    url: str
    terms: dict[str, int]


def read_pages(database: Database, crawl_id: int) -> Iterator[PageTerms]:
    """Yield the pages that a topic crawl read, in the order of their downloads."""
    statement = (
        select(page.c.id, page.c.url, topic_page.c.terms)
        .join(page, page.c.id == topic_page.c.page_id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .order_by(page.c.fetched_at, page.c.id)
    )
    with database.read() as connection:
        for number, url, terms in connection.execution_options(yield_per=PAGES_AT_ONCE).execute(statement):
            yield PageTerms(number, url, json.loads(terms))


DECIMALS = 12  # further digits depend on the processor (logarithm, square root)
PAGES_AT_ONCE = 500  # rows read and written together: the terms of a page take some kilobytes


def store_similarities(database: Database, crawl_id: int) -> float | None:
    """Store the similarity of each page of a topic crawl to its topic, with the document frequencies of all its pages.

    So the similarities depend on which pages were read, but not on their order. Runs in one transaction, with the
    vocabulary in memory. Returns their mean, or None if the crawl has no topic and so no pages. Raises `StoreError`.
    """
    terms = terms_of(database, crawl_id)
    if terms is None:
        return None
    topic = Topic(terms)
    seen = DocumentFrequencies(one.terms for one in read_pages(database, crawl_id))
    statement = (
        update(topic_page)
        .where(topic_page.c.page_id == bindparam("settled_id"))
        .values(similarity=bindparam("settled_similarity"))
    )
    settled = array("d")
    with database.write() as connection:
        for pages in batches(read_pages(database, crawl_id), PAGES_AT_ONCE):
            found = [round(topic.tf_idf_similarity(one.terms, seen), DECIMALS) for one in pages]
            rows = [{"settled_id": one.id, "settled_similarity": of} for one, of in zip(pages, found, strict=True)]
            connection.execute(statement, rows)
            settled.extend(found)
    return math.fsum(settled) / max(len(settled), 1)


MAX_BYTES = 100_000  # of a file: thousands of words and addresses
TOO_LARGE = "remove the weakest keywords"
MIN_WEIGHT, MAX_WEIGHT = 0.001, 1000.0  # weights of keywords; a ratio of a million makes the lighter one irrelevant
MAX_BUDGET = 1_000_000_000

MIX = ("alpha", "beta", "gamma", "delta")
FIELDS = ("keywords", "examples", "roots", "strategy", *MIX, "scope", "language", "budget")


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """The validated contents of a topic file."""

    keywords: dict[str, float]  # terms, as `vectors.Terms` derives them; may be empty if there are examples
    examples: tuple[str, ...]  # URLs, or file names
    roots: tuple[str, ...]  # absolute URLs, at least one
    weights: Weights
    scope: str  # like the setting SCOPE: sites, all, or comma-separated domains
    language: str
    budget: int | None  # pages; None = not given in the file

    @property
    def summary(self) -> str:
        """What scores depend on, as one text."""
        return json.dumps([self.keywords, self.examples, astuple(self.weights), self.language], sort_keys=True)


def read_topic(path: str) -> TopicSpec:
    """Return the topic that the file *path* describes; see `parse_topic`. Raises `ConfigError`."""
    return parse_topic(read_text(path, MAX_BYTES, TOO_LARGE), path)


def parse_topic(text: str, origin: str) -> TopicSpec:
    """Return the topic that *text* describes; messages name the file as *origin*.

    Raises `ConfigError` with the first problem: its place, what it is, and the remedy.

    >>> spec = parse_topic("{keywords: [unicode text], roots: [http://a.example/], strategy: anchor}", "topic.yaml")
    >>> spec.keywords, spec.roots
    ({'unicod': 1.0, 'text': 1.0}, ('http://a.example/',))
    """
    try:
        return _spec(read_fields(text, FIELDS))
    except Problem as problem:
        raise ConfigError(problem.at(origin)) from None


def local_files(text: str) -> list[str]:
    """Return the examples in *text* that are files. Raises `ConfigError`."""
    return [one for one in parse_topic(text, "").examples if "://" not in one]


def _spec(fields: dict[str, Field]) -> TopicSpec:
    code = optional(fields, "language", lambda text: language_code(text, "language"), AUTO)
    keywords = _keywords(fields["keywords"], Terms(code)) if "keywords" in fields else {}
    examples = tuple(map(_example, items_of(fields["examples"]))) if "examples" in fields else ()
    if not (keywords or examples):
        raise Problem(None, "keywords and examples are missing; give at least one word or page of the topic")
    if "roots" not in fields:
        raise Problem(None, "roots is missing; give at least one start URL")
    scope = _scope(fields["scope"]) if "scope" in fields else SITES
    budget = optional(fields, "budget", _budget, None)
    return TopicSpec(keywords, examples, _roots(fields["roots"], scope), _weights(fields), scope, code, budget)


def _keywords(field: Field, terms: Terms) -> dict[str, float]:
    """Return the terms of the words; a term of several words gets the sum of their weights."""
    if isinstance(field.node, yaml.MappingNode):
        weighted = [_weighted(key, value) for key, value in field.node.value]
    else:
        weighted = [(item, 1.0) for item in items_of(field)]
    keywords: dict[str, float] = {}
    for item, weight in weighted:
        for term, times in _terms(item, terms).items():
            keywords[term] = keywords.get(term, 0.0) + times * weight
    return keywords


def _weighted(key: yaml.Node, value: yaml.Node) -> tuple[Item, float]:
    word = item_of(key)
    return word, _number(item_of(value), f"the weight of {quoted(word.text)}", MIN_WEIGHT, MAX_WEIGHT)


def _terms(item: Item, terms: Terms) -> Counter[str]:
    counts = terms(item.text)
    if not counts:
        reason = "function words, numbers and single letters are not terms"
        raise Problem(item.line, f"the keyword {quoted(item.text)} has no terms; remove it: {reason}")
    return counts


def _example(item: Item) -> str:
    return converted(item, seed_address)[1] if "://" in item.text else item.text


def _roots(field: Field, scope: str) -> tuple[str, ...]:
    domains = Scope(scope, ())
    return tuple(dict.fromkeys(_root(item, scope, domains) for item in items_of(field)))


def _root(item: Item, scope: str, domains: Scope) -> str:
    site, url = converted(item, seed_address)
    if scope != SITES and not domains.holds(site):
        what = f"the root {url} is outside the scope ({shortened(scope)})"
        raise Problem(item.line, f"{what}; add {parsed(site).hostname} to scope, or remove the root")
    return url


def _scope(field: Field) -> str:
    if isinstance(field.node, yaml.ScalarNode):
        line, name = item_of(field.node)
        if name not in (SITES, ALL):
            raise Problem(line, f"scope is {quoted(name)}, expected {SITES}, {ALL}, or a list: [example.org]")
        return name
    return ",".join(dict.fromkeys(_domain(item) for item in items_of(field)))


def _domain(item: Item) -> str:
    try:
        domain = host_name(item.text)
        Scope(domain, ())
    except ConfigError:
        remedy = "write a domain such as example.org, which includes its subdomains"
        raise Problem(item.line, f"{quoted(item.text)} in scope is not a domain; {remedy}") from None
    return domain


def _weights(fields: dict[str, Field]) -> Weights:
    parts = [fields[name] for name in MIX if name in fields]
    if parts and "strategy" in fields:
        raise Problem(parts[0].line, f"{parts[0].name} and strategy are mutually exclusive; keep one of the two")
    if parts:
        mix = [_number(item_of(fields[name].node), name, 0.0, 1.0) if name in fields else 0.0 for name in MIX]
        try:
            return Weights(*mix)
        except ConfigError as error:
            raise Problem(parts[0].line, str(error)) from None
    return optional(fields, "strategy", _read_strategy, STRATEGIES[DEFAULT_STRATEGY])


def _read_strategy(name: str) -> Weights:
    if name not in STRATEGIES:
        raise ConfigError(f"unknown strategy {quoted(name)}; choose one of: {' '.join(STRATEGIES)}")
    return STRATEGIES[name]


def _budget(text: str) -> int:
    if not is_whole(text, 1, MAX_BUDGET):
        raise ConfigError(f"budget is {quoted(text)}, expected a number of pages from 1 to {MAX_BUDGET}")
    return int(text)


def _number(item: Item, name: str, least: float, most: float) -> float:
    try:
        number = float(item.text)
    except ValueError:
        number = least - 1.0
    if not least <= number <= most:  # rejects nan, too
        raise Problem(item.line, f"{name} is {quoted(item.text)}, expected a number from {least:g} to {most:g}")
    return number

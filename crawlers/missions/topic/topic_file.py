"""Reads the topic of a crawl from topic.yaml.

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
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import yaml

from crawlers.errors import ConfigError
from crawlers.files.text_file import is_whole, quoted, read_text, shortened
from crawlers.files.yaml_reader import Item, Problem, converted, item_of, items_of, optional, read_fields
from crawlers.missions.topic.terms import AUTO, Terms, language_code
from crawlers.missions.topic.vectors import DEFAULT_STRATEGY, STRATEGIES, Weights
from crawlers.sites.seed_list import host_name, seed_address
from crawlers.urls.resolution import parsed
from crawlers.urls.scope import ALL, SITES, Scope

if TYPE_CHECKING:
    from collections import Counter

    from crawlers.files.yaml_reader import Field

MAX_BYTES = 100_000  # of a file: thousands of words and addresses
TOO_LARGE = "remove the weakest keywords"
MIN_WEIGHT, MAX_WEIGHT = 0.001, 1000.0  # weights of keywords; a ratio of a million makes the lighter one irrelevant
MAX_BUDGET = 1_000_000_000

MIX = ("alpha", "beta", "gamma", "delta")
FIELDS = ("keywords", "examples", "roots", "strategy", *MIX, "scope", "language", "budget")


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """The validated contents of a topic file."""

    keywords: dict[str, float]  # terms, as `terms.Terms` derives them; may be empty if there are examples
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
    return optional(fields, "strategy", _strategy, STRATEGIES[DEFAULT_STRATEGY])


def _strategy(name: str) -> Weights:
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

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

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import yaml

from crawlers.algorithms.topic.terms import AUTO, Terms, language_code
from crawlers.algorithms.topic.vectors import DEFAULT_STRATEGY, STRATEGIES, Weights
from crawlers.algorithms.urls.resolution import parsed
from crawlers.algorithms.urls.scope import ALL, SITES, Scope
from crawlers.errors import ConfigError
from crawlers.inputs.seed_list import seed_address
from crawlers.inputs.text_file import is_whole, read_text, shortened, shortened_list, shown
from crawlers.inputs.yaml_reader import Item, Problem, item_of, items_of, read_fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.inputs.yaml_reader import Field

T = TypeVar("T")

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


def read_topic(path: str) -> TopicSpec:
    """Return the topic that the file *path* describes; see `parse_topic`. Raises `ConfigError`."""
    return parse_topic(read_text(path, MAX_BYTES, TOO_LARGE), path)


def parse_topic(text: str, origin: str) -> TopicSpec:
    """Return the topic that *text* describes; messages name the file as *origin*.

    Raises `ConfigError` with a line for each problem: its place, the problem, and the remedy.

    >>> spec = parse_topic("{keywords: [unicode text], roots: [http://a.example/], strategy: anchor}", "topic.yaml")
    >>> spec.keywords, spec.roots
    ({'unicod': 1.0, 'text': 1.0}, ('http://a.example/',))
    """
    try:
        problems = _Problems()
        spec = _spec(read_fields(text, FIELDS), problems)
    except Problem as problem:
        raise ConfigError(problem.at(origin)) from None
    if problems.found:
        raise ConfigError("\n".join(shortened_list([problem.at(origin) for problem in problems.in_order()])))
    return spec


class _Problems:
    """The problems of a file, which are reported together."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def read(self, read: Callable[[], T], otherwise: T) -> T:
        """Return what *read* returns, or *otherwise* if it raises a `Problem`."""
        try:
            return read()
        except Problem as problem:
            self.found.append(problem)
            return otherwise

    def items(self, field: Field) -> list[Item]:
        """Return the items of *field*; none if they can't be read."""
        nothing: list[Item] = []
        return self.read(lambda: items_of(field), nothing)

    def in_order(self) -> list[Problem]:
        return sorted(self.found, key=lambda problem: problem.line or 0)


def _spec(fields: dict[str, Field], problems: _Problems) -> TopicSpec:
    code = problems.read(lambda: _language(fields["language"]), AUTO) if "language" in fields else AUTO
    keywords = _keywords(fields["keywords"], Terms(code), problems) if "keywords" in fields else {}
    examples = _examples(fields["examples"], problems) if "examples" in fields else ()
    if not (keywords or examples or problems.found):
        missing = "keywords and examples are missing; give at least one word or page of the topic"
        problems.found.append(Problem(None, missing))
    if "roots" not in fields:
        problems.found.append(Problem(None, "roots is missing; give at least one start URL"))
    scope = problems.read(lambda: _scope(fields["scope"]), ALL) if "scope" in fields else SITES
    roots = _roots(fields["roots"], scope, problems) if "roots" in fields else ()
    budget = problems.read(lambda: _budget(fields["budget"]), None) if "budget" in fields else None
    weights = problems.read(lambda: _weights(fields), STRATEGIES[DEFAULT_STRATEGY])
    return TopicSpec(keywords, examples, roots, weights, scope, code, budget)


def _language(field: Field) -> str:
    try:
        return language_code(item_of(field.node).text, "language")
    except ConfigError as error:
        raise Problem(field.line, str(error)) from None


def _keywords(field: Field, terms: Terms, problems: _Problems) -> dict[str, float]:
    """Return the terms of the words; a term of several words gets the sum of their weights."""
    if isinstance(field.node, yaml.MappingNode):
        pairs: list[tuple[yaml.Node, yaml.Node]] = field.node.value
        read = [problems.read(partial(_weighted, key, value), None) for key, value in pairs]
        weighted = [pair for pair in read if pair is not None]
    else:
        weighted = [(item, 1.0) for item in problems.items(field)]
    keywords: dict[str, float] = {}
    nothing: Counter[str] = Counter()
    for item, weight in weighted:
        for term, times in problems.read(partial(_terms, item, terms), nothing).items():
            keywords[term] = keywords.get(term, 0.0) + times * weight
    return keywords


def _weighted(key: yaml.Node, value: yaml.Node) -> tuple[Item, float] | None:
    word = item_of(key)
    return word, _number(item_of(value), f"the weight of {shown(word.text)}", MIN_WEIGHT, MAX_WEIGHT)


def _terms(item: Item, terms: Terms) -> Counter[str]:
    counts = terms(item.text)
    if not counts:
        reason = "function words, numbers and single letters are not terms"
        raise Problem(item.line, f"the keyword {shown(item.text)} has no terms; remove it: {reason}")
    return counts


def _examples(field: Field, problems: _Problems) -> tuple[str, ...]:
    items = problems.items(field)
    return tuple(problems.read(partial(_example, item), "") for item in items)


def _example(item: Item) -> str:
    return _address(item)[1] if "://" in item.text else item.text


def _roots(field: Field, scope: str, problems: _Problems) -> tuple[str, ...]:
    domains = Scope(scope, ())
    items = problems.items(field)
    return tuple(dict.fromkeys(problems.read(partial(_root, item, scope, domains), "") for item in items))


def _root(item: Item, scope: str, domains: Scope) -> str:
    site, url = _address(item)
    if scope != SITES and not domains.holds(site):
        what = f"the root {url} is outside the scope ({shortened(scope)})"
        raise Problem(item.line, f"{what}; add {_host(site)} to scope, or remove the root")
    return url


def _scope(field: Field) -> str:
    if isinstance(field.node, yaml.ScalarNode):
        line, name = item_of(field.node)
        if name not in (SITES, ALL):
            raise Problem(line, f"scope is {shown(name)}, expected {SITES}, {ALL}, or a list: [example.org]")
        return name
    return ",".join(dict.fromkeys(_domain(item) for item in items_of(field)))


def _domain(item: Item) -> str:
    try:
        if set(item.text) & set("/:@?#,"):
            raise ConfigError(item.text)
        domain = _host(seed_address(item.text)[0])
        Scope(domain, ())
    except ConfigError:
        remedy = "write a domain such as example.org, which includes its subdomains"
        raise Problem(item.line, f"{shown(item.text)} in scope is not a domain; {remedy}") from None
    return domain


def _weights(fields: dict[str, Field]) -> Weights:
    given = [fields[name] for name in MIX if name in fields]
    if given and "strategy" in fields:
        raise Problem(given[0].line, f"{given[0].name} and strategy are mutually exclusive; keep one of the two")
    if given:
        mix = [_number(item_of(fields[name].node), name, 0.0, 1.0) if name in fields else 0.0 for name in MIX]
        try:
            return Weights(*mix)
        except ConfigError as error:
            raise Problem(given[0].line, str(error)) from None
    if "strategy" not in fields:
        return STRATEGIES[DEFAULT_STRATEGY]
    line, name = item_of(fields["strategy"].node)
    if name not in STRATEGIES:
        raise Problem(line, f"unknown strategy {shown(name)}; choose one of: {' '.join(STRATEGIES)}")
    return STRATEGIES[name]


def _budget(field: Field) -> int:
    line, text = item_of(field.node)
    if not is_whole(text, 1, MAX_BUDGET):
        raise Problem(line, f"budget is {shown(text)}, expected a number of pages from 1 to {MAX_BUDGET}")
    return int(text)


def _number(item: Item, name: str, least: float, most: float) -> float:
    try:
        number = float(item.text)
    except ValueError:
        number = least - 1.0
    if not least <= number <= most:  # rejects nan, too
        raise Problem(item.line, f"{name} is {shown(item.text)}, expected a number from {least:g} to {most:g}")
    return number


def _address(item: Item) -> tuple[str, str]:
    """Return site and URL."""
    try:
        return seed_address(item.text)
    except ConfigError as error:
        raise Problem(item.line, str(error)) from None


def _host(site: str) -> str:
    return str(parsed(site).hostname)

"""`scrapy sites test-rule`: shows which URLs a rule matches, before it is used."""

from __future__ import annotations

import io
import shlex
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawlers.algorithms.url_rules.url_expressions import UrlExpressions
from crawlers.algorithms.url_rules.url_tokens import target_of_url
from crawlers.algorithms.urls.domains import is_in_domain
from crawlers.algorithms.urls.resolution import resolve
from crawlers.cli.sites.site_parts import domain_named, opened
from crawlers.cli.sites.site_url_rules import rule_number
from crawlers.errors import BadUrl, ConfigError
from crawlers.inputs.program import program
from crawlers.inputs.source_fields import check_rule
from crawlers.inputs.text_file import shown
from crawlers.storage.news.stored_rules import pages_of_domain, rule_numbered

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy.settings import BaseSettings

    from crawlers.storage.news.stored_rules import KnownPage, StoredRule

SAMPLE = 20  # URLs of the store that are shown for each kind


class Trial(NamedTuple):
    """A rule, and the commands to keep or forbid it; a stored rule only matches URLs of its *domain*."""

    expressions: UrlExpressions  # of this rule only
    keep: str  # advice for a good rule
    forbid: str  # advice for a bad rule
    domain: str | None = None

    def matches(self, url: str) -> bool:
        """Return whether the rule matches an absolute URL."""
        if self.domain is not None and not is_in_domain(url, self.domain):
            return False
        return bool(self.expressions.matching(target_of_url(url)))


def run(settings: BaseSettings, given: list[str], opts: argparse.Namespace) -> None:
    """Print which URLs a rule matches, of arguments, files, standard input, or the store."""
    rule, *places = given
    if opts.site is not None:
        if places:
            raise ConfigError(f"{places[0]} and --site {opts.site}: give either URLs, or a site whose pages are tested")
        _try_store(settings, rule, opts.site)
        return
    trial = _trial(settings, rule, "SITE")
    counts = {"match": 0, "no match": 0, "invalid": 0}
    for text in chain.from_iterable(map(_urls, places or ["-"])):
        try:
            result = "match" if trial.matches(resolve(text, "").url) else "no match"
        except BadUrl:
            result = "invalid"
        counts[result] += 1
        print(f"{result:8}  {text}")
    number = sum(counts.values())
    if not number:
        raise ConfigError("there are no URLs to test; give URLs, a file of URLs, or --site SITE for those of the store")
    invalid = f", {counts['invalid']} invalid" if counts["invalid"] else ""
    advice = f"; {trial.keep}" if counts["match"] else ""
    print(f"matches {counts['match']} of {number} URLs{invalid}{advice}")


def _trial(settings: BaseSettings, rule: str, site: str) -> Trial:
    if rule.isdecimal():
        with opened(settings) as database:
            stored = rule_numbered(database, rule_number(rule))
        return Trial(UrlExpressions([stored.rule.regex]), *_remedies(stored), stored.domain)
    check_rule(rule)
    add = f"{program()} sites add-rule {site} {shlex.quote(rule)}"
    return Trial(UrlExpressions([rule]), f"keep it: {add}", f"forbid what it matches: {add} --weight 0")


def _remedies(stored: StoredRule) -> tuple[str, str]:
    """Return the advice to keep a rule, and that to forbid it."""
    number = stored.number
    if stored.rule.weight == 0:
        undo = f"the rule excludes them from articles; undo: {program()} sites remove-rule {number}"
        return undo, undo
    change = f"change it: {program()} sites edit-rule {number} REGEX"
    keep = change if stored.rule.is_pinned else f"keep it: {program()} sites pin-rule {number}, or {change}"
    return keep, f"forbid it: {program()} sites forbid-rule {number}, or {change}"


def _urls(place: str) -> Iterable[str]:
    """Return the URL of an argument, or the URLs of the file that it names."""
    if place == "-":
        return _lines(io.TextIOWrapper(sys.stdin.buffer, "utf-8", "replace"))
    if "://" in place:
        return [place.encode("utf-8", "surrogateescape").decode("utf-8", "replace")]  # a terminal may pass invalid text
    if not Path(place).is_file():
        raise ConfigError(f"{shown(place)} is neither a URL nor a file; write a full URL, http://…")
    try:
        return _lines(Path(place).read_text("utf-8", "replace").splitlines())
    except OSError as error:
        raise ConfigError(f"{place} can't be read: {error.strerror}; check its permissions") from error


def _lines(lines: Iterable[str]) -> Iterator[str]:
    return (text for line in lines if (text := line.strip()) and not text.startswith("#"))


def _try_store(settings: BaseSettings, rule: str, wanted: str) -> None:
    trial = _trial(settings, rule, wanted)
    matched, other = _Pages(), _Pages()
    with opened(settings) as database:
        domain = domain_named(database, wanted)
        for page in pages_of_domain(database, domain):
            (matched if trial.matches(page.url) else other).add(page)
    number, documents = matched.number + other.number, matched.documents + other.documents
    if not number:
        raise ConfigError(f"the store has no pages of {domain}; crawl it first: scrapy crawl news, or give URLs")
    _sample("match, document", matched.of_documents, matched.documents)
    _sample("match, no document", matched.of_others, matched.number - matched.documents)
    _sample("no match, document", other.of_documents, other.documents)
    _sample("no match", other.of_others, other.number - other.documents)
    unfetched = f", {matched.unfetched} not fetched" if matched.unfetched else ""
    advice = ""
    if matched.documents:
        advice = f"; {trial.keep}"
    elif matched.unfetched < matched.number:
        advice = f"; {trial.forbid}"
    print(
        f"matches {matched.number} of {number} pages of {domain}: {matched.documents} documents{unfetched}; "
        f"misses {other.documents} of {documents} documents{advice}"
    )


class _Pages:
    """Pages of one kind: their numbers and a sample."""

    def __init__(self) -> None:
        self.number = self.documents = self.unfetched = 0
        self.of_documents: list[str] = []
        self.of_others: list[str] = []

    def add(self, page: KnownPage) -> None:
        self.number += 1
        self.documents += page.is_document
        self.unfetched += not (page.was_fetched or page.is_document)
        sample = self.of_documents if page.is_document else self.of_others
        if len(sample) < SAMPLE:
            sample.append(page.url)


def _sample(label: str, urls: Sequence[str], number: int) -> None:
    for url in urls:
        print(f"{label:18}  {url}")
    if number > len(urls):
        print(f"{label:18}  … and {number - len(urls)} more")

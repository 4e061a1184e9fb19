"""The actions of `scrapy sites` on URL rules, which determine which URLs are articles, and their trial."""

from __future__ import annotations

import io
import shlex
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawlers.cli.sites.site_seeds import domain_named, opened
from crawlers.errors import BadUrl, ConfigError
from crawlers.files.text_file import quoted
from crawlers.inputs.program import program
from crawlers.missions.news.feeds.sources_file import check_rule, rule_weight
from crawlers.missions.news.reports.url_rule_trial import latest_sites, trial
from crawlers.missions.news.urls import stored_rules as stored
from crawlers.missions.news.urls.rule_learner import HAND
from crawlers.missions.news.urls.stored_rules import rule_numbered
from crawlers.missions.news.urls.url_tokens import target_of_url
from crawlers.reports.catalogue.renderers import text_table
from crawlers.reports.catalogue.report import Cells, Column, Kind
from crawlers.urls.domains import is_in_domain
from crawlers.urls.resolution import resolve
from crawlers.urls.url_expressions import UrlExpressions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from scrapy.settings import BaseSettings

    from crawlers.missions.news.urls.stored_rules import StoredRule

RULES = (
    Column("number", "number", Kind.NUMBER),
    Column("domain", "domain"),
    Column("weight", "weight"),
    Column("origin", "origin"),
    Column("is_pinned", "pinned"),
    Column("support", "support", Kind.NUMBER),
    Column("precision_low", "precision", Kind.DECIMAL),
    Column("learnt_at", "learnt (UTC)", Kind.TIME),
    Column("rule", "rule"),
)
MOST_URLS = 10**9  # of the store: all of them
_KINDS = {True: ", document", False: ", no document", None: ", not read"}


def show(settings: BaseSettings, wanted: list[str], _: argparse.Namespace) -> None:
    """Print the rules of a site's domain, or all."""
    with opened(settings) as database:
        domain = domain_named(database, wanted[0]) if wanted else None
        with database.read() as connection:
            rules = stored.stored_rules_of(connection, None if domain is None else [domain])
    if rules:
        print(text_table(RULES, map(_cells, rules)))
    else:
        how = f"{program()} sites add-rule {domain or 'SITE'} '/news/.+'"
        print(f"no rules yet; a news crawl learns rules, or add one: {how}")


def add(settings: BaseSettings, given: list[str], opts: argparse.Namespace) -> None:
    """Insert or update a manual rule, pinned."""
    check_rule(given[1])
    weight = 1.0 if opts.weight is None else rule_weight(opts.weight)
    with opened(settings) as database:
        rule = stored.add_rule(database, domain_named(database, given[0]), given[1], weight)
    print(f"{_named(rule)} added; {_see(rule)}")


def pin(settings: BaseSettings, given: list[str], _: argparse.Namespace) -> None:
    """Pin a rule, so that learning does not replace it."""
    with opened(settings) as database:
        rule = stored.pin_rule(database, rule_number(given[0]))
    print(f"{_named(rule)} pinned: learning no longer replaces it; remove-rule {rule.number} deletes it")


def edit(settings: BaseSettings, given: list[str], _: argparse.Namespace) -> None:
    """Change the regular expression of a rule."""
    number = rule_number(given[0])
    check_rule(given[1])
    with opened(settings) as database:
        before = stored.rule_numbered(database, number)
        rule = stored.edit_rule(database, number, given[1])
    old = "change it in your sources file, too" if before.rule.origin == HAND else "it may be learnt again"
    print(f"{_named(rule)} replaces {shlex.quote(before.rule.regex)} ({old}); {_see(rule)}")


def forbid(settings: BaseSettings, given: list[str], _: argparse.Namespace) -> None:
    """Exclude the URLs that a rule matches from articles."""
    with opened(settings) as database:
        rule = stored.pin_rule(database, rule_number(given[0]), weight=0.0, origin=HAND)
    undo = f"{program()} sites remove-rule {rule.number}"
    print(
        f"{_named(rule)} now forbids: URLs that it matches are not articles, and it is not learnt again; undo: {undo}"
    )


def remove(settings: BaseSettings, given: list[str], _: argparse.Namespace) -> None:
    """Delete a rule."""
    with opened(settings) as database:
        rule = stored.remove_rule(database, rule_number(given[0]))
    if rule.rule.origin == HAND:
        print(f"{_named(rule)} removed; if a sources file contains it, remove it there as well")
    else:
        print(f"{_named(rule)} removed; it may be learnt again, which forbid-rule would have prevented")


def rule_number(text: str) -> int:
    """Return the rule number in *text*; raises `ConfigError`."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ConfigError(
            f"{quoted(text)} is not the number of a rule; `scrapy sites rules` shows all rules with their numbers"
        )
    return int(text)


def _see(rule: StoredRule) -> str:
    return f"see what it matches: {program()} sites test-rule {rule.number} --site {rule.domain}"


def _named(rule: StoredRule) -> str:
    return f"rule {rule.number} of {rule.domain}, {shlex.quote(rule.rule.regex)},"


def _cells(stored_rule: StoredRule) -> Cells:
    number, domain, rule = stored_rule
    weight = f"{rule.weight:.3g}" if rule.weight else "forbids"
    learnt = (rule.support, round(rule.precision_low, 3)) if rule.support else (None, None)
    return (number, domain, weight, rule.origin, rule.is_pinned, *learnt, rule.learnt_at or None, rule.regex)


class TestedRule(NamedTuple):
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
    tested = _tested(settings, rule, "SITE")
    counts = {"match": 0, "no match": 0, "invalid": 0}
    for text in chain.from_iterable(map(_urls, places or ["-"])):
        try:
            result = "match" if tested.matches(resolve(text, "").url) else "no match"
        except BadUrl:
            result = "invalid"
        counts[result] += 1
        print(f"{result:8}  {text}")
    number = sum(counts.values())
    if not number:
        raise ConfigError("there are no URLs to test; give URLs, a file of URLs, or --site SITE for those of the store")
    invalid = f", {counts['invalid']} invalid" if counts["invalid"] else ""
    advice = f"; {tested.keep}" if counts["match"] else ""
    print(f"matches {counts['match']} of {number} URLs{invalid}{advice}")


def _tested(settings: BaseSettings, rule: str, site: str) -> TestedRule:
    if rule.isdecimal():
        with opened(settings) as database:
            stored = rule_numbered(database, rule_number(rule))
        return TestedRule(UrlExpressions([stored.rule.regex]), *_remedies(stored), stored.domain)
    check_rule(rule)
    add = f"{program()} sites add-rule {site} {shlex.quote(rule)}"
    return TestedRule(UrlExpressions([rule]), f"keep it: {add}", f"forbid what it matches: {add} --weight 0")


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
        raise ConfigError(f"{quoted(place)} is neither a URL nor a file; write a full URL, http://…")
    try:
        return _lines(Path(place).read_text("utf-8", "replace").splitlines())
    except OSError as error:
        raise ConfigError(f"{place} can't be read: {error.strerror}; check its permissions") from error


def _lines(lines: Iterable[str]) -> Iterator[str]:
    return (text for line in lines if (text := line.strip()) and not text.startswith("#"))


def _try_store(settings: BaseSettings, rule: str, wanted: str) -> None:
    tested = _tested(settings, rule, wanted)
    with opened(settings) as database:
        domain = domain_named(database, wanted)
        with database.read() as connection:
            sites = latest_sites(connection, domain)
            tried = trial(connection, sites, tested.expressions, MOST_URLS, lambda: False)
    if not tried.tested:
        raise ConfigError(f"the store has no pages of {domain}; crawl it first: scrapy crawl news, or give URLs")
    matched, missed = tried.matched, tried.missed
    for result, sample in (("match", matched), ("no match", missed)):
        for url, is_document in sample.first:
            print(f"{result + _KINDS[is_document]:21}  {url}")
        if sample.number > len(sample.first):
            print(f"{result:21}  … and {sample.number - len(sample.first):,} more")
    unread = matched.number - matched.documents - matched.others
    advice = {True: f"; {tested.keep}", False: f"; {tested.forbid}", None: ""}[tried.is_good]
    print(
        f"matches {matched.number} of {tried.tested} URLs of {domain}: {matched.documents} documents"
        f"{f', {unread} not read' if unread else ''}; misses {missed.documents} of "
        f"{matched.documents + missed.documents} documents{advice}"
    )

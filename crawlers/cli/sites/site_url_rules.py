"""The actions of `scrapy sites` on URL rules, which determine which URLs are articles."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from crawlers.algorithms.url_rules.rule_learner import HAND
from crawlers.cli.sites.site_parts import domain_named, opened
from crawlers.errors import ConfigError
from crawlers.inputs.program import program
from crawlers.inputs.source_fields import check_rule, rule_weight
from crawlers.inputs.text_file import shown
from crawlers.reports.catalogue.renderers import text_table
from crawlers.reports.catalogue.table import Cells, Column, Kind
from crawlers.storage.news import stored_rules as stored

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings

    from crawlers.storage.news.stored_rules import StoredRule

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


def show(settings: BaseSettings, wanted: list[str], _: argparse.Namespace) -> None:
    """Print the rules of a site's domain, or all."""
    with opened(settings) as database:
        domain = domain_named(database, wanted[0]) if wanted else None
        rules = stored.list_rules(database, domain)
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
        rule = stored.forbid_rule(database, rule_number(given[0]))
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
            f"{shown(text)} is not the number of a rule; `scrapy sites rules` shows all rules with their numbers"
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

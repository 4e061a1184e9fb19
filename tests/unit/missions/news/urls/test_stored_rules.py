"""Rules are replaced per origin, and pinned rules are kept."""

import pytest

from crawlers.errors import ConfigError
from crawlers.missions.news.urls import stored_rules
from crawlers.missions.news.urls.rule_learner import UrlRule
from crawlers.missions.news.urls.stored_rules import (
    HAND,
    LEARNT,
    LearntRulesRow,
    add_rule,
    edit_rule,
    pin_rule,
    remove_rule,
    replace_rules,
    rules_by_domain,
    stored_rules_of,
)
from tests.support.stored_rows import committed, read, write_rows

pytestmark = pytest.mark.both_stores

A, B = "a.example", "b.example"


def learnt(regex, weight=0.9, support=40):
    return UrlRule(regex, weight, LEARNT, False, support, 0.87, 1000.0)


def learn(database, domain, rules):
    write_rows(database, LearntRulesRow(domain, tuple(rules)))


def regexes(database):
    return {domain: {rule.regex for rule in rules} for domain, rules in rules_by_domain(database).items()}


def numbers(database):
    return {rule.rule.regex: rule.number for rule in read(stored_rules_of, database, None)}


def test_rule_that_is_learnt_again_keeps_its_number_and_others_are_deleted(sqlite):
    learn(sqlite, A, [learnt("/a"), learnt("/b")])
    learn(sqlite, B, [learnt("/b")])
    before = numbers(sqlite)
    learn(sqlite, A, [learnt("/b", 0.4, 80), learnt("/c")])
    assert regexes(sqlite) == {A: {"/b", "/c"}, B: {"/b"}}
    (b, c) = read(stored_rules_of, sqlite, [A])[::-1]
    assert (b.rule, c.number in before.values()) == (learnt("/b", 0.4, 80), False)
    learn(sqlite, A, [])
    assert regexes(sqlite) == {B: {"/b"}}


def test_manual_rules_are_kept_when_rules_are_learnt(sqlite):
    learn(sqlite, A, [learnt("/pinned"), learnt("/wrong"), learnt("/narrow"), learnt("/gone")])
    number = numbers(sqlite)
    pin_rule(sqlite, number["/pinned"])
    pin_rule(sqlite, number["/wrong"], weight=0.0, origin=HAND)
    edit_rule(sqlite, number["/narrow"], "/narrower")
    add_rule(sqlite, A, "/mine", 0.7)
    remove_rule(sqlite, number["/gone"])
    learn(sqlite, A, [learnt("/wrong"), learnt("/mine"), learnt("/pinned", 0.1), learnt("/new")])
    rules = {rule.regex: rule for rule in rules_by_domain(sqlite)[A]}
    assert rules == {
        "/pinned": UrlRule("/pinned", 0.9, LEARNT, True, 40, 0.87, 1000.0),
        "/wrong": UrlRule("/wrong", 0.0, HAND, True, 40, 0.87, 1000.0),
        "/narrower": UrlRule("/narrower", 0.9, HAND, True),
        "/mine": UrlRule("/mine", 0.7, HAND, True),
        "/new": learnt("/new"),
    }


def test_rules_of_a_file_override_learnt_rules_but_not_pinned_ones(database):
    learn(database, A, [learnt("/both"), learnt("/learnt")])
    add_rule(database, A, "/mine", 1.0)
    file = [UrlRule("/both", 1.0, HAND), UrlRule("/mine", 0.2, HAND), UrlRule("/file", 0.0, HAND)]
    for _ in range(2):
        committed(replace_rules, database, HAND, {A: file, B: []})
        rules = {rule.regex: (rule.weight, rule.origin) for rule in rules_by_domain(database)[A]}
        assert rules == {"/both": (1.0, HAND), "/mine": (1.0, HAND), "/file": (0.0, HAND), "/learnt": (0.9, LEARNT)}
    learn(database, A, [learnt("/both")])
    committed(replace_rules, database, HAND, {A: file[:1], B: []})
    assert regexes(database)[A] == {"/both", "/mine"}, "rules that are no longer in the file are deleted, unless pinned"


def test_number_of_manual_rules_is_limited_and_learnt_ones_do_not_count(sqlite, monkeypatch):
    monkeypatch.setattr(stored_rules, "MAX_RULES", 2)
    learn(sqlite, A, [learnt("/x"), learnt("/y")])
    add_rule(sqlite, A, "/a", 1.0)
    add_rule(sqlite, A, "/b", 1.0)
    with pytest.raises(ConfigError, match=f"{A} would have 3 manual rules; keep at most 2, join some with |"):
        add_rule(sqlite, A, "/c", 1.0)
    assert add_rule(sqlite, A, "/a", 0.5).rule.weight == 0.5
    file = [UrlRule(f"/{number}", 1.0, HAND) for number in range(3)]
    with pytest.raises(ConfigError, match=f"{B} would have 3 manual rules"), sqlite.write() as connection:
        replace_rules(connection, HAND, {B: file})
    assert regexes(sqlite) == {A: {"/a", "/b", "/x", "/y"}}

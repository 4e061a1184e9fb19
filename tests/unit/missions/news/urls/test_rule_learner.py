"""The learner of a domain: which labels it keeps, and when it is due."""

import pickle
import random

import pytest

from bench.news.url_rules import SCHEMAS, labelled
from crawlers.missions.news.urls.rule_learner import RuleLearner, UrlRule, learn_rules
from crawlers.missions.news.urls.url_prior import UrlPrior
from crawlers.ranking.link_prior import OF_URLS, shipped_weights

SITE = "https://www.example.org"


def taught(articles, others):
    learner = RuleLearner("example.org")
    for number in range(articles):
        learner.label(f"{SITE}/news/{number + 10_000}.html", True)
    for number in range(others):
        learner.label(f"{SITE}/tag/t{number}", False)
    return learner


def learn(learner, now, known=()):
    return learn_rules(learner.task(known), now)


def taught_one_by_one(learner, labels):
    """Label so many URLs, two articles for each other page; yield their number after each."""
    for number in range(labels):
        learner.label(f"{SITE}/{'news' if number % 3 else 'tag'}/{number}", bool(number % 3))
        yield number + 1


def test_learning_is_due_at_30_100_300_and_1000_labels_and_then_at_each_doubling():
    learner = RuleLearner("example.org")
    due = []
    for number in taught_one_by_one(learner, 9_000):
        if learner.is_due:
            due.append(number)
            learn(learner, 0.0)
    assert due == [30, 100, 300, 1_000, 2_000, 4_000, 8_000]


def test_learning_that_fails_is_tried_again_after_1_2_4_labels_and_at_the_usual_numbers():
    learner = RuleLearner("example.org")
    due = []
    for number in taught_one_by_one(learner, 700):
        if learner.is_due:
            due.append(number)
            learner.task()
            learner.end_task(has_failed=True)
            assert not learner.is_due
    assert due == [30, 31, 33, 37, 45, 61, 93, 100, 228, 300]


@pytest.mark.parametrize(("recovers_at", "learnt_at"), [(1_001, 1_001), (1_500, 1_511), (1_600, 2_000), (3_000, 3_024)])
def test_failures_do_not_change_the_usual_numbers(recovers_at, learnt_at):
    learner = RuleLearner("example.org")
    learnt = []
    for number in taught_one_by_one(learner, 9_000):
        if learner.is_due:
            learner.task()
            learner.end_task(has_failed=(has_failed := 1_000 <= number < recovers_at))
            learnt += [] if has_failed else [number]
    usual = [at for at in (2_000, 4_000, 8_000) if at > learnt_at]
    assert learnt == [30, 100, 300, learnt_at, *usual]


def test_failures_before_rules_were_learnt_do_not_count():
    learner = taught(20, 20)
    for number, has_failed in enumerate((True, True, True, False, False, False)):
        learner.task()
        learner.end_task(has_failed=has_failed)
        for label in range(4):
            learner.label(f"{SITE}/tag/{number}-{label}", False)
    assert not learner.is_due
    learner.task()
    learner.end_task(has_failed=True)
    learner.label(f"{SITE}/tag/another", False)
    assert learner.is_due


def test_rules_that_fail_are_learnt_again_when_there_are_new_labels():
    learner = taught(30, 30)
    learn(learner, 0.0)
    for number in range(50):
        learner.judged(True, number % 4 > 0)
        learner.judged(False, True)
    assert not learner.is_due
    for number in range(20):
        assert not learner.is_due
        learner.label(f"{SITE}/photo/{number}.html", False)
    assert learner.is_due
    learn(learner, 0.0)
    assert not learner.is_due


def test_accurate_rules_are_not_learnt_again():
    learner = taught(30, 30)
    learn(learner, 0.0)
    for number in range(500):
        learner.judged(True, number % 5 > 0)  # 0.8 exactly
    for number in range(39):
        learner.label(f"{SITE}/photo/{number}.html", False)
    assert not learner.is_due


def test_manually_forbidden_rule_is_not_learnt_again():
    learner = taught(30, 30)
    (rule,) = learn(learner, 0.0)
    assert learn(learner, 0.0, [UrlRule(rule.regex, 0.0, "hand")]) == []
    assert learn(learner, 0.0, [UrlRule(rule.regex, 0.7, "hand", is_pinned=True)]) == [rule]


def test_rules_are_learnt_in_another_process_as_in_this_one():
    prior = UrlPrior(shipped_weights(OF_URLS))
    learner = RuleLearner("example.org", prior.base)
    for target, is_article in labelled(next(iter(SCHEMAS)), 50, 50, 0.1, random.Random(1)).items():
        learner.label(f"{SITE}{target}", is_article)
    task = learner.task()
    sent = pickle.dumps(task)
    assert len(sent) < 100_000
    assert learn_rules(pickle.loads(sent), 5.0) == learn_rules(task, 5.0) != []  # noqa: S301 - our own

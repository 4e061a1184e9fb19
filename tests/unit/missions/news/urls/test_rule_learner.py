"""The learner of a domain: which labels it keeps, and when it is due."""

import pickle
import random
from functools import partial

from bench.news.url_rules import SCHEMAS, labelled
from crawlers.missions.news.urls.rule_learner import RuleLearner, UrlRule, learn_rules
from crawlers.missions.news.urls.url_prior import OF_URLS, UrlPrior
from crawlers.ranking.link_features import shipped_weights

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


def test_learning_that_fails_is_tried_again_after_ten_labels_and_at_the_usual_numbers():
    learner = RuleLearner("example.org")
    due = []
    for number in taught_one_by_one(learner, 700):
        if learner.is_due:
            due.append(number)
            learner.task()
            if number < 50 or number == 300:
                learner.retry_soon()
            assert not learner.is_due
    assert due == [30, 40, 50, 100, 300, 310]


def test_manually_forbidden_rule_is_not_learnt_again():
    learner = taught(30, 30)
    (rule,) = learn(learner, 0.0)
    assert learn(learner, 0.0, [UrlRule(rule.regex, 0.0, "hand")]) == []
    assert learn(learner, 0.0, [UrlRule(rule.regex, 0.7, "hand", is_pinned=True)]) == [rule]


def test_rules_are_learnt_in_another_process_as_in_this_one():
    prior = UrlPrior(shipped_weights(OF_URLS))
    learner = RuleLearner("example.org", partial(prior.probability, ""))
    for target, is_article in labelled(next(iter(SCHEMAS)), 50, 50, 0.1, random.Random(1)).items():
        learner.label(f"{SITE}{target}", is_article)
    task = learner.task()
    sent = pickle.dumps(task)
    assert len(sent) < 100_000
    assert learn_rules(pickle.loads(sent), 5.0) == learn_rules(task, 5.0) != []  # noqa: S301 - our own

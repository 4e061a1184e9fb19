"""The learner of a domain: which labels it keeps, and when rules are due."""

from crawlers.missions.news.urls import rule_learner as module
from crawlers.missions.news.urls.rule_learner import RuleLearner


def label(learner, number, is_article):
    return learner.label(f"/{'news' if is_article else 'tag'}/{number}", is_article)


def test_rules_are_due_at_20_labels_and_then_at_each_doubling():
    learner = RuleLearner()
    due = [number + 1 for number in range(9_000) if label(learner, number, bool(number % 3))]
    assert due == [20 * 2**n for n in range(9)]


def test_rules_are_due_when_there_are_five_labels_of_each_kind():
    learner = RuleLearner()
    assert [n for n in range(50) if label(learner, n, n < 40)] == [44]
    assert not label(learner, 44, False), "not twice the same URL"


def test_oldest_label_of_the_more_frequent_kind_is_dropped(monkeypatch):
    monkeypatch.setattr(module, "MAX_LABELS", 60)
    learner = RuleLearner()
    for number in range(100):
        label(learner, number, number % 10 > 0)
    (rule,) = learner.rules(5.0)
    assert (rule.regex, rule.support, rule.learnt_at) == ("/news/[0-9]{1,2}/?", 50, 5.0)

"""The relevance that is expected behind links, from the similarities of the pages behind others."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.items import LinkPlace
from crawlers.missions.topic.topic_scores import LinkRelevance, TopicScores
from crawlers.missions.topic.vectors import STRATEGIES, Weights
from crawlers.ranking.link_features import link_features
from crawlers.ranking.link_values import LinkValues

SITE = "http://a.test"


def features(word, site=SITE):
    return list(link_features(site, f"{site}/{word}/x", 1, 1, LinkPlace("", "", f"about {word}")))


def relevances(learner, *words):
    return learner.relevances(np.array([features(word) for word in words], np.uint32)).tolist()


@pytest.fixture
def learner():
    return LinkRelevance(TopicScores(STRATEGIES["learnt"]))


def test_relevance_is_the_expected_similarity_as_a_share_of_the_greatest(learner):
    values = LinkValues()
    rewards = [("a", 0.4), ("b", 0.1), ("a", 0.6), ("c", 0.0)]
    total = 0.0
    for number, (word, similarity) in enumerate(rewards, 1):
        learner.learn(features(word), similarity)
        total += similarity
        values.learn(features(word), similarity * number / total)
    mean = total / len(rewards)
    expected = [math.exp(sum(values.parts(features(word)))) * mean / 0.6 for word in "abc"]
    assert relevances(learner, *"abc") == pytest.approx([min(1.0, one) for one in expected], rel=1e-12)
    assert expected[0] > expected[1] > expected[2]
    assert learner.parts(features("a")) == values.parts(features("a"))


def test_value_is_the_score_and_the_weighted_relevance():
    scores = TopicScores(Weights(0.6, 0.0, 0.0, 0.4))
    learner = LinkRelevance(scores)
    for page in (1, 2):
        scores.add_waiting(page, 1)
    scores.add_waiting(3, 0)
    scores.fetched(3, {1: 0.5})
    learner.learn(features("a"), 0.5)
    learner.learn(features("b"), 0.0)
    rows = np.array([features("b"), features("a")], np.uint32)
    value, other = learner.compared(np.array([1, 2]), rows).tolist()
    assert value == pytest.approx(0.3 + 0.4 * relevances(learner, "b")[0])
    assert other == pytest.approx(0.4 * relevances(learner, "a")[0])


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0, 1)), max_size=60))
def test_relevances_are_shares_and_do_not_depend_on_each_other(rewards):
    learner = LinkRelevance(TopicScores(STRATEGIES["learnt"]))
    for word, similarity in rewards:
        learner.learn(features(word), similarity)
    together = relevances(learner, *"abcde")
    assert together == [relevances(learner, word)[0] for word in "abcde"]
    assert all(0.0 <= one <= 1.0 for one in together)

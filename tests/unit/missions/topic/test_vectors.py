"""Topics: cosine similarities, and the weights of the strategies."""

from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.errors import ConfigError
from crawlers.missions.topic.vectors import (
    STRATEGIES,
    DocumentFrequencies,
    Topic,
    Weights,
    topic_of,
)

terms = st.sampled_from("abcdef")
counts = st.dictionaries(terms, st.integers(1, 1000))
weights = st.dictionaries(terms, st.floats(1e-3, 1e3), min_size=1)


@pytest.mark.parametrize(
    ("topic", "text", "cosine"),
    [
        ({"a": 1}, {"a": 7}, 1.0),
        ({"a": 1}, {"b": 1}, 0.0),
        ({"a": 1}, {}, 0.0),
        ({"a": 1, "b": 1}, {"a": 1}, 1 / sqrt(2)),
        ({"a": 2, "b": 1}, {"a": 1, "b": 2, "c": 2}, (2 + 2) / (sqrt(5) * 3)),
    ],
)
def test_relevance_of_a_text_is_the_cosine_similarity(topic, text, cosine):
    assert Topic(topic).anchor_relevance(text) == pytest.approx(cosine, abs=1e-15)


@given(weights, counts)
def test_cosines_are_shares(topic, text):
    seen = DocumentFrequencies([text, topic])
    for value in (Topic(topic).anchor_relevance(text), Topic(topic).tf_idf_similarity(text, seen)):
        assert 0.0 <= value <= 1.0
        assert (value > 0.0) == bool(topic.keys() & text.keys())


def test_weight_of_a_term_grows_with_its_inverse_document_frequency():
    seen = DocumentFrequencies([["a", "b"], ["a"], ["a"], ["a", "a"]])
    b = 1.0 + log(4)
    assert (seen.documents, *map(seen.idf, ["a", "b", "never seen"])) == (4, 1.0, b, b)
    assert DocumentFrequencies().idf("a") == 1.0
    expected = (1 * 3 + b * 2 * b) / (sqrt(1 + b**2) * sqrt(9 + (2 * b) ** 2))
    assert Topic({"a": 1, "b": 1}).tf_idf_similarity({"a": 3, "b": 2}, seen) == pytest.approx(expected)


def test_topic_of_examples_is_the_mean_of_their_directions():
    topic = topic_of({}, [{"a": 30, "b": 40}, {"a": 1}])  # (0.6, 0.8) and (1, 0): the length of a page does not matter
    assert topic.terms["a"] / topic.terms["b"] == pytest.approx(1.6 / 0.8)


def test_strongest_terms_of_examples_and_all_keywords_are_kept():
    page = {f"word{number:03}": 1 + (number == 70) for number in range(100)}
    keywords = {f"key{number}": 1.0 for number in range(60)}
    kept = topic_of(keywords, [page]).terms.keys()
    assert kept == keywords.keys() | {"word070"} | {f"word{number:03}" for number in range(49)}


def test_topic_without_terms_is_refused():
    with pytest.raises(ConfigError, match="no terms; give keywords, or example pages with text"):
        topic_of({}, [{}])


def test_strategies_are_those_of_the_paper_and_one_that_learns():
    assert {
        "learnt": Weights(0.5, 0, 0, 0.5),
        "anchor": Weights(1, 0, 0),
        "breadth": Weights(0, 1, 0),
        "links": Weights(0, 0, 1),
        "mixed": Weights(0.4, 0.3, 0.3),
    } == STRATEGIES


@pytest.mark.parametrize(
    "wrong", [(-0.5, 1, 0.5), (1.5, -0.5, 0), (0, 0, 1.5), (float("nan"), 0.5, 0.5), (float("inf"), 0, 0)]
)
def test_each_weight_must_be_a_share(wrong):
    with pytest.raises(ConfigError, match="each weight must be from 0 to 1; change them so that they sum to 1"):
        Weights(*wrong)

"""The model of links learns, survives a restart, and stays bounded."""

from __future__ import annotations

import random
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.topic.link_model import BUCKETS, MAX_FEATURES, LinkModel, link_features

features = st.lists(st.sampled_from([f"a:{letter}" for letter in "abcdefgh"]), max_size=5)
lessons = st.lists(st.tuples(features, st.floats(0, 1), st.floats(0.01, 1)), max_size=40)


def taught(history) -> LinkModel:
    model = LinkModel()
    for of_link, reward, rate in history:
        model.learn(of_link, reward, rate)
    return model


def test_features_are_the_terms_of_the_anchor_and_the_words_of_the_path():
    found = link_features(["utf", "кодировк"], "http://encoding.example/Wiki/%D0%9A%D0%BE%D0%B4_12?lang=ru&x=1#utf")
    assert found == ["a:utf", "a:кодировк", "u:wiki", "u:код", "u:lang", "u:ru", "u:utf"]
    assert link_features([], "http://a.example") == []


def test_number_of_features_of_a_long_url_is_bounded():
    assert (
        len(link_features(["utf"], "http://a.example/" + "/".join(f"x{'abc' * n}" for n in range(500)))) == MAX_FEATURES
    )


@given(lessons, features)
def test_predictions_are_shares(history, asked):
    assert 0.0 <= taught(history).predict(asked) <= 1.0


@given(lessons, features, st.floats(0, 1))
def test_learning_moves_the_prediction_towards_the_reward(history, of_link, reward):
    model = taught(history)
    before = model.predict(of_link)
    model.learn(of_link, reward)
    after = model.predict(of_link)
    assert min(before, reward) - 1e-12 <= after <= max(before, reward) + 1e-12


@given(st.integers(1, 50))
def test_learning_has_the_same_effect_with_many_features_as_with_one(number):
    model = LinkModel()
    many = [f"a:{one}" for one in range(number)]
    model.learn(many, 1.0, 1.0)
    assert model.predict(many) == pytest.approx(1 / (1 + exp(-1)))


def test_feature_counts_once():
    twice, once = (taught([(texts, 1.0, 1.0)]) for texts in (["a:utf", "a:utf"], ["a:utf"]))
    assert [twice.predict(texts) for texts in (["a:utf"], [])] == [once.predict(texts) for texts in (["a:utf"], [])]


def test_words_of_links_to_relevant_pages_are_distinguished_from_others():
    """Rewards are noisy, words come with others, and one in five pages is relevant."""
    rng = random.Random(4)
    model = LinkModel()
    for _ in range(3000):
        is_topic = rng.random() < 0.2
        words = [*("utf", "text")[: is_topic + 1 if is_topic else 0], *rng.sample(["home", "news", "page", "more"], 2)]
        model.learn([f"a:{word}" for word in words], rng.uniform(0.5, 1.0) if is_topic else rng.uniform(0.0, 0.2))
    assert model.predict(["a:utf", "a:home"]) > 0.5
    assert model.predict(["a:news", "a:home"]) < 0.2
    assert model.predict(["a:never seen"]) < 0.5, "an unknown feature has the average relevance"


def test_memory_is_bounded():
    model = LinkModel()
    for number in range(0, 4 * BUCKETS, 50):
        model.learn([f"u:{one}" for one in range(number, number + 50)], 1.0)
    assert len(model._weights) <= BUCKETS


def test_new_model_is_neutral():
    assert LinkModel().predict(["a:utf"]) == LinkModel().predict([]) == 0.5


@pytest.mark.parametrize("prior", [0.01, 0.5, 0.9])
def test_prediction_before_any_learning_is_the_prior(prior):
    model = LinkModel(prior)
    assert model.predict(["a:utf"]) == pytest.approx(prior)
    assert model.predict([]) == pytest.approx(prior)

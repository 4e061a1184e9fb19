"""What is learnt of the value of links.

A table of waiting links is a mapping of page numbers to features.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.ranking.link_features import FEATURES, NONE, TABLE_SIZE, WIDTH
from crawlers.ranking.link_values import BLOCK, MAX_ETA, MIN_ETA, OPTIMISM, LinkTable, LinkValues

ids = st.lists(
    st.one_of(st.just(NONE), st.integers(1, 60), st.integers(1, TABLE_SIZE - 1)), min_size=WIDTH, max_size=WIDTH
)
rewards = st.one_of(st.integers(0, 5), st.integers(0, 10**9)).map(float)
histories = st.lists(st.tuples(ids, rewards), max_size=12)


def told(history, prior=None):
    values = LinkValues(prior or {})
    for row, reward in history:
        values.learn(row, reward)
    return values


def rows(*lists):
    return np.array(lists, np.uint32).reshape(-1, WIDTH)


def uncertainty(values, row):
    """The part of the score that is not the sum of weights."""
    return (float(values.scores(rows(row))[0]) - math.fsum(values.parts(row))) / OPTIMISM


@given(histories, st.lists(ids, max_size=8))
def test_values_are_a_function_of_the_rewards_in_their_order(history, links):
    one, other = told(history), LinkValues()
    for row, reward in history:
        other.scores(rows(*links))  # looking does not change anything
        other.learn(tuple(row), reward)
    assert one.scores(rows(*links)).tobytes() == other.scores(rows(*links)).tobytes()
    assert one.values(rows(*links)).tobytes() == other.values(rows(*links)).tobytes()


def test_scores_of_many_links_are_those_of_each():
    rng = np.random.default_rng(1)
    many = rng.integers(0, TABLE_SIZE, (2 * BLOCK + 3, WIDTH)).astype(np.uint32)
    values = LinkValues({number: float(weight) for number, weight in enumerate(rng.normal(size=TABLE_SIZE // 64), 1)})
    for row in many[:50].tolist():
        values.learn(row, 2.0)
    scores = values.scores(many)
    assert scores.tolist() == [values.scores(many[at : at + 1])[0] for at in range(len(many))]
    assert scores.tolist() == values.scores(np.asfortranarray(many)).tolist()


@given(histories, ids, rewards)
def test_learning_lowers_uncertainty(history, row, reward):
    values = told(history)
    before = uncertainty(values, row)
    values.learn(row, reward)
    assert uncertainty(values, row) <= before + 1e-9


@given(histories, ids)
def test_predictions_and_steps_are_bounded(history, row):
    values = told(history)
    assert math.exp(MIN_ETA) <= values.values(rows(row))[0] <= math.exp(MAX_ETA)
    assert np.isfinite(values.scores(rows(row))).all()
    parts = values.parts(row)
    assert all(abs(part) <= 30.0 * (len(history) + 1) for part in parts)
    assert values.values(rows(row))[0] == pytest.approx(math.exp(min(MAX_ETA, max(MIN_ETA, sum(parts)))))


def test_step_follows_the_formula():
    row = list(range(1, WIDTH + 1))
    values = LinkValues({1: 0.5})
    values.learn(row, 7.0)
    total = 1.0 / math.exp(0.5) + 1.0 + sum(feature.variance for feature in FEATURES)
    error = math.log1p((7.0 - math.exp(0.5)) / math.exp(0.5))
    expected = [feature.variance / total * error for feature in FEATURES]
    expected[0] += 0.5
    assert values.parts(row) == pytest.approx(expected)
    left = [variance - variance * variance / total for variance in (one.variance for one in FEATURES[:3])]
    assert uncertainty(values, row) == pytest.approx(math.sqrt(sum(left)))


def test_page_without_links_is_a_step_down():
    row = list(range(1, WIDTH + 1))
    values = LinkValues()
    values.learn(row, 0.0)
    total = 2.0 + sum(feature.variance for feature in FEATURES)
    assert values.parts(row) == pytest.approx([-feature.variance / total for feature in FEATURES])


steps = st.lists(st.tuples(st.sampled_from(["add", "remove", "keep"]), st.integers(1, 40)), max_size=120)


def features(page):
    return np.full(WIDTH, page, np.uint32)


@given(steps)
def test_table_holds_what_was_added_and_not_removed(history):
    table, known = LinkTable(), set[int]()
    for what, page in history:
        if what == "add" and page not in known:
            table.add(page, features(page))
            known.add(page)
        elif what == "remove":
            removed = table.remove(page)
            assert (removed is not None) == (page in known)
            assert removed is None or removed.tolist() == [page] * WIDTH
            known.discard(page)
        elif what == "keep":
            places = np.flatnonzero(table.ids % 3 != page % 3)
            known = set(table.ids[places].tolist())
            table.keep(places)
        assert len(table) == len(known)
        assert sorted(table.ids.tolist()) == sorted(known)
        assert all((row == number).all() for row, number in zip(table.features, table.ids, strict=True))
        assert (page in table) == (page in known)

"""Groups of links, and the bandit that chooses among those of one site."""

from __future__ import annotations

import random
from math import log, log1p, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.ranking.link_groups import BONUS, NAME_CHARS, PRIOR_PULLS, GroupBandit, group_name

groups = st.integers(0, 4)
rewards = st.one_of(st.integers(0, 5), st.integers(0, 10_000)).map(float)
histories = st.lists(st.tuples(groups, st.one_of(st.none(), rewards)), max_size=30)  # None: still in flight


def told(history) -> GroupBandit:
    bandit = GroupBandit()
    for group, reward in history:
        bandit.record_request(group)
        if reward is not None:
            bandit.record_reward(group, reward)
    return bandit


def naive_index(history, group: int) -> float:
    """The formula of the docstring, over lists."""
    gains = [log1p(reward or 0.0) for _, reward in history]
    own = [log1p(reward or 0.0) for of_group, reward in history if of_group == group]
    mean = sum(gains) / len(gains) if gains else 0.0
    variance = 1.0
    if len(gains) > 1:
        variance = max(sum(gain * gain for gain in gains) / len(gains) - mean**2, 1e-9)
    weight = len(own) + PRIOR_PULLS
    return (sum(own) + PRIOR_PULLS * mean) / weight + BONUS * sqrt(variance * log(len(gains) + 1) / weight)


def permuted_waiting(names):
    return st.permutations(range(10)).map(lambda ids: list(zip(names, ids, strict=False)))


@given(histories, st.lists(groups, min_size=1, unique=True).flatmap(permuted_waiting))
def test_choice_follows_the_formula(history, waiting):
    chosen = told(history).choose(waiting)
    assert chosen in dict(waiting)
    best = max(naive_index(history, group) for group, _ in waiting)
    assert naive_index(history, chosen) == pytest.approx(best, rel=1e-9)


@given(
    histories, st.lists(groups, min_size=2, unique=True).flatmap(permuted_waiting), st.randoms(use_true_random=False)
)
def test_order_of_the_groups_does_not_matter(history, waiting, rng: random.Random):
    shuffled = rng.sample(waiting, len(waiting))
    assert told(history).choose(waiting) == told(history).choose(iter(shuffled))


def test_ties_go_to_the_group_with_the_oldest_page():
    assert GroupBandit().choose([(1, 7), (2, 3), (3, 5)]) == 2
    bandit = told([(1, 4.0), (2, 4.0), (3, 4.0)])
    assert bandit.choose([(3, 9), (1, 8), (2, 30)]) == 1
    assert bandit.choose([(3, 7), (1, 8), (2, 30)]) == 3
    fresh = told([(0, 1.0)])
    assert fresh.choose([(8, 2), (9, 1)]) == 9, "groups never tried are equals, too"


def test_pulls_in_flight_count_as_pulls_without_reward():
    begun = [(1, 2.0), (2, 2.0)]
    flying, answered = told([*begun, (1, None), (1, None)]), told([*begun, (1, 0.0), (1, 0.0)])
    for waiting in ([(1, 0), (2, 1)], [(1, 0), (3, 1)], [(2, 0), (3, 1)]):
        assert flying.choose(waiting) == answered.choose(waiting)
    assert told(begun).choose([(1, 0), (2, 1)]) == 1
    assert flying.choose([(1, 0), (2, 1)]) == 2, "while responses of one group are outstanding, another is tried"


@given(histories, st.lists(st.tuples(groups, groups), max_size=8))
def test_cancelled_pull_leaves_no_trace(history, tries):
    plain, disturbed = told(history), told(history)
    for group, other in tries:
        disturbed.record_request(group)
        disturbed.record_request(other)
        disturbed.cancel_request(group)
        disturbed.cancel_request(other)
    alone = [[(one, 0), (other, 1)] for one in range(6) for other in range(6) if one != other]
    assert [disturbed.choose(waiting) for waiting in alone] == [plain.choose(waiting) for waiting in alone]
    assert disturbed._in_flight == plain._in_flight


@given(st.integers(0, 10_000), st.integers(0, 60))
def test_resumed_bandit_makes_identical_choices(seed, first):
    """Several pulls in flight; those that did not end are lost with their process and start again."""

    def steps(bandit, rng, flying, number):
        chosen, ended = [], []
        for _ in range(number):
            waiting = [(group, rng.randrange(1000)) for group in rng.sample(range(9), 4)]
            group = bandit.choose(waiting)
            chosen.append(group)
            bandit.record_request(group)
            flying.append(group)
            if len(flying) > 2:
                ended.append((flying.pop(rng.randrange(3)), rng.choice([0.0, 0.0, 1.0, 3.0, 800.0])))
                bandit.record_reward(*ended[-1])
        return chosen, ended

    flying: list[int] = []
    undisturbed = GroupBandit()
    ended = steps(undisturbed, random.Random(seed), flying, first)[1]
    again = told(ended)
    for group in flying:
        again.record_request(group)
    left = list(flying)
    assert (
        steps(undisturbed, random.Random(seed + 1), flying, 40)[0] == steps(again, random.Random(seed + 1), left, 40)[0]
    )


# Names


@pytest.mark.parametrize(
    ("place", "url", "name"),
    [
        ("ul/li", "http://a.test/", "ul/li http://a.test/"),
        ("ul/li.item-17", "http://a.test/2024/05/31.html", "ul/li.item-0 http://a.test/0/0/"),
        ("", "http://a.test/p/q.html?page=3&x=/y/", " http://a.test/p/"),
        ("", "http://a.test:8600/list?a/b", " http://a.test:0/"),
        ("a/b", "http://a.test/год/2024/x", "a/b http://a.test/год/0/"),
        ("a/b", "http://a.test/٢٠٢٤/x", "a/b http://a.test/0/"),  # digits of any script
    ],
)
def test_digits_are_folded_and_the_last_part_and_the_query_dropped(place, url, name):
    assert group_name(place, url) == name


@given(st.text(max_size=600), st.text(max_size=900))
def test_names_are_bounded_and_have_no_numbers_but_zero(place, url):
    name = group_name(place, url)
    assert len(name) <= NAME_CHARS
    assert not any(char.isdecimal() and char != "0" for char in name)
    assert "00" not in name

"""The value of a link is that of its text, and more if similar links led to relevant pages."""

from __future__ import annotations

import random

import pytest

from crawlers.algorithms.topic import link_learner
from crawlers.algorithms.topic.link_learner import NOISE, LinkLearner

SITE = "http://a.example"


def learner(rate=0.3):
    return LinkLearner(rate, lambda text: 0.4 if "unicode" in text else 0.0, str.split)


def link(url, anchor="here", context="here"):
    return {url: {(anchor, context)}}


def taught():
    """Pages of /encoding/ are relevant, those of /cooking/ are not."""
    learning = learner()
    for number in range(20):
        learning.read(f"{SITE}/encoding/{number}", 0.5, {})
        learning.read(f"{SITE}/cooking/{number}", 0.0, {})
    return learning


def test_value_of_a_link_before_the_first_page_is_that_of_its_text():
    texts = {**link(f"{SITE}/u", "it", "unicode it"), **link(f"{SITE}/k"), f"{SITE}/silent": set()}
    assert learner().read(f"{SITE}/", 0.0, texts) == {f"{SITE}/u": 0.4, f"{SITE}/k": 0.0, f"{SITE}/silent": 0.0}


def test_links_similar_to_those_of_relevant_pages_have_greater_values():
    found = {**link(f"{SITE}/encoding/new"), **link(f"{SITE}/cooking/new"), **link(f"{SITE}/garden/new")}
    worths = taught().read(f"{SITE}/", 0.0, found)
    assert worths[f"{SITE}/encoding/new"] > 0.1
    assert worths[f"{SITE}/cooking/new"] == worths[f"{SITE}/garden/new"] == 0.0


def test_learnt_value_is_added_to_that_of_the_text_up_to_1():
    learning = taught()
    target = f"{SITE}/encoding/new"
    beyond = learning.guess(["here"], target) - NOISE
    assert learning.read(f"{SITE}/garden/", 0.0, {}) == {}
    assert taught().read(f"{SITE}/encoding/", 0.5, link(target, "here", "unicode"))[target] > 0.4
    assert 0.0 < beyond < 1.0
    certain = LinkLearner(1.0, lambda text: 1.0, str.split)
    for _ in range(50):
        certain.read(f"{SITE}/encoding/", 1.0, {})
    assert certain.read(f"{SITE}/x", 0.0, link(target))[target] == 1.0


def test_anchors_are_learnt_with_the_pages_that_they_link_to():
    learning = learner()
    for number in range(20):
        learning.read(f"{SITE}/", 0.0, {**link(f"{SITE}/{number}", "charset"), **link(f"{SITE}/0{number}", "soup")})
        learning.read(f"{SITE}/{number}", 0.5, {})
        learning.read(f"{SITE}/0{number}", 0.0, {})
    assert learning.guess(["charset"], f"{SITE}/99") > NOISE
    assert learning.guess(["soup"], f"{SITE}/99") < 0.0


def test_similarities_are_learnt_as_shares_of_the_greatest():
    low, high = learner(), learner()
    for number in range(20):
        low.read(f"{SITE}/encoding/{number}", 0.01, {})
        high.read(f"{SITE}/encoding/{number}", 0.9, {})
    assert low.guess(["here"], f"{SITE}/encoding/") == high.guess(["here"], f"{SITE}/encoding/")


def test_values_do_not_depend_on_the_order_within_a_page():
    rng = random.Random(3)
    texts = [(f"{SITE}/{folder}/{n}", ["a", "b"][n % 2], "unicode"[: n % 8]) for folder in "xy" for n in range(9)]
    one, other = learner(), learner()
    for step in range(30):
        url, shuffled = f"{SITE}/x/{step % 9}", rng.sample(texts, len(texts))
        results = []
        for learning, order in ((one, texts), (other, shuffled)):
            links: dict[str, list[tuple[str, str]]] = {}
            for target, anchor, context in order:
                links.setdefault(target, []).append((anchor, context))
            results.append(learning.read(url, (step % 5) / 10, links))
        assert results[0] == results[1]


def test_memory_for_anchors_is_bounded(monkeypatch):
    monkeypatch.setattr(link_learner, "MAX_ANCHORS", 2)
    learning = learner()
    for number in range(9):
        learning.read(f"{SITE}/{number}", 0.1, link(f"{SITE}/to/{number}", "charset"))
    assert list(learning._anchors) == [f"{SITE}/to/0", f"{SITE}/to/1"]
    learning.read(f"{SITE}/to/0", 0.1, link(f"{SITE}/new", "charset"))
    assert list(learning._anchors) == [f"{SITE}/to/1", f"{SITE}/new"]


@pytest.mark.parametrize("anchor", ["", "charset"])
def test_page_without_anchor_is_learnt_by_its_url(anchor):
    learning = learner()
    for _ in range(20):
        learning.read(f"{SITE}/encoding/", 0.5, {})
    assert learning.guess(anchor.split(), f"{SITE}/encoding/x") > 0.0

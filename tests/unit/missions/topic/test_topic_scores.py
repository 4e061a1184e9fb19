"""The scores of a topic crawl satisfy `PageScores`, and their parts follow the formulas.

The relevance that is expected behind links, from the similarities of the pages behind others.
"""

import math
from fractions import Fraction
from math import log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.items import GONE, LinkPlace, Part
from crawlers.missions.topic.topic_scores import LinkRelevance, TopicScores
from crawlers.missions.topic.vectors import STRATEGIES, Weights
from crawlers.ranking.link_features import link_features
from crawlers.ranking.link_values import LinkValues

PAGES = range(1, 9)
pages = st.sampled_from(PAGES)
mixes = st.tuples(st.integers(0, 10), st.integers(0, 10), st.integers(1, 10)).map(
    lambda parts: Weights(*(part / sum(parts) for part in parts))
)
later = st.lists(
    st.one_of(
        st.tuples(st.just("add_waiting"), pages, st.integers(0, 20)),
        st.tuples(st.just("fetched"), pages, st.dictionaries(pages, st.floats(0, 1), max_size=6)),
        st.tuples(st.just("record_alias"), pages, pages),
        st.tuples(st.just("remove_page"), pages),
    ),
    max_size=60,
)
first = st.dictionaries(pages, st.integers(0, 20), min_size=5)  # few events say anything about pages never found
events = st.builds(lambda levels, rest: [("add_waiting", *item) for item in levels.items()] + rest, first, later)


def told(weights, history):
    scores = TopicScores(weights)
    for name, *arguments in history:
        getattr(scores, name)(*arguments)
    return scores


def known(scores):
    return [(scores.queue(page), scores.score(page), *scores.record(page)) for page in PAGES]


def scored(scores):
    return {page: scores.score(page) for page in PAGES if scores.queue(page) == 0}


def test_parts_of_a_score_are_anchor_distance_and_rank():
    scores = TopicScores(Weights(0.5, 0.3, 0.2))
    scores.add_waiting(1, 0)
    assert scores.parts(1) == (0.0, 1.0, 1.0)
    for page in (2, 3):
        scores.add_waiting(page, 1)
    assert set(scores.fetched(1, {2: 0.25, 3: 0.75})) == {2, 3}
    scores.fetched(2, {3: 0.5})
    assert scores.parts(3) == pytest.approx((0.75, 0.5, 1.0)), "the best link counts"
    assert scores.parts(1) == pytest.approx((0.0, 1.0, log1p(1) / log1p(4))), "TR of 3: 1 + 1 + 2"
    assert scores.score(3) == pytest.approx(0.5 * 0.75 + 0.3 * 0.5 + 0.2)


@given(mixes, events)
def test_many_scores_are_those_of_one_after_the_other(weights, history):
    scores = told(weights, history)
    assert scores.scores(np.array(PAGES)).tolist() == [scores.score(page) for page in PAGES]


@given(events)
def test_ranks_are_the_sums_of_the_paper(history):
    """In fractions: every page begins with 1, and gets the rank of each page read that links to it."""
    scores, ranks = TopicScores(STRATEGIES["links"]), {}
    for name, *arguments in history:
        if name == "add_waiting":
            ranks.setdefault(arguments[0], Fraction(1))
        elif name == "fetched" and scores.queue(arguments[0]) == 0:
            for target in arguments[1]:
                if target != arguments[0] and scores.queue(target) == 0:
                    ranks[target] += ranks[arguments[0]]
        elif name == "record_alias":
            continue
        getattr(scores, name)(*arguments)
    most = max(ranks.values(), default=Fraction(1))
    for page, rank in ranks.items():
        assert scores.parts(page)[2] == pytest.approx(log1p(rank) / log1p(most))


def test_ranks_of_a_complete_graph_neither_overflow_nor_hide_each_other():
    """TR doubles with every page read, and is 2^1099 in the end, more than a double holds."""
    scores = TopicScores(STRATEGIES["links"])
    for page in range(1, 1101):
        scores.add_waiting(page, 0)
    for page in range(1, 1100):
        scores.fetched(page, dict.fromkeys(range(page + 1, 1101), 0.0))
    assert scores.score(1100) == 1.0
    assert scores.score(551) == pytest.approx(0.5, abs=1e-3)


@given(mixes, events)
def test_scores_and_their_parts_are_shares(weights, history):
    scores = told(weights, history)
    for page in PAGES:
        assert all(0.0 <= part <= 1.0 for part in scores.parts(page))
        assert 0.0 <= scores.score(page) <= 1.0 + 1e-12


@given(mixes, events)
def test_scores_without_an_event_only_fall(weights, history):
    """Only scores of the page of an event, and of the pages that it returns, may rise."""
    scores = TopicScores(weights)
    for name, *arguments in history:
        before, records = scored(scores), {page: scores.record(page) for page in PAGES}
        changed = set(getattr(scores, name)(*arguments) or ()) | {arguments[0]}
        for page in PAGES:
            if page not in changed:
                assert scores.record(page) == records[page]
                assert page not in before or scores.score(page) <= before[page]


@given(
    mixes, st.tuples(*[st.floats(0, 1)] * 2), st.tuples(*[st.integers(0, 30)] * 2), st.tuples(*[st.floats(0, 90)] * 2)
)
def test_scores_rise_with_each_part(weights, anchors, levels, ranks):
    scores = TopicScores(weights)
    scores.recall_totals([100.0])
    scores.recall(1, 0, (min(anchors), max(levels), min(ranks)))
    scores.recall(2, 0, (max(anchors), min(levels), max(ranks)))
    assert scores.score(1) <= scores.score(2)
    assert all(worse <= better for worse, better in zip(scores.parts(1), scores.parts(2), strict=True))


@given(mixes, events, events)
def test_recalled_scores_continue_as_if_never_interrupted(weights, before, after):
    undisturbed, recalled = told(weights, before), TopicScores(weights)
    recalled.recall_totals(undisturbed.totals())
    for page in {event[1] for event in before if event[0] == "add_waiting"}:
        recalled.recall(page, undisturbed.queue(page), undisturbed.record(page))
    for name, *arguments in after:
        ours, theirs = (getattr(scores, name)(*arguments) for scores in (recalled, undisturbed))
        assert list(ours or ()) == list(theirs or ())
    assert recalled.totals() == undisturbed.totals()
    assert known(recalled) == known(undisturbed)


@given(mixes, events, pages, st.dictionaries(pages, st.floats(0, 1)))
def test_page_is_read_once_and_a_repeated_batch_adds_nothing(weights, history, page, links):
    scores = told(weights, history)
    scores.fetched(page, links)
    before = known(scores)
    assert scores.queue(page) == GONE
    assert not scores.fetched(page, links)
    assert known(scores) == before


def test_target_inherits_the_better_parts():
    scores = TopicScores(STRATEGIES["mixed"])
    scores.recall(1, 0, (0.9, 5, 0.1))
    scores.recall(2, 0, (0.2, 3, 0.7))
    assert list(scores.record_alias(1, 2)) == [2]
    assert scores.record(2) == (0.9, 3, 0.7)
    assert scores.record(1) == (0.9, 5, 0.1)
    scores.recall(3, 0, (0.1, 9, 0.0))
    assert not scores.record_alias(3, 2), "no part is better"
    assert not scores.record_alias(2, 77)
    assert scores.queue(77) == GONE, "an unknown target stays unknown"
    assert scores.queue(2) == GONE


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


def test_topic_scores_of_divided_pages_are_those_of_one_process():
    weights = Weights(0.5, 0.3, 0.2)
    one, here, there = TopicScores(weights), TopicScores(weights), TopicScores(weights)
    for scores in (one, here):
        scores.add_waiting(1, 0)
        scores.add_waiting(2, 1)
    for scores in (one, there):
        scores.add_waiting(3, 1)
        scores.add_waiting(4, 2)
    one.fetched(1, {2: 0.25, 3: 0.75})
    carried = here.carries(1, {2: 0.25}, 1)
    here.fetched(1, {2: 0.25}, 1)
    assert list(there.received(3, carried, 0.75)) == [3]
    one.fetched(3, {2: 0.5, 4: 0.5})
    carried = there.carries(3, {4: 0.5}, 1)
    there.fetched(3, {4: 0.5}, 1)
    here.received(2, carried, 0.5)
    for scores, other in ((here, there), (there, here)):
        scores.apply_totals([other.totals()], 0.0)
    assert here.parts(2) == one.parts(2)
    assert there.parts(4) == one.parts(4)
    assert there.received(3, 1.0, 1.0) == (), "it was read"


def test_pages_of_a_topic_come_and_leave():
    first, second = (TopicScores(Weights(0.5, 0.3, 0.2)) for _ in range(2))
    first.add_waiting(1, 0)
    first.add_waiting(2, 3)
    first.received(2, 2.0, 0.5)
    second.begin_part()
    second.add_page(2, first.queue(2), first.record(2), first.base())
    second.apply_totals([first.totals()], 0.0)
    assert second.parts(2) == first.parts(2)
    first.remove_pages([2])
    assert first.queue(2) == GONE
    assert first.hand_out({1: Part(first.totals(), True)}) == {}

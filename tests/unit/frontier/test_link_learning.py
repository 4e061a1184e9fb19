"""The features of links are kept in one place at a time, and what was learnt is a fold over the pulls."""

import numpy as np
import pytest

from crawlers.algorithms.ranking.link_features import features_of, link_features, text_of
from crawlers.algorithms.ranking.link_values import LinkValues
from crawlers.algorithms.urls.resolution import resolve
from crawlers.frontier.link_learning import LinkLearning
from crawlers.frontier.values import Origin
from crawlers.items import LinkPlace
from crawlers.storage.pulls import Pull

SITE = "http://a.test"
PLACE = LinkPlace("ul/li", "nav/ul/li", "All the news")


def target(path):
    return resolve(SITE, path)


NEWS = target("/news/1")
FOUND = Origin(1, 0, 7, places={NEWS.key: PLACE})


@pytest.fixture
def values():
    return LinkValues()


@pytest.fixture
def learning(values):
    return LinkLearning(values, None)


def row(place=PLACE, found_on=7):
    return [*link_features(SITE, NEWS.url, 1, found_on, place)]


def test_page_that_was_found_by_a_link_has_its_features_and_a_row(learning):
    [stored] = learning.add_link(3, SITE, NEWS, FOUND)
    assert (stored.page_id, features_of(stored.features).tolist()) == (3, row())
    assert learning.pop_features(3).tolist() == row()
    assert learning.pop_features(3) is None, "its queue has them now"


def test_home_page_and_what_it_redirects_to_have_none(learning, values):
    assert learning.add_link(1, SITE, target("/"), Origin(0)) == []
    assert learning.add_link(2, SITE, target("/en/"), Origin(0, 1, 1, follows=1)) == []
    before = values.parts(row())
    learning.learn_reward(1, 100.0)
    learning.learn_reward(2, 100.0)
    assert values.parts(row()) == before


def test_target_of_a_redirect_has_the_features_of_the_page_that_redirects(learning):
    learning.add_link(3, SITE, NEWS, FOUND)
    [stored] = learning.add_link(4, SITE, target("/moved"), Origin(1, 1, 3, follows=3))
    assert features_of(stored.features).tolist() == row()
    assert learning.pop_features(3).tolist() == learning.pop_features(4).tolist()


def test_reward_of_a_leased_page_teaches_and_that_of_a_forgotten_one_does_not(learning, values):
    learning.add_link(3, SITE, NEWS, FOUND)
    learning.learn_reward(3, 9.0)
    learnt = values.parts(row())
    assert sum(learnt) > 0
    learning.forget([3, 4])
    learning.learn_reward(3, 0.0)
    assert values.parts(row()) == learnt


def test_revived_page_has_the_features_of_the_link_by_which_it_waits(learning):
    learning.add_link(3, SITE, NEWS, FOUND._replace(level=9))
    learning.forget([3])  # it was too deep
    [stored] = learning.add_link(3, SITE, NEWS, FOUND._replace(found_on=8))
    assert features_of(stored.features).tolist() == row(found_on=8)
    assert learning.pop_features(3).tolist() == row(found_on=8)


def test_pulls_teach_what_the_pages_taught_when_they_ended(learning, values):
    rewards = [3.0, 0.0, 40.0, 1.0]
    learning.add_link(3, SITE, NEWS, FOUND)
    for reward in rewards:
        learning.learn_reward(3, reward)
    text = text_of(np.array(row(), np.uint32))
    pulls = [Pull(1, 50.0), *(Pull(1, reward, text) for reward in rewards), Pull(1, 7.0)]
    resumed = LinkValues()
    assert [*LinkLearning(resumed, None).learn(pulls)] == pulls, "rules learn from all of them"
    assert resumed.parts(row()) == values.parts(row())
    backwards = LinkValues()
    list(LinkLearning(backwards, None).learn(pulls[::-1]))
    assert backwards.parts(row()) != values.parts(row()), "their order counts"

"""The features of links are kept in one place at a time, and what was learnt is a fold over the pulls."""

import numpy as np
import pytest

from crawlers.frontier.value_queue import LinkLearning
from crawlers.frontier.values import Origin
from crawlers.items import LinkPlace
from crawlers.ranking.link_features import link_features
from crawlers.ranking.link_values import LinkValues, text_of
from crawlers.store.writing.pulls import Pull
from crawlers.urls.resolution import resolve

SITE = "http://a.test"
PLACE = LinkPlace("ul/li", "nav/ul/li", "All the news")


NEWS = resolve(SITE, "/news/1")
FOUND = Origin(1, 0, 7, places={NEWS.key: PLACE})
ROW = [*link_features(SITE, NEWS.url, 1, 7, PLACE)]


@pytest.fixture
def values():
    return LinkValues()


@pytest.fixture
def learning(values):
    return LinkLearning(values, None)


def test_reward_of_a_leased_page_teaches_and_that_of_a_forgotten_one_does_not(learning, values):
    learning.add_link(3, SITE, NEWS, FOUND)
    learning.learn_reward(3, 9.0)
    learnt = values.parts(ROW)
    assert sum(learnt) > 0
    learning.forget([3, 4])
    learning.learn_reward(3, 0.0)
    assert values.parts(ROW) == learnt


def test_pulls_teach_what_the_pages_taught_when_they_ended(learning, values):
    rewards = [3.0, 0.0, 40.0, 1.0]
    learning.add_link(3, SITE, NEWS, FOUND)
    for reward in rewards:
        learning.learn_reward(3, reward)
    text = text_of(np.array(ROW, np.uint32))
    pulls = [Pull(1, 50.0), *(Pull(1, reward, text) for reward in rewards), Pull(1, 7.0)]
    resumed = LinkValues()
    assert [*LinkLearning(resumed, None).learn(pulls)] == pulls, "rules learn from all of them"
    assert resumed.parts(ROW) == values.parts(ROW)
    backwards = LinkValues()
    list(LinkLearning(backwards, None).learn(pulls[::-1]))
    assert backwards.parts(ROW) != values.parts(ROW), "their order counts"

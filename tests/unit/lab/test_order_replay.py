"""Replays of orders on sites whose pages and links are known."""

from dataclasses import replace

import numpy as np
import pytest

from crawlers.bandits.turns import Sequential
from crawlers.items import LinkPlace
from crawlers.lab.order_replay import ByValue, LevelByLevel, ReplayEntry, ReplayPage, ReplaySite, replay
from crawlers.ranking.link_features import link_features
from crawlers.ranking.link_values import LinkValues

SITE = "http://a.test"


def features(word):
    return np.array(link_features(SITE, f"{SITE}/{word}", 1, 9, LinkPlace("ul/li", "ul/li", word)), np.uint32)


def page(*links, keys=(), downloads=1, moved_to=None, word="page"):
    return ReplayPage(downloads, links, moved_to, (), frozenset(keys), features(word))


def home(*links, **more):
    return replace(page(*links, **more), features=None)


def site(**pages):
    return ReplaySite(SITE, 0, {int(name[1:]): one for name, one in pages.items()})


TREE = site(
    p0=home(1, 2, 3, keys={1}),
    p1=page(4, keys={1}, word="old"),
    p2=page(5, 1, keys={2, 3}, word="news"),
    p3=page(keys={3}, word="old"),
    p4=page(keys={1, 2}, word="old"),
    p5=page(keys={4, 5, 6}, word="news"),
)
ORDERS = [LevelByLevel, lambda: ByValue(LinkValues())]


def read(known, order, budget=500, **options):
    course = replay([known], Sequential(), [order], budget, **options)
    return course.pages, course.found


def test_breadth_first_replay_reads_level_by_level_and_counts_what_is_new():
    assert read(TREE, LevelByLevel()) == ([0, 1, 2, 3, 4, 5], [0, 1, 1, 3, 3, 3, 6])
    assert read(TREE, LevelByLevel(), only_new=False)[1] == [0, 1, 2, 4, 5, 7, 10]


@pytest.mark.parametrize("make", ORDERS)
def test_what_the_crawl_never_read_is_left_out(make):
    known = site(p0=home(1, 2, 7), p1=page(3, downloads=0), p2=page(keys={1}), p3=page(keys={2}))
    assert read(known, make()) == ([0, 2], [0, 0, 1])
    assert read(site(p0=page(downloads=0)), make()) == ([], [0])
    assert read(ReplaySite(SITE, 0, {}), make()) == ([], [0])


@pytest.mark.parametrize("make", ORDERS)
def test_pages_are_read_up_to_the_deepest_level_of_their_site(make):
    chain = {n: page(*([n + 1] if n < 9 else []), keys={n}) for n in range(2, 10)}
    known = ReplaySite(SITE, 0, {0: home(1, 9), 1: page(2), **chain}, 2)
    pages, _ = read(known, make())
    assert sorted(pages) == [0, 1, 2, 9]
    assert len(read(replace(known, max_level=None), make())[0]) == 10


@pytest.mark.parametrize("make", ORDERS)
def test_targets_of_redirects_and_repeated_downloads(make):
    known = site(
        p0=home(moved_to=1),
        p1=home(2, 3),
        p2=page(moved_to=4),
        p3=page(keys={1}, downloads=3),
        p4=page(3, 0, moved_to=9, keys={2}),
    )
    pages, found = read(known, make())
    assert pages[:2] == [0, 1]
    assert sorted(pages) == [0, 1, 2, 3, 3, 3, 4]
    assert found[-1] == 2


def test_home_page_and_the_target_of_its_redirect_come_first_and_teach_nothing():
    values = LinkValues()
    order = ByValue(values)
    order.push(ReplayEntry(2, 1, 1, 0, features("news")))
    order.push(ReplayEntry(0, 0, 0, 0, None))
    first = order.pop()
    assert (first.page, len(order)) == (0, 1)
    order.record_reward(first, 1000)
    assert values.parts([int(one) for one in features("news")]) == (0.0,) * len(features("news"))

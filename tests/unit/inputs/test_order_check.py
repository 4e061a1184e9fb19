"""Every mission runs with every order whose needs it meets, and the refusal of another one says what is missing."""

import asyncio
from itertools import pairwise

import pytest

from crawlers.bandits.index_rule import Best
from crawlers.bandits.turns import RoundRobin
from crawlers.errors import ConfigError
from crawlers.inputs.setting_readers import check_order
from crawlers.items import State
from crawlers.mission import missions
from crawlers.ranking.page_orders import REWARDS as NEW_LINKS
from crawlers.urls.scope import Scope
from tests.support.frontier_state import pending_of
from tests.support.opened_crawl import SITE
from tests.support.orders import GIVEN, ORDER_NAMES

SCOPE = Scope("sites", [SITE])
# By mission: the fields of its specification, and the orders that it can't meet, each with what is missing.
ARTICLES, REWARDS = "whether they look like articles", "rewards of pages"
MISSIONS = {
    "sitegraph": ({}, {"learnt": REWARDS, "topic": "a topic"}),
    "extlinks": ({"gives": {NEW_LINKS: True}}, {"topic": "a topic"}),
    "broad": ({"scope": SCOPE, "revisits": True}, {"learnt": REWARDS, "topic": "a topic"}),
    "topic": ({"scope": SCOPE, "gives": {"a topic": GIVEN.get("a topic")}}, {"learnt": REWARDS}),
}
for _, missing in MISSIONS.values():
    missing |= {"fit": ARTICLES}
MATRIX = [(mission, order) for mission in MISSIONS if mission in missions() for order in ORDER_NAMES]
# A web in which a depth-first order finds pages by long paths: /1 leads to /2, …, and / to all of them.
PATHS = [f"/{number}" for number in range(1, 8)]
LINKS = {"/": [*PATHS[:3], "/6"], **{path: [after, "/", "/3"] for path, after in pairwise(PATHS)}}
LEVELS = {"/": 0, "/1": 1, "/2": 1, "/3": 1, "/4": 2, "/5": 3, "/6": 1, "/7": 2}


def fetched(crawl, most):
    """Read up to *most* pages, until nothing waits; return their paths."""
    paths = []
    while len(paths) < most:
        lease = crawl.crawl.leasing.next(crawl.now)
        if lease is None:
            break
        paths.append(lease.url.removeprefix(SITE))
        crawl.now += 1.0
        crawl.end(lease, *LINKS.get(paths[-1], ()))
    return paths


@pytest.mark.parametrize(("mission", "order"), MATRIX)
def test_order_works_with_every_mission_that_has_what_it_needs(opened, sqlite_url, mission, order):
    fields, missing = MISSIONS[mission]
    begin = {"mission": fields, "ORDER": order, "RULE": "roundrobin"}
    if order in missing:
        with pytest.raises(ConfigError) as refused:
            opened(**begin)
        assert f"ORDER={order} needs " in str(refused.value)
        assert missing[order] in str(refused.value)
        return
    crawl = opened(**begin)
    paths = fetched(crawl, 20)
    if mission == "broad" and "opic" in order:
        assert len(paths) == 20, "pages are fetched again"
        assert set(paths) == set(LEVELS)
        return
    assert sorted(paths) == sorted(LEVELS), "each once"
    assert pending_of(crawl.crawl.frontier) == 0
    assert {state for state, _ in crawl.pages().values()} == {State.DONE}


@pytest.mark.parametrize("mission", ["sitegraph", "extlinks"])
@pytest.mark.parametrize("order", [order for order in ORDER_NAMES if order not in MISSIONS["sitegraph"][1]])
def test_levels_of_a_site_are_clicks_from_its_home_page_under_every_order(opened, mission, order):
    crawl = opened(mission=MISSIONS[mission][0], ORDER=order, RULE="roundrobin")
    fetched(crawl, 20)
    if crawl.crawl.session.leaves_levels_too_deep:
        asyncio.run(crawl.crawl.leasing.correct_levels())
    assert crawl.levels() == LEVELS


def test_values_that_change_with_every_page_are_not_compared_by_best():
    check_order("learnt", "extlinks", {NEW_LINKS}, RoundRobin())
    with pytest.raises(ConfigError, match="use RULE=auto"):
        check_order("learnt", "extlinks", {NEW_LINKS}, Best())

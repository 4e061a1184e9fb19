"""Several workers with a budget, on a simulated clock: no slower than one, and nearly as good."""

from __future__ import annotations

import pytest

from bench.harvest.politeness import GeneratedWeb, limited
from bench.simulators.timed_crawl import Harvest, harvest

SHARE = 0.9  # of the links of one worker. The scale of an index is that of the sites of a worker, so theirs differ.
JOINING_S = 1.5  # after the others have begun, until they hold sites: one round or two
YIELDS = [[5] * 80, [0] * 80, [1] * 80, [0, 9] * 40, [2] * 80, [0] * 80]


def harvested(workers: int, delay_s: float = 0.0, **settings: object) -> Harvest:
    web = limited(GeneratedWeb(YIELDS, 80), delay_s, parallel=2)
    return harvest(web, {"PAGE_BUDGET": 240, "ORDER": "bfs", **settings}, workers)


@pytest.mark.parametrize("rule", ["auto", "roundrobin"])
def test_last_pulls_of_a_budget_take_several_workers_no_longer_than_one(rule: str) -> None:
    alone, shared = harvested(1, RULE=rule), harvested(3, RULE=rule)
    assert (len(alone.urls), len(shared.urls)) == (240, 240), "the budget is exact"
    assert shared.seconds < alone.seconds + JOINING_S
    assert shared.urls[-1] >= SHARE * alone.urls[-1]


def test_politeness_leaves_work_to_all_workers_unless_the_crawl_waits_for_the_best_sites() -> None:
    polite = {"delay_s": 1.0, "RULE": "gittins"}
    patient, hurried = harvested(3, **polite), harvested(3, **polite, RULE_WAIT_SECONDS=0)
    assert min(hurried.workers) > 30, "any site that is due may be chosen"
    assert hurried.seconds < patient.seconds
    assert patient.urls[-1] > hurried.urls[-1]

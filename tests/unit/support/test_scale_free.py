"""Copied webs have the size, the sinks and the few great pages that they promise."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.support.scale_free import copy_model, rewired

WEB = copy_model(5000, random.Random(1))


def test_pages_have_ten_links_and_some_have_none() -> None:
    assert list(WEB) == list(range(1, 5001))
    assert sum(map(len, WEB.values())) / 5000 == pytest.approx(10, abs=0.5)
    assert sum(not targets for targets in WEB.values()) / 5000 == pytest.approx(0.08, abs=0.015)


def test_links_are_distinct_and_lead_to_other_pages() -> None:
    for web in (WEB, rewired(WEB, 0.5, random.Random(2)), copy_model(3, random.Random(3))):
        for page, targets in web.items():
            assert len({*targets}) == len(targets)
            assert page not in targets
            assert all(1 <= target <= len(web) for target in targets)


def test_few_pages_have_many_of_the_links() -> None:
    inward = sorted(Counter(target for targets in WEB.values() for target in targets).values(), reverse=True)
    assert sum(inward[:50]) > 0.15 * sum(inward), "one page in a hundred; of links strewn at random it would have 2 %"
    assert inward[0] > 20 * sum(inward) / 5000


def test_the_same_chance_makes_the_same_web() -> None:
    assert copy_model(200, random.Random(4)) == copy_model(200, random.Random(4))
    assert copy_model(200, random.Random(4)) != copy_model(200, random.Random(5))


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_so_many_links_are_rewired_as_are_asked_for(share: float) -> None:
    changed = rewired(WEB, share, random.Random(6))
    kept = sum(len({*changed[page]} & {*targets}) for page, targets in WEB.items())
    assert [len(targets) for targets in changed.values()] == [len(targets) for targets in WEB.values()]
    assert kept / sum(map(len, WEB.values())) == pytest.approx(1 - share, abs=0.01)

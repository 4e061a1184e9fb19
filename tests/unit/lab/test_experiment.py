"""The synthetic webs have the sizes and means that their formulas promise; rows compare rules on them."""

import dataclasses
import math

import numpy as np
import pytest

from crawlers.bandits.site_rules import RuleOptions
from crawlers.lab.experiment import (
    BASELINE,
    OMNISCIENT,
    ORACLE,
    PROFILES,
    Measured,
    Shape,
    checkpoints,
    compare,
    measure,
    site,
    synthetic_web,
    tasks,
)

FEW = RuleOptions(page_budget=60)


def web(number, **found):
    return Measured("any", number, {rule: [0, links] for rule, links in found.items()})


def row(rows, rule):
    return next(row for row in rows if row.rule == rule)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_web_is_measured_with_every_rule_and_the_baseline(profile):
    task = tasks(profile, 3, ["auto", "ucb1"], FEW, seed=1)[2]
    measured = measure(task)
    assert list(measured.found) == ["auto", "ucb1", BASELINE, ORACLE, OMNISCIENT]
    assert {len(found) for found in measured.found.values()} == {len(checkpoints(60))}
    assert all(
        found <= measured.found[ORACLE] for found in measured.found.values() if found != measured.found[OMNISCIENT]
    )
    assert measured == measure(task)
    assert measured != measure(tasks(profile, 3, ["auto", "ucb1"], FEW, seed=2)[2])


def test_row_compares_with_the_baseline_and_the_oracle():
    rows = compare([web(0, auto=6, trivial=4, oracle=8), web(1, auto=10, trivial=4, oracle=10)])
    assert [row.rule for row in rows] == ["oracle", "auto", "trivial"]
    auto = row(rows, "auto")
    assert (auto.mean, auto.deviation, auto.of_baseline, auto.of_oracle) == (8.0, 2.0, 2.0, 0.875)
    assert 1.5 <= auto.low < auto.high <= 2.5


PLAIN = Shape(0.5, 1.0, 0.0, 50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # Heaps' law and nothing else


def rng(*seed):
    return np.random.default_rng(seed)


def test_links_grow_as_heaps_law_says():
    found = np.cumsum(np.mean([site(400, 200.0, PLAIN, rng(1, number)) for number in range(400)], axis=0))
    for pages in (25, 100, 400):
        assert found[pages - 1] == pytest.approx(200 * math.sqrt(pages / 400), rel=0.03)


def test_empty_head_delays_links_without_losing_any():
    heads = []
    late = dataclasses.replace(PLAIN, empty_head_p=1.0, empty_head_pages=100.0)
    for number in range(200):
        shifted = site(400, 2000.0, late, rng(3, number))
        heads.append(next(page for page, links in enumerate(shifted) if links))
        assert sum(shifted[heads[-1] :][:100]) == pytest.approx(1000, rel=0.2)
    assert np.mean(heads) == pytest.approx(50, abs=5)


def test_webs_are_those_of_the_published_measurements():
    webs = [synthetic_web(profile, rng(5)) for profile in ("sample", "institutes")]
    assert [[sum(pages) for pages in web] for web in webs] == [
        [166, 490, 152, 1126, 1052, 11, 90, 32, 3131, 153],
        [3, 22, 29, 2891, 26, 551, 116, 5, 2269, 490],
    ]

"""Results do not depend on the order of webs, and rows compare each rule with the baseline and the oracle."""

import pytest

from crawlers.bandits.site_rules import RuleOptions
from crawlers.lab.simulation.experiment import (
    BASELINE,
    OMNISCIENT,
    ORACLE,
    SUITES,
    Measured,
    checkpoints,
    compare,
    measure,
    tasks,
)

FEW = RuleOptions(page_budget=60)


def web(number, **found):
    return Measured("any", number, {rule: [0, links] for rule, links in found.items()})


def row(rows, rule):
    return next(row for row in rows if row.rule == rule)


@pytest.mark.parametrize("suite", SUITES)
def test_every_web_is_measured_with_every_rule_and_the_baseline(suite):
    task = tasks(suite, 3, ["auto", "ucb1"], FEW, seed=1)[2]
    measured = measure(task)
    assert list(measured.found) == ["auto", "ucb1", BASELINE, ORACLE, OMNISCIENT]
    assert {len(found) for found in measured.found.values()} == {len(checkpoints(60))}
    assert all(
        found <= measured.found[ORACLE] for found in measured.found.values() if found != measured.found[OMNISCIENT]
    )
    assert measured == measure(task)
    assert measured != measure(tasks(suite, 3, ["auto", "ucb1"], FEW, seed=2)[2])


def test_row_compares_with_the_baseline_and_the_oracle():
    rows = compare([web(0, auto=6, trivial=4, oracle=8), web(1, auto=10, trivial=4, oracle=10)])
    assert [row.rule for row in rows] == ["oracle", "auto", "trivial"]
    auto = row(rows, "auto")
    assert (auto.mean, auto.deviation, auto.of_baseline, auto.of_oracle) == (8.0, 2.0, 2.0, 0.875)
    assert 1.5 <= auto.low < auto.high <= 2.5


def test_groups_of_webs_have_equal_weights():
    webs = [web(0, auto=300, trivial=100, oracle=300), web(1, auto=1, trivial=1, oracle=1)]
    assert row(compare(webs), "auto").of_baseline == pytest.approx(301 / 101)
    assert row(compare(webs, groups=2), "auto").of_baseline == 2.0
    assert row(compare(webs[:1], groups=2), "auto").of_baseline == 3.0

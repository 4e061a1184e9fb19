"""The window of adaptive OPIC; test_opic tests what it shares with OPIC."""

from __future__ import annotations

import random

import pytest

from crawlers.algorithms.ranking.adaptive_opic import AdaptiveOPIC
from crawlers.algorithms.ranking.opic import OPIC
from tests.support.scale_free import copy_model, rewired
from tests.support.scored_webs import Walk, estimate, exact, l1, linked


def history_after(gap: int, window: float) -> tuple[float, float, float]:
    """Return the history of a page before and after a fetch *gap* ticks later, and its payment then."""
    scores = AdaptiveOPIC(window=window)
    for page in (1, 2):
        scores.add_waiting(page, 0)
    scores.fetched(1, {2: 1.0})
    for _ in range(gap - 1):
        scores.fetched(2, {1: 1.0})
    before, cash = scores.history(1), scores.cash(1)
    scores.fetched(1, {2: 1.0})
    return before, scores.history(1), cash


def test_cash_within_the_window_is_added_to_the_remaining_history() -> None:
    before, after, cash = history_after(gap=3, window=6.0)
    assert after == pytest.approx(before * (12 - 3) / 12 + cash)


def test_only_the_part_within_the_window_counts_after_a_longer_time() -> None:
    _, after, cash = history_after(gap=8, window=1.0)
    assert after == pytest.approx(cash * 2 / 8)


def test_both_cases_agree_at_the_length_of_the_window() -> None:
    _, after, cash = history_after(gap=6, window=3.0)
    assert after == cash
    before, shorter, _ = history_after(gap=6, window=3.0 + 1e-9)
    assert shorter == pytest.approx(cash, abs=before * 1e-8)


def test_window_forgets_removed_links() -> None:
    rng = random.Random(1)
    web = copy_model(1000, rng)
    changed = rewired(web, 0.2, rng)
    truth = exact(changed)
    found = {}
    for name, scores in {"window": AdaptiveOPIC(window=2.0), "all": OPIC()}.items():
        walk = Walk(scores, web)
        walk.fetch(10_000)
        walk.links = linked(changed)
        walk.fetch(5_000)
        found[name] = l1(estimate(scores.weight, 1000), truth)
    assert found["window"] < 0.06 < found["all"]

"""The rate of the last minute."""

import pytest

from crawlers.algorithms.workers.recent_rate import RecentRate


def test_steady_rate_is_exact_whatever_happened_before():
    rate = RecentRate(60.0)
    assert rate.at(0.0, 0) == 0.0
    for second in range(1, 200):
        found = rate.at(float(second), 100 * second if second < 100 else 9900 + 2 * (second - 99))
    assert found == pytest.approx(2.0)


def test_rate_falls_to_zero_when_nothing_happens():
    rate = RecentRate(60.0)
    rate.at(0.0, 0)
    rate.at(1.0, 600)
    assert [rate.at(float(second), 600) for second in range(2, 70)][-1] == 0.0


def test_memory_is_bounded_by_the_window():
    rate = RecentRate(10.0)
    for second in range(1000):
        rate.at(float(second), second)
    assert len(rate._readings) <= 12

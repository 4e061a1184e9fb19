"""The rate of the last minute."""

from crawlers.crawl.worker import RecentRate


def test_memory_is_bounded_by_the_window():
    rate = RecentRate(10.0)
    for second in range(1000):
        rate.at(float(second), second)
    assert len(rate._readings) <= 12

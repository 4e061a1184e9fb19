"""Lists that showed new articles are distinguished by the form of their URLs from those that did not."""

from crawlers.missions.news.plan import list_yields
from crawlers.missions.news.plan.list_yields import GOOD, ListYields

SITE = "paper.example"


def test_pages_of_a_form_are_expected_to_show_as_many_articles_as_the_ones_that_were_read():
    yields = ListYields()
    assert yields.expected(SITE, "/tag/storm/") < GOOD
    assert yields.read(SITE, "/tag/fire/", 8), "the form became good"
    assert not yields.read(SITE, "/comments/17/", 0)
    assert not yields.read(SITE, "/comments/18/", 0)
    assert yields.expected(SITE, "/tag/storm/") >= GOOD
    assert yields.expected(SITE, "/comments/19/") < 1.0
    assert yields.expected(SITE, "/archive/19/") < GOOD


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(list_yields, "MAX_FORMS", 10)
    yields = ListYields()
    for number in range(100):
        yields.read(SITE, f"/{'x' * (number % 20 + 1)}/17/", 3)
    assert len(yields._of_domain[SITE]) == 10
    assert yields.expected(SITE, "/" + "a/" * 10_000) >= 0.0

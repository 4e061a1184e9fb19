"""What the bench says of a crawl of the press, for crawls whose worth is known."""

import pytest

from bench.news.press_truth import Document, compare
from examples.press.server import LoggedRequest, Options, Served

BEGAN, DAY_S, HOUR_S = 1_780_000_000.0, 86_400, 3600
# One real second is an hour of the press; the crawl takes a day of it.
OPTIONS = Options(seed=1, sites=4, began=BEGAN, real_began=1000.0, speed=HOUR_S, per_day=5, archive_days=20)
HTML = "text/html; charset=utf-8"


@pytest.fixture(scope="module")
def served():
    origins = [f"http://press-{number}.test" for number in range(4)]
    return Served(OPTIONS.press(origins), lambda: BEGAN + DAY_S)


def asked(urls):
    """One request after the other, the last of them at the end of the day."""
    count = len(urls)
    return [LoggedRequest(1000 + 24 * number / count, 200, HTML, url) for number, url in enumerate(urls, 1)]


def stored(article, url="", late_h=1.0):
    at = 1000 + (article.published_at - BEGAN) / HOUR_S + late_h
    return Document(url or article.url, article.title, article.text, article.day, at)


def test_perfect_crawl_is_found_to_be_perfect(served):
    truth = [one for host in served.press.hosts for one in served.press.articles(host, BEGAN + DAY_S)]
    own = [article for article in truth if not article.copy_of]
    worth = compare(served, OPTIONS, asked([one.url for one in own]), [stored(one) for one in own], 10)
    assert worth.useful == worth.recall == worth.right_titles == worth.right_days == worth.right_texts == 1
    assert (worth.doubled, worth.lost, worth.no_articles) == (0, 0, 0)
    assert worth.in_time == worth.announced > 0
    assert worth.delays_s == pytest.approx([HOUR_S] * worth.announced, abs=1)
    assert [point.useful for point in worth.points] == [1.0] * (len(own) // 10)


def test_copies_losses_and_pages_that_are_no_articles_are_counted(served):
    host, plan = served.press.hosts[1], served.press.plans[1]
    articles = served.press.articles(host, BEGAN + DAY_S)
    copy = next(one for one in articles if one.copy_of)
    original = next(one for one in articles if one.url == copy.copy_of)
    others = [one for one in articles if one not in (original, copy)][:3]
    printed = plan.schema.layout.address("print", id=0, article=others[0].url.removeprefix(plan.origin))
    urls = [
        original.url, copy.url, plan.origin + "/", others[0].url, plan.origin + printed, others[1].url, others[2].url,
    ]  # fmt: skip
    found = [
        stored(original), stored(copy), stored(others[0]), stored(others[0], plan.origin + printed),
        stored(others[1], plan.origin + "/"), stored(others[2]),
    ]  # fmt: skip
    worth = compare(served, OPTIONS, asked(urls), found, 7)
    assert (worth.doubled, worth.lost, worth.no_articles) == (2, 1, 1)
    assert worth.documents == 3
    assert worth.points[0].useful == pytest.approx(3 / 7)

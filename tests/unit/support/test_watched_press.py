"""A press whose clock advances with its requests: its validators and its records."""

from __future__ import annotations

import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest

from tests.support.watched_press import BEGAN, DAY_S, WatchedPress

HEADERS = (("ETag", "If-None-Match"), ("Last-Modified", "If-Modified-Since"))


def get(url: str, **headers: str) -> tuple[bytes, dict[str, str]]:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as response:
        return response.read(), dict(response.headers)


def test_unchanged_pages_are_not_sent_again():
    with WatchedPress(1, 2, requests=10_000) as press:
        for plan, (named, condition) in zip(press.press.plans, HEADERS, strict=True):
            url = plan.origin + "/robots.txt"
            body, headers = get(url)
            assert body == press.press.page(urlsplit(url).netloc, "/robots.txt", press.now).body
            with pytest.raises(urllib.error.HTTPError, match="304"):
                get(url, **{condition: headers[named]})
            assert get(url, **{condition: "another"})[0] == body
        assert (press.requests, press.unchanged) == (6, 2)


def test_time_advances_with_requests_until_the_end():
    with WatchedPress(1, 2, requests=4, days=1) as press:
        seen = []
        press.on_request = lambda: seen.append(press.now - BEGAN)
        for _ in range(5):
            assert press.is_over == (len(seen) >= 4)
            get(press.press.plans[0].origin + "/")
        assert seen == [DAY_S / 4, DAY_S / 2, DAY_S * 3 / 4, DAY_S, DAY_S]


def test_announced_and_read_pages_are_recorded():
    with WatchedPress(1, 4, requests=10_000) as press:
        plan = next(plan for plan in press.press.plans if plan.feed)
        feed, host = plan.origin + plan.feed.path, urlsplit(plan.origin).netloc
        get(feed)
        (announcement,) = press.announcements
        assert announcement.feed == feed
        assert announcement.articles == {one.url for one in press.press.articles(host, press.now)[-20:]}
        assert press.read_at == {feed: press.now}

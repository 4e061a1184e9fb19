"""JSON Feed, complete and truncated."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.sites.feed_items import FeedContent
from crawlers.sites.feed_reader import read_feed

FEED = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "My feed",
    "language": "en-US",
    "home_page_url": "https://example.com/",
    "next_url": "https://example.com/feed.json?page=2",
    "items": [
        {"id": "1", "url": "/old", "title": "Old", "date_published": "2026-11-20T12:00:00Z"},
        {"id": "2", "url": "/new#top", "title": "New [1]", "date_modified": "2026-11-21T13:00:00+01:00"},
        {"id": "3", "external_url": "https://elsewhere.example/", "content_text": "a ] and a }"},
        {"id": "https://example.com/4"},
        {"id": 5},
        "no item",
        {"id": "6", "url": None, "title": 7, "date_published": 8},
    ],
}


def read(text):
    return read_feed(text.encode(), "https://example.com/feed.json", "application/feed+json", 1795305600.0)


def test_truncated_feed_gives_the_items_before_the_cut():
    text = json.dumps(FEED)
    content = read(text[: text.index("external_url") + 20])
    assert content.kind == "json"
    assert content.problem.startswith("feed_invalid ")
    assert [(item.url, item.published_at, item.title) for item in content.items] == [
        ("https://example.com/new", 1795262400.0, "New [1]"),
        ("https://example.com/old", 1795176000.0, "Old"),
    ]


def test_line_breaks_within_texts_and_a_byte_order_mark_are_accepted():
    text = json.dumps(FEED).replace("My feed", "My\nfeed")
    assert read("\ufeff" + text).title == "My feed"


def test_characters_that_databases_reject_are_removed():
    (item,) = read(r'{"items": [{"url": "/\ud800", "title": "a\u0000b\ud800c&#0;"}]}').items
    assert (item.url, item.title) == ("https://example.com/%EF%BF%BD", "a b c\ufffd")


@pytest.mark.parametrize("text", ["{}", '{"items": {}}', '{"items": 1, "version": 2}'])
def test_other_json_is_not_a_feed(text):
    assert read(text) == FeedContent(problem="feed_without_items")


@pytest.mark.parametrize(
    "text", ["{", '{"a": ' + "[" * 100_000, '{"items": [' + "[" * 100_000, '{"a": ' + "1" * 5000 + "}"]
)
def test_broken_json_is_a_problem_and_not_an_exception(text):
    content = read(text)
    assert (content.kind, content.items, content.problem != "") == ("", [], True)


@given(st.data())
@settings(max_examples=40)
def test_damage_never_raises(data):
    text = json.dumps(FEED)
    at = data.draw(st.integers(1, len(text)))
    assert len(read(text[:at] + data.draw(st.text(max_size=5)) + text[at + data.draw(st.integers(0, 20)) :]).items) <= 6

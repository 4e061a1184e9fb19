"""The addresses of feeds, how they are discovered, the sources that they belong to, and which are removed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.items import Page, State
from crawlers.missions.news.feeds.feed_registry import USUAL_PLACES, FeedRegistry, feeds_of
from crawlers.missions.news.feeds.sources import SourceOwners
from crawlers.missions.news.news_items import FEED
from crawlers.missions.news.stored.news_tables import DiscoveredFeed
from crawlers.pages.html import parse_page
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.resolution import resolve

RSS = "rel=alternate type=application/rss+xml"


def feeds(head):
    return feeds_of(parsed(f"<!DOCTYPE html><html><head>{head}</head><body></body></html>".encode()))


def parsed(body):
    return parse_page(body, "text/html", frozenset({"a"}))


def test_feeds_are_in_document_order_without_duplicates():
    head = f"""<link {RSS} href=/b>
        <link rel="Alternate home" type="application/atom+xml; charset=utf-8" href="a.atom#x">
        <link rel=alternate type=application/feed+json href=//cdn.example.net/f.json><link {RSS} href=/b>"""
    assert feeds(head) == ["/b", "a.atom#x", "//cdn.example.net/f.json"]


def test_other_links_are_not_feeds():
    head = """<link rel=stylesheet type=application/rss+xml href=/a><link rel=alternate hreflang=de href=/de>
        <link rel=alternate type=application/json href=/wp-json/wp/v2/pages/2>
        <link rel=alternate type=application/json+oembed href=/feed/oembed><link rel=alternate type=application/rss+xml>
        <link rel=alternate type=application/rss+xml href=" ">"""
    assert feeds(head) == []


def test_feeds_of_comments_are_excluded():
    head = f"""<link {RSS} title="Site » Feed" href=/feed/><link {RSS} title="Site » Comments Feed" href=/x/>
        <link {RSS} title="Site » Kommentar-Feed" href=/comments/feed/><link {RSS} href="/?feed=comments-rss2">
        <link {RSS} title="Flux des commentaires" href=/y/>"""
    assert feeds(head) == ["/feed/"]


@given(st.binary(max_size=200))
@settings(max_examples=40)
def test_bytes_never_raise(body):
    for prefix in (b"", b"<link rel=alternate type=application/rss+xml href=", b"<link rel type=text/xml href="):
        assert feeds_of(parsed(prefix + body)) == feeds_of(parsed(prefix + body))


HERE, THERE, OUT = "http://here.test", "http://there.test", "http://out.test"
UNOWNED = "http://unowned.test"


def places(*, known=None, removed=()):
    """Return the feeds of two sources; a third one is excluded."""
    owners = SourceOwners([(site, []) for site in (HERE, THERE, OUT)])
    return FeedRegistry(resolve, [f"{HERE}/", f"{THERE}/"], known or {}, removed, [OUT], owners)


def target(url):
    return resolve(url, "")


def key(url):
    return target(url).key


def kept(feeds, url, named_by, kind=FEED):
    """Return the rows to store when a feed was read at *url*, to which pages of other sites link."""
    changes = ChangeSet()
    feeds.keep(Page(1, url, 1, State.DONE), key(url), kind, changes, named_by)
    return changes[DiscoveredFeed]


def test_removed_feed_in_a_usual_place_is_not_tried():
    feeds = places(removed=(HERE + USUAL_PLACES[0],))
    assert [one.url for one in feeds.of_home(f"{HERE}/", [], is_read=False)] == [HERE + USUAL_PLACES[1]]


def test_feeds_are_not_guessed_where_any_is_named_nor_twice():
    feeds = places()
    assert feeds.of_home(f"{HERE}/", [], is_read=True) == []
    assert feeds.of_home(f"{THERE}/", [target(f"{THERE}/news.rss")], is_read=True) == [target(f"{THERE}/news.rss")]
    found = [feeds.usual(f"{site}/{n}") for site in (HERE, THERE) for n in range(2)]
    assert [target(HERE + place) for place in USUAL_PLACES] == [one for some in found for one in some]
    assert feeds.of_home(f"{HERE}/", [], is_read=False) == []


@pytest.mark.parametrize(
    ("url", "named_by", "owner"),
    [
        (f"{HERE}/rss", [], HERE),
        (f"{HERE}/rss", [THERE], HERE),
        ("http://feeds.here.test/rss", [], HERE),
        (f"{UNOWNED}/rss", [], None),
        (f"{UNOWNED}/rss", [THERE], THERE),
        (f"{UNOWNED}/rss", [THERE, HERE], THERE),  # the first one
        (f"{UNOWNED}/rss", ["http://stranger.test"], None),
    ],
)
def test_feed_belongs_to_the_source_of_its_site_or_of_the_first_page_that_names_it(url, named_by, owner):
    feeds = places()
    assert feeds.is_unowned(url, key(url)) == url.startswith(UNOWNED)
    assert kept(feeds, url, named_by) == ([(owner, url, FEED)] if owner else [])

"""Discovery of feeds on pages, and of sitemaps in robots.txt."""

from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.missions.news.feeds.feed_registry import feeds_of
from crawlers.pages.html import parse_page

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

"""The history of a URL in the browser."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from crawlers.web.pages import explain_pages
from tests.support.stored_crawl import HOSTILE


def test_url_that_was_read_has_its_facts_and_links(browser, crawl_id):
    text = browser.get(f"/crawls/{crawl_id}/explain?url=http://a.test/a").text
    assert '<span class="chip page">page</span>' in text
    assert "known as http://a.test/a/" in text
    assert f'<a href="/crawls/{crawl_id}/explain?url=http%3A//a.test/" title="http://a.test/">' in text
    assert "3 links" in text  # those to its duplicate, too


def test_page_of_a_history_that_takes_long_asks_for_it_again(open_panel, crawl_id):
    path = f"/crawls/{crawl_id}/explain?url=http://a.test/a"
    text = open_panel(wait_s=0, threads=0).get(path).text
    assert "Being computed since" in text
    assert f'hx-get="{path}" hx-select="#result"' in text
    assert '<div id="result">' in open_panel().get(path).text


def test_external_url_has_the_pages_that_hold_it(browser, crawl_id):
    text = browser.get(f"/crawls/{crawl_id}/explain?url=http://b.test/one").text
    assert "external: its site is not part of the crawl" in text
    assert text.count("<li><a href=") == 2


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("nowhere.test/x", "is not part of the crawl; add it to the list of sites to crawl it"),
        ("http://a.test/never", "no page of its site that was read links to it"),
        ("somebody@mail.test", "a bad link: "),
        (HOSTILE, "a bad link: "),
        ("x" * 9000, "a bad link: longer than 8,192 characters"),
        ("http://[", "a bad link: not a URL"),
    ],
)
def test_url_that_was_never_found_says_so_and_what_to_do(browser, crawl_id, url, sentence):
    response = browser.get(f"/crawls/{crawl_id}/explain?url={quote(url)}")
    assert response.status_code == 200
    assert sentence in response.text
    assert "<script>alert" not in response.text


def test_list_of_links_goes_on_until_all_pages_were_searched(browser, crawl_id, monkeypatch):
    monkeypatch.setattr(explain_pages, "ROWS", 1)
    path, found = f"/crawls/{crawl_id}/explain?url=http://b.test/two", []
    while path:
        text = browser.get(path).text
        found += re.findall(r'<li><a href="[^"]+" title="([^"]+)"', text)
        following = re.search(r'class="button quiet" href="(/crawls/\d+/explain/links[^"]+)"', text)
        path = following and following[1].replace("&amp;", "&")
    assert len(found) == len(set(found)) == 131


def test_rest_of_the_list_is_a_part_of_the_page_for_htmx(browser, crawl_id, monkeypatch):
    monkeypatch.setattr(explain_pages, "SEARCH_S", -1.0)
    text = browser.get(f"/crawls/{crawl_id}/explain?url=http://b.test/two").text
    following = re.search(r'hx-get="([^"]+)" hx-trigger="load"', text)[1].replace("&amp;", "&")
    assert re.search(r"\d+ of \d+ URLs searched", text)
    part = browser.get(following, **{"hx-request": "true"}).text
    assert "<html" not in part
    assert "<li" in part
    assert "<html" in browser.get(following).text


def test_incomplete_address_is_an_error_in_words(browser, crawl_id):
    response = browser.get(f"/crawls/{crawl_id}/explain/links?url=http://a.test/&after=1")
    assert response.status_code == 400
    assert "begin with the page of the URL" in response.text

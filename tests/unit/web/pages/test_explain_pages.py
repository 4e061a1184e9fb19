"""The history of a URL in the browser."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from sqlalchemy import update

from crawlers.storage.schema.tables import link_context, page
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


def test_scheme_may_be_left_out(browser, crawl_id):
    text = browser.get(f"/crawls/{crawl_id}/explain?url=%20a.test/a ").text
    assert '<span class="chip page">page</span>' in text


def test_external_url_has_the_pages_that_hold_it(browser, crawl_id):
    text = browser.get(f"/crawls/{crawl_id}/explain?url=http://b.test/one").text
    assert "external: its site is not part of the crawl" in text
    assert text.count("<li><a href=") == 2


def test_text_of_a_link_turns_nothing(browser, crawl_id, sqlite):
    with sqlite.write() as connection:
        connection.execute(update(link_context).values(anchor="\u202eabc"))
    text = browser.get(f"/crawls/{crawl_id}/explain?url=http://b.test/one").text
    assert "“<bdi>\ufffdabc</bdi>”" in text  # it would turn what stands beside it, too, outside of <bdi>


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("nowhere.test/x", "is not part of the crawl; add it to the list of sites to crawl it"),
        ("http://a.test/never", "no page of its site that was read links to it"),
        ("somebody@mail.test", "a bad link: "),
        (HOSTILE, "a bad link: "),
        ("x" * 9000, "a bad link: longer than 8192 characters"),
        ("http://[", "a bad link: not a URL"),
    ],
)
def test_url_that_was_never_found_says_so_and_what_to_do(browser, crawl_id, url, sentence):
    response = browser.get(f"/crawls/{crawl_id}/explain?url={quote(url)}")
    assert response.status_code == 200
    assert sentence in response.text
    assert "<script>alert" not in response.text


def test_page_without_a_url_asks_for_one(browser, crawl_id):
    assert "Write any URL that the crawl may have met" in browser.get(f"/crawls/{crawl_id}/explain").text


def test_text_of_strangers_is_escaped(browser, crawl_id, sqlite):
    with sqlite.write() as connection:
        connection.execute(
            update(page).where(page.c.url == "http://a.test/b").values(reason=HOSTILE, canonical=HOSTILE)
        )
    text = browser.get(f"/crawls/{crawl_id}/explain?url=http://a.test/b").text
    assert HOSTILE not in text
    assert text.count("&lt;script&gt;alert(1)") >= 3  # title, reason, canonical URL
    assert 'href="javascript' not in text


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


def test_cells_of_reports_lead_to_the_history(browser, crawl_id):
    text = browser.get(f"/crawls/{crawl_id}/reports/pages").text
    assert f'href="/crawls/{crawl_id}/explain?url=http%3A//a.test/a"' in text
    assert 'class="outside" href="http://a.test/a" rel="noopener noreferrer nofollow" target="_blank"' in text

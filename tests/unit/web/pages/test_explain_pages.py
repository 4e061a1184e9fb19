"""The history of a URL in the browser."""

import re

from crawlers.web.pages import explain_pages


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
    assert re.search(r"Searched: \d+ of \d+ sites", text)
    part = browser.get(following, **{"hx-request": "true"}).text
    assert "<html" not in part
    assert "<li" in part
    assert "<html" in browser.get(following).text

"""URL rules are tried in the browser."""

from html import unescape
from urllib.parse import urlencode

import pytest

from crawlers.missions.news.edge import news_pages


def tried(browser, crawl_id, **typed):
    response = browser.get(f"/crawls/{crawl_id}/rules?{urlencode(typed)}")
    assert response.status_code == 200
    return unescape(response.text)


def figures(text):
    shown = text[text.index("URLs tried") :]
    return [part.partition("<")[0] for part in shown.split("<dd>")[1:6]]


def test_rule_is_tried_on_the_urls_of_a_site(browser, crawl_id):
    text = tried(browser, crawl_id, site="c.test", rule="/1.* except /11")
    assert figures(text) == ["130", "40", "10", "25 %", "50"]
    assert "It matches more pages that are no documents than documents; forbid them:" in text
    assert "scrapy sites add-rule c.test '/1.* except /11'</code>" in text.replace(" --weight 0", "")
    assert "Try rule 1" in text
    assert "Keep the rule:" in tried(browser, crawl_id, site="http://c.test", rule="/[1-5]?[0-9]")


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("/(", "missing ) in '/('"),
        ("/(?!x)", "RE2 does not support lookaheads"),
        ("news", "matches no URL because the part after the host begins with /"),
        ("/\x01", "unprintable"),
        ("/" + "x" * 4000, "A rule has at most 4,000 characters here"),
        ("/" + "(a|b){1,1000}" * 20, "is too large"),
        ("/(.{0,1000}){0,1000}", "a repetition count is invalid"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said(browser, crawl_id, rule, problem):
    text = tried(browser, crawl_id, site="c.test", rule=rule)
    assert problem in text
    assert "URLs tried" not in text


def test_rule_that_takes_long_is_tried_on_fewer_urls(browser, crawl_id, monkeypatch):
    monkeypatch.setattr(news_pages, "TRIAL_S", -1.0)
    text = tried(browser, crawl_id, site="c.test", rule="/.*")
    assert "of more" not in text  # nothing was tried
    assert "The store has no URLs of this site yet" not in text
    assert "No URL was tried in the time" in text


def test_rule_that_needs_too_much_memory_is_said_to(browser, crawl_id, monkeypatch):
    def matching(*_):
        raise MemoryError("RE2 ran out of memory while matching '/x'")

    monkeypatch.setattr(news_pages.UrlExpressions, "matching", matching)
    assert "ran out of memory while matching '/x'; simplify" in tried(browser, crawl_id, site="c.test", rule="/.*")


def test_one_url_is_tested_against_the_rules_of_its_site(browser, crawl_id):
    text = tried(browser, crawl_id, url="c.test/99")
    assert "The rule of the highest weight that it matches: <code>/[0-9]+</code>" in text
    assert "learnt · weight 0.8 · rule 1 of c.test" in text
    text = tried(browser, crawl_id, url="http://c.test/12", rule="/x")
    assert "A rule that forbids decides, whatever other rules match: <code>/1.* except /11</code>" in text
    assert "It also matches:" in text
    assert "The rule that you typed does not match it." in text
    assert "It matches none of the rules of its site" in tried(browser, crawl_id, url="c.test/x")
    assert "No rules apply to its site" in tried(browser, crawl_id, url="a.test/x")


def test_page_after_one_that_no_report_has_is_refused_in_words(browser, crawl_id):
    response = browser.get(f"/crawls/{crawl_id}/reports/alarms?after=2.0")
    assert response.status_code == 400
    assert "begin with the first page of the report" in response.text


def test_pages_name_the_program_that_people_have(browser, crawl_id, monkeypatch):
    monkeypatch.setattr("sys.argv", [".local/bin/crawlers", "web"])
    for page in ("rules?site=http://a.test&rule=/a.*", "reports/feeds", "reports/url-rules"):
        text = browser.get(f"/crawls/{crawl_id}/{page}").text
        assert "scrapy " not in text, page
    assert "crawlers sites add-rule" in browser.get(f"/crawls/{crawl_id}/rules?site=http://a.test").text

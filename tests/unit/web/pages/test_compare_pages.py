"""The comparison of two crawls: the choice, the counts, the rows, the files."""

import csv
import io
import json
import re
from html import unescape

import networkx as nx
import pytest
from sqlalchemy import insert

from crawlers.store.schema.tables import crawl
from tests.support.stored_crawl import HOSTILE, later_crawl
from tests.support.stored_rows import execute
from tests.unit.web.conftest import change_crawl


@pytest.fixture
def later(sqlite, crawl_id):
    return later_crawl(sqlite)


def rows_of(response):
    body = response.text.rpartition("<tbody>")[2]
    return re.findall(r'<span class="chip (\w+)">.*?title="([^"]*)"', body, re.DOTALL)


def test_crawl_is_compared_with_the_earlier_one_of_its_sites(browser, crawl_id, later):
    response = browser.get(f"/crawls/{later}/compare")
    assert response.status_code == 200
    assert f"spring #{crawl_id}" in response.text
    assert "1 site in common" in response.text
    assert ("changed", "http://a.test/a") in rows_of(response)
    assert HOSTILE not in response.text
    assert f'href="/crawls/{crawl_id}/explain?url=http%3A//a.test/a"' in response.text
    assert f'href="/crawls/{later}/explain?url=http%3A//a.test/a"' in response.text


def test_settings_that_differ_are_told(browser, sqlite, crawl_id, later):
    address = f"/crawls/{later}/compare?with={crawl_id}"
    assert "Their settings are the same, as far as they are recorded." in browser.get(address).text
    command = {"arguments": {}, "settings": {"TRAPS_ENABLED": HOSTILE}, "left_out": []}
    change_crawl(sqlite, of=later, manifest={"settings": {"MAX_LEVEL": 3}, "command": command})
    table = browser.get(address).text.partition("Settings that differ")[2].partition("</table>")[0]
    assert re.findall(r"<code>(\w+)</code>", table) == ["MAX_LEVEL", "TRAPS_ENABLED"]
    assert re.findall(r'<td class="long">([^<]*)</td>', table)[:2] == ["", "3"]
    assert HOSTILE not in table


def test_rows_are_filtered_sorted_and_paged(browser, crawl_id, later):
    address = f"/crawls/{later}/compare?with={crawl_id}"
    assert rows_of(browser.get(f"{address}&change=appeared")) == [("appeared", "http://a.test/fresh")]
    assert rows_of(browser.get(f"{address}&text=ALERT&change=changed")) == [("changed", "http://a.test/a")]
    links = browser.get(f"{address}&rows=links&kind=external&change=appeared")
    assert "http://d.test/" in links.text
    ordered = rows_of(browser.get(f"{address}&sort=-url"))
    assert ordered == sorted(ordered, key=lambda row: row[1], reverse=True)
    assert len(ordered) == 50
    following = re.search(r'rel="next" href="([^"#]*)', browser.get(f"{address}&sort=-url").text)[1]
    second = browser.get(f"/crawls/{later}/compare{unescape(following)}")
    assert not set(rows_of(second)) & set(ordered)
    assert "First page" in second.text


WRONG = ("rows=sites", "change=unchanged", "after=1.5", f"after={'9' * 5000}", "sort=beauty", f"text={'x' * 201}")


@pytest.mark.parametrize(("status", "queries"), [(404, ("with=99", "with=x")), (400, WRONG)])
def test_wrong_addresses_are_refused(browser, later, status, queries):
    for query in queries:
        assert browser.get(f"/crawls/{later}/compare?{query}").status_code == status


def test_files_have_all_rows_that_the_filters_show(browser, crawl_id, later):
    query = f"with={crawl_id}&change=changed"
    pages = browser.get(f"/crawls/{later}/compare/pages.csv?{query}")
    assert pages.headers["content-disposition"] == 'attachment; filename="changed-pages-1-2.csv"'
    [row] = csv.DictReader(io.StringIO(pages.content.decode("utf-8-sig")))
    assert (row["url"], row["what"], row["title_before"]) == ("http://a.test/a", "title, content", "'=1+1")
    links = browser.get(f"/crawls/{later}/compare/links.jsonl?with={crawl_id}&kind=external&change=appeared")
    assert [json.loads(line)["target"] for line in links.text.splitlines()] == ["http://d.test/"]
    assert browser.get(f"/crawls/{later}/compare/links.xml?{query}").status_code == 404
    assert browser.get(f"/crawls/{later}/compare/sites.csv?{query}").status_code == 404


def test_graph_of_both_crawls_has_a_status_for_each_page(browser, crawl_id, later):
    gexf = browser.get(f"/crawls/{later}/compare/changes.gexf?with={crawl_id}&site=http://a.test")
    network = nx.read_gexf(io.BytesIO(gexf.content), version="1.3")
    changes = {data["label"]: data["change"] for _, data in network.nodes(data=True)}
    assert (changes["http://a.test/"], changes["http://a.test/fresh"]) == ("unchanged", "appeared")
    missing = browser.get(f"/crawls/{later}/compare/changes.gexf?with={crawl_id}&site=http://z.test")
    assert missing.status_code == 404


def test_single_crawl_says_what_to_do(browser, crawl_id):
    response = browser.get(f"/crawls/{crawl_id}/compare")
    assert "There is no other crawl of these sites" in response.text
    assert f'href="/start?like={crawl_id}"' in response.text
    assert browser.get(f"/crawls/{crawl_id}/compare/pages.csv").status_code == 404


def test_crawls_without_a_site_in_common_are_not_compared(browser, sqlite, crawl_id):
    row = {"id": 7, "name": "x", "mission": "sitegraph", "state": "finished", "started_at": 0.0, "manifest": "{}"}
    execute(sqlite, insert(crawl).values(**row))
    assert "There is no other crawl of these sites" in browser.get(f"/crawls/{crawl_id}/compare").text
    response = browser.get(f"/crawls/{crawl_id}/compare?with=7")
    assert response.status_code == 400
    assert "have no site in common; choose another crawl" in response.text

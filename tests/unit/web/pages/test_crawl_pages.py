"""Crawls in the browser."""

from __future__ import annotations

import json
import os
import re
from html import unescape

import pytest
from sqlalchemy import insert, select, update

from crawlers.inputs.program import CrawlCommand
from crawlers.items import State
from crawlers.store.reading.crawl_settings import claimed_folder
from crawlers.store.schema.tables import SettingRow, crawl, page, site, worker
from crawlers.store.sites.seeds import save_seeds
from crawlers.web.pages import crawl_pages
from crawlers.web.pages.crawl_pages import CRAWLS_AT_ONCE
from crawlers.web.starting import Job
from tests.support.of_missions import needs
from tests.support.stored_crawl import MANIFEST, later_crawl
from tests.support.stored_rows import execute, new_page, write_rows
from tests.unit.web.conftest import change_crawl

OTHER = {"mission": "broad", "state": "finished", "started_at": 0, "run_started_at": 0, "manifest": MANIFEST}
COMMAND = {"arguments": {"hosts": "hosts.txt"}, "settings": {"PAGE_BUDGET": "9", "WORKERS": "2"}, "left_out": []}


@pytest.fixture
def stopped_id(sqlite, crawl_id):
    """The number of a crawl that was stopped."""
    manifest = {"command": COMMAND, "seeds": ["http://a.test"], "settings": {"RULE_SEED": 7, "ORDER": "bfs"}}
    change_crawl(sqlite, state="interrupted", manifest=manifest)
    return crawl_id


COUNTED = re.compile(r'<a href="(/crawls/\d+/reports/pages)(\?[^"]*)" aria-label="([^"]+): ([\d,]+)">')


def numbers_and_rows(browser, path):
    """Return the numbers of URLs that a page shows, by name, and those of the rows to which they lead."""
    found = COUNTED.findall(browser.get(path).text)
    numbers = [(name, int(number.replace(",", ""))) for _, _, name, number in found]
    tables = [(name, browser.get(f"{table}.jsonl{unescape(query)}").text) for table, query, name, _ in found]
    return numbers, [(name, len(text.splitlines())) for name, text in tables]


@pytest.fixture
def mixed_id(sqlite, crawl_id):
    """The number of a news crawl with URLs of all kinds, and one where a feed might have been."""
    change_crawl(sqlite, mission="news")
    for name, values in (
        ("/gone", {"status": 404}),
        ("/left", {"state": State.REFUSED, "status": 200}),
        ("/day?3", {"state": State.WAITING}),
        ("/failed", {"url": "http://a.test/rss.xml"}),
    ):
        execute(sqlite, update(page).where(page.c.url == f"http://a.test{name}").values(**values))
    return crawl_id


@needs("news")
def test_each_number_of_urls_leads_to_them(browser, mixed_id, sqlite):
    save_seeds(sqlite, [{"site": "http://a.test", "number": 1}])
    of_crawl = [("Pages", 134), ("Waiting", 1), ("Redirects", 2), ("Errors", 1), ("Not pages", 1), ("Not requested", 2)]
    of_site = [("Pages", 4), *of_crawl[1:]]
    for path, expected in (
        (f"/crawls/{mixed_id}", of_crawl),
        ("/sites/1", of_site),
        (f"/crawls/{mixed_id}/reports/sites?site=a.test", of_site),
        ("/sites?text=a.test", [of_site[0], of_site[3]]),
        ("/", [of_crawl[0], of_crawl[3]]),
    ):
        numbers, rows = numbers_and_rows(browser, path)
        assert numbers == rows == expected, path
    assert 'href="/crawls/1/reports/pages?state=waiting">1 waiting</a>' in browser.get("/").text


def test_states_of_tables_and_filters_are_the_words_of_the_numbers(browser, mixed_id):
    text = browser.get(f"/crawls/{mixed_id}/reports/pages?site=a.test").text
    options = re.findall(r'<option value="([^"]+)"', text.partition('name="state"')[2].partition("</select>")[0])
    assert options == ["page", "waiting", "redirect", "error", "not a page", "not requested"]
    assert set(re.findall(r'<td class="text">([a-z ]+)</td>', text)) == set(options)
    rows = browser.get(f"/crawls/{mixed_id}/reports/pages.jsonl?site=a.test&state=Not-requested").text.splitlines()
    assert {json.loads(row)["state"] for row in rows} == {"not requested"}
    assert "must be one of: page, waiting" in browser.get(f"/crawls/{mixed_id}/reports/pages?state=done").text


def test_crawl_whose_name_is_a_number_hides_no_other_crawl(browser, crawl_id, sqlite):
    execute(sqlite, insert(crawl).values(id=7, name=str(crawl_id), **OTHER))
    for path, name in ((f"/crawls/{crawl_id}", "spring"), ("/crawls/7", str(crawl_id))):
        assert f"<h1>{name} <small>" in browser.get(path).text
        assert f'name="name" value="{name}"' in browser.get(f"/start?like={path.rpartition('/')[2]}").text


def test_all_crawls_can_be_reached(browser, crawl_id, sqlite):
    assert "?before=" not in browser.get("/").text
    execute(sqlite, insert(crawl), [{"id": n, "name": "later", **OTHER} for n in range(2, CRAWLS_AT_ONCE + 2)])
    latest = browser.get("/").text
    assert "spring" not in latest
    assert 'href="/?before=2">Earlier crawls</a>' in latest
    earlier = browser.get("/?before=2").text
    there = (f'href="/crawls/{crawl_id}">spring</a>', 'hx-get="/?before=2"', 'href="/">Latest crawls</a>')
    assert [one in earlier for one in (*there, "later", "Earlier crawls")] == [True, True, True, False, False]
    assert "There is no crawl" not in browser.get("/?before=1").text


def test_running_crawl_is_paused_goes_on_and_is_stopped(browser, running_id, sqlite):
    path = f"/crawls/{running_id}"
    for action, asked, button in (("pause", "pause", "go-on"), ("go-on", None, "pause"), ("stop", "stop", None)):
        assert browser.post(f"{path}/{action}").headers["location"] == path
        assert sqlite.scalar(select(crawl.c.control).where(crawl.c.id == running_id)) == asked
        text = browser.get(path).text
        assert ("<button disabled" in text) == (action == "stop")
        assert (f'action="{path}/{button}"' in text) == (button is not None)
    assert 'action="/crawls/1/stop"' not in browser.get(path).text


def test_crawl_whose_processes_have_died_can_be_resumed_but_not_stopped(browser, running_id, sqlite):
    execute(sqlite, update(worker).values(id=4))  # a number whose lock nobody holds
    text = browser.get("/crawls/1").text
    assert 'action="/crawls/1/go-on"' in text
    assert "Nobody works on it" in text
    assert 'action="/crawls/1/stop"' not in text


def test_stopped_crawl_goes_on_by_the_same_command(browser, stopped_id, starter):
    starter.outcome = stopped_id
    assert browser.post("/crawls/1/go-on").headers["location"] == "/crawls/1"
    expected = CrawlCommand("extlinks", {"hosts": "hosts.txt"}, {"PAGE_BUDGET": "9", "WORKERS": "2"}, [])
    assert starter.commands == [("spring", expected, {})]


def test_workers_are_shown_with_what_each_site_waits_for(browser, running_id, sqlite):
    write_rows(sqlite, new_page(999, 1))
    text = browser.get("/crawls/1/work").text
    cells = re.findall(r"<td[^>]*>(?:<span[^>]*>)?([^<]*)", text)
    assert {"3", "m", "http://a.test", "a worker"} <= set(cells)
    assert "The panel did not start this crawl" in text


def test_half_a_character_in_a_command_is_shown_and_sent(browser, crawl_id, sqlite):
    half = "\udcff"  # in a file name that is in Latin-1
    manifest = {"command": {"arguments": {"hosts": f"{half}.txt"}, "settings": {}, "left_out": []}, "seeds": [half]}
    change_crawl(sqlite, state="interrupted", manifest=manifest)
    for path in ("/crawls/1", "/crawls/1/manifest", "/start?like=1"):
        assert browser.get(path).status_code == 200
    assert json.loads(browser.get("/crawls/1/manifest.json").text)["seeds"] == [half]


def test_manifest_is_shown_and_sent(browser, stopped_id, sqlite):
    write_rows(sqlite, SettingRow(stopped_id, "RULE_SEED", "8"))
    text = browser.get("/crawls/1/manifest").text
    assert "scrapy crawl extlinks -a hosts=hosts.txt -s PAGE_BUDGET=9 -s WORKERS=2 -s CRAWL=spring" in text
    assert "Settings changed when it was resumed" in text
    response = browser.get("/crawls/1/manifest.json")
    assert response.headers["content-disposition"] == 'attachment; filename="manifest-1.json"'
    sent = response.json()
    assert (sent["crawl"], sent["seeds"], sent["settings"]["RULE_SEED"]) == ("spring", ["http://a.test"], 7)
    assert sent["changed_settings"]["RULE_SEED"] == "8"


def test_manifest_says_all_settings_and_the_limits_of_each_site(browser, crawl_id, sqlite, monkeypatch):
    monkeypatch.setattr(crawl_pages, "MAX_LIMITS", 1)
    manifest = {
        "command": COMMAND,
        "seeds": ["http://a.test", "http://c.test"],
        "settings": {"ORDER": "bfs", "LINK_TAGS": ["a", "area"]},
        "further_settings": {"TRAPS_ENABLED": True, "PAGE_BUDGET": "9"},
        "of_spider": ["ORDER"],
        "site_options": {"http://a.test": {"render": "none"}},
    }
    change_crawl(sqlite, manifest=manifest)
    execute(sqlite, update(site).values(parallel=2, max_level=4, delay_s=0.5))
    text = browser.get("/crawls/1/manifest").text
    cells = r'<code>(\w+)</code></th><td class="long">([^<]*)</td><td>(?:<span class="chip">([^<]*)</span>)?</td>'
    shown = [("LINK_TAGS", "a,area", ""), ("ORDER", "bfs", "by the spider"), ("PAGE_BUDGET", "9", "given")]
    assert sorted(re.findall(cells, text)) == [*shown, ("TRAPS_ENABLED", "1", ""), ("WORKERS", "2", "given")]
    first, second = "http://a.test;2;4;500;render=none", "http://c.test;2;4;500"
    assert f">{first}\n… and 1 more</pre>" in text
    sent = browser.get("/crawls/1/manifest.json").json()
    assert (sent["site_count"], sent["sites_with_limits"]) == (2, [first])
    whole = browser.get("/crawls/1/hosts.txt")
    assert whole.text == f"{first}\n{second}\n"
    assert whole.headers["content-disposition"] == 'attachment; filename="spring-1-hosts.txt"'


def test_manifest_tells_sites_that_were_deleted_from_those_that_are_not_shown(browser, crawl_id, sqlite, monkeypatch):
    monkeypatch.setattr(crawl_pages, "MAX_LIMITS", 3)
    seeds = ["http://a.test", "http://gone.test", "http://c.test", "http://late.test", "http://later.test"]
    change_crawl(sqlite, manifest={"command": COMMAND, "seeds": seeds})
    text = browser.get("/crawls/1/manifest").text
    assert "… and 2 more</pre>" in text
    assert "1 further site was deleted from the store." in text
    monkeypatch.setattr(crawl_pages, "MAX_LIMITS", 1000)
    text = browser.get("/crawls/1/manifest").text
    assert " more</pre>" not in text
    assert "3 further sites were deleted from the store." in text
    assert browser.get("/crawls/1/manifest.json").json()["site_count"] == 5


def test_end_of_the_process_of_a_crawl_is_told(browser, crawl_id, starter):
    starter.ended = [
        Job("spring", "", 2e9, 3),
        Job("spring", "", 2e9, 3, crawl_id=9),
        Job("spring", "", 1e9, 0, crawl_id=crawl_id),
    ]
    text = browser.get("/crawls/1/work").text
    assert re.findall("The process of the crawl spring ended at .* with status (.)", text) == ["0"]


def test_sites_with_problems_are_named_with_the_crawl(browser, crawl_id, sqlite):
    execute(sqlite, update(site).where(site.c.id == 1).values(availability="host_not_found"))
    execute(sqlite, update(site).where(site.c.id == 2).values(certificate="certificate_expired"))
    text = browser.get(f"/crawls/{crawl_id}").text
    assert "http://a.test: not reachable: host name not found</p>" in text
    assert "http://c.test: certificate expired</p>" in text


GRAPH = b"<gexf/>"


@pytest.fixture
def folder(sqlite, crawl_id, tmp_path):
    """The result folder of the crawl, with a graph, a dataset, and what is none of its files."""
    folder = tmp_path / "result"
    claimed_folder(sqlite, crawl_id, folder)
    part = folder / "web_graph.parquet" / "pages" / "site_id=1"
    part.mkdir(parents=True)
    (part / "0.parquet").write_bytes(b"PAR1")
    (folder / "a.test.gexf").write_bytes(GRAPH)
    (folder / "crawl.toml").write_text("DATABASE_URL = 'secret'")
    (folder / "old.gexf").write_bytes(b"old")
    os.utime(folder / "old.gexf", (1e8, 1e8))  # before the crawl began
    (tmp_path / "secret.csv").write_text("secret")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "other").mkdir()
    (folder / "other" / "b.test.gexf").write_bytes(b"of another crawl")
    return folder


def test_files_of_a_crawl_are_listed_and_saved(browser, crawl_id, folder):
    assert f'<a href="/crawls/{crawl_id}/files">2 files</a>' in browser.get(f"/crawls/{crawl_id}").text
    text = browser.get(f"/crawls/{crawl_id}/files").text
    assert "Results are in the folder result." in text
    names = ["a.test.gexf", "web_graph.parquet/pages/site_id=1/0.parquet"]
    assert [part.partition("<")[0] for part in text.split(" download>")[1:]] == names
    sent = browser.get(f"/crawls/{crawl_id}/file?name=a.test.gexf")
    assert (sent.status_code, sent.content) == (200, GRAPH)
    assert sent.headers["content-disposition"] == 'attachment; filename="a.test.gexf"'
    assert browser.get(f"/crawls/{crawl_id}/file?name={names[1]}").content == b"PAR1"


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../secret.csv", "/etc/passwd", "crawl.toml", "link.csv", "old.gexf", "other/b.test.gexf", "%00"],
)
def test_other_files_are_not_sent(browser, crawl_id, folder, name):
    assert browser.get(f"/crawls/{crawl_id}/file?name={name}").status_code in (400, 404)


def test_folder_elsewhere_is_named_and_not_read(browser, crawl_id, sqlite, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "a.test.gexf").write_bytes(GRAPH)
    claimed_folder(sqlite, crawl_id, elsewhere)
    text = browser.get(f"/crawls/{crawl_id}/files").text
    assert f"Results are in the folder {elsewhere}." in text
    assert "It is not below the folder of the panel" in text
    assert browser.get(f"/crawls/{crawl_id}/file?name=a.test.gexf").status_code == 404


def test_files_that_a_later_crawl_replaced_are_its_own(browser, crawl_id, sqlite, folder):
    later = later_crawl(sqlite)
    change_crawl(sqlite, of=later, name="spring")
    claimed_folder(sqlite, later, folder)
    text = browser.get(f"/crawls/{crawl_id}/files").text
    assert f'<a href="/crawls/{later}/files">Files of crawl {later}</a>' in text
    assert browser.get(f"/crawls/{crawl_id}/file?name=a.test.gexf").status_code == 404
    os.utime(folder / "a.test.gexf", (2e9, 2e9))
    assert "a.test.gexf" in browser.get(f"/crawls/{later}/files").text


def test_removed_folder_says_where_results_are_still(browser, crawl_id, sqlite, tmp_path):
    claimed_folder(sqlite, crawl_id, tmp_path / "result")
    assert "The folder has no files of this crawl any more" in browser.get(f"/crawls/{crawl_id}/files").text


def test_file_that_disappears_while_the_folder_is_read_is_left_out(browser, crawl_id, folder, monkeypatch):
    paths = crawl_pages._paths
    monkeypatch.setattr(crawl_pages, "_paths", lambda folder: [*paths(folder), folder / "gone.gexf"])
    assert ">2 files</a>" in browser.get(f"/crawls/{crawl_id}").text
    assert browser.get(f"/crawls/{crawl_id}/files").text.count(" download>") == 2


def test_links_in_datasets_are_not_followed(browser, crawl_id, folder, tmp_path):
    (tmp_path / "secret.parquet").write_text("secret")
    (folder / "web_graph.parquet" / "link.parquet").symlink_to(tmp_path / "secret.parquet")
    (folder / "web_graph.parquet" / "up").symlink_to(tmp_path)
    assert "link.parquet" not in browser.get(f"/crawls/{crawl_id}/files").text
    for name in ("link.parquet", "up/secret.parquet"):
        assert browser.get(f"/crawls/{crawl_id}/file?name=web_graph.parquet/{name}").status_code == 404


def test_page_of_a_crawl_does_not_wait_for_its_files_and_a_download_does_not_list_them(
    open_panel, crawl_id, folder, monkeypatch
):
    text = open_panel(wait_s=0, threads=0).get(f"/crawls/{crawl_id}").text
    assert f'Results are in the folder result. <a href="/crawls/{crawl_id}/files">Files</a>' in text
    monkeypatch.setattr(crawl_pages, "_paths", lambda folder: pytest.fail("the folder was read"))
    assert open_panel().get(f"/crawls/{crawl_id}/file?name=a.test.gexf").content == GRAPH

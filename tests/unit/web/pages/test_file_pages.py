"""The files of a crawl in the browser."""

import os

import pytest

from crawlers.store.reading.crawl_settings import claimed_folder
from crawlers.web.pages import file_pages
from tests.support.stored_crawl import later_crawl
from tests.unit.web.conftest import change_crawl

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
    paths = file_pages._paths
    monkeypatch.setattr(file_pages, "_paths", lambda folder: [*paths(folder), folder / "gone.gexf"])
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
    monkeypatch.setattr(file_pages, "_paths", lambda folder: pytest.fail("the folder was read"))
    assert open_panel().get(f"/crawls/{crawl_id}/file?name=a.test.gexf").content == GRAPH

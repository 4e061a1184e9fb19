"""The tables of a crawl: what a person finds in them, and when they are written."""

import csv

import pytest

from crawlers.files.csv_tables import FORMULA_STARTS
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.reports.site_results import TABLES
from tests.support.of_missions import needs
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

OUT = "http://outside.example/"
HOME = links("/a", "/copy1", "/copy2", "/gone", "/moved", "/paper", "/away", "/secret", "http://[::1", "mailto:x@y.z")
BODIES = {
    "/": HOME + f'<a href="{OUT}">=cmd()</a>',
    "/a": "<title>=1+1</title>"
    + f'<a href="/">up</a> <a href="/gone">a</a> <a href="/lost">b</a> <a href="{OUT}">z</a>',
    "/copy1": "<title>Copy</title>" + links("/deep"),
    "/copy2": "<title>Copy</title>" + links("/deep"),
    "/deep": f'<a href="{OUT}x"><img></a> <a href="{OUT}x">text</a> <a href="/moved">m</a>'
    + '<a href="http://[">=no <b>URL</b></a> <a href="http://[">again</a>'
    + f'<a href="http://a.example:{"9" * 3000}">l</a>'
    + "<a href='//user:secret@[x/'>named</a>",
    "/end": "<title>End</title>",
}
MOVED = {"/moved": "/moved2", "/moved2": "/end", "/lost": "/gone", "/away": OUT}
NAMES = ("pages", "broken-links", "redirects", "external-links")


async def site(exchange):
    if exchange.path in MOVED:
        await exchange.page(status=301, Location=MOVED[exchange.path])
    elif exchange.path == "/paper":
        await exchange.page("x", content_type="application/pdf")
    else:
        await pages(BODIES, "User-agent: *\nDisallow: /secret")(exchange)


class Crawled:
    """A finished crawl and its files."""

    def __init__(self, project, origin):
        self.project, self.origin = project, origin
        self.stem = origin.removeprefix("http://").replace(":", "_")

    def files(self, folder="result"):
        return {path.name: path.read_bytes() for path in (self.project.folder / folder).iterdir() if path.is_file()}

    def rows(self, name, folder="result"):
        text = self.files(folder)[f"{self.stem}.{name}.csv"].decode().replace(self.origin, "")
        return list(csv.DictReader(text.splitlines()))

    def cells(self, name, *columns):
        return [tuple(row[column] for column in columns) for row in self.rows(name)]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory, new_project):
    project = new_project(tmp_path_factory.mktemp("tables"))
    with Web(site=site) as web:
        project.crawl(web.hosts()).done()
    return Crawled(project, web["site"].origin)


def test_pages_have_status_degrees_duplicates_and_where_they_were_found(crawled):
    rows = {row["url"]: row for row in crawled.rows("pages")}
    columns = ("status", "state", "level", "in_degree", "out_degree", "duplicate_of", "found_on")
    assert {url: tuple(row[name] for name in columns) for url, row in rows.items()} == {
        "/": ("200", "page", "0", "1", "3", "", ""),
        "/a": ("200", "page", "1", "1", "1", "", "/"),
        "/away": ("301", "not a page", "1", "1", "", "", "/"),
        "/copy1": ("200", "page", "1", "1", "1", "", "/"),
        "/copy2": ("200", "page", "1", "", "", "/copy1", "/"),
        "/deep": ("200", "page", "2", "1", "1", "", "/copy1"),
        "/end": ("200", "page", "1", "2", "0", "", "/moved2"),
        "/gone": ("404", "error", "1", "2", "", "", "/"),
        "/lost": ("301", "redirect", "2", "1", "", "", "/a"),
        "/moved": ("301", "redirect", "1", "2", "", "", "/"),
        "/moved2": ("301", "redirect", "1", "0", "", "", "/moved"),
        "/paper": ("200", "not a page", "1", "1", "", "", "/"),
    }
    assert rows["/gone"]["reason"] == "status 404"
    assert rows["/paper"]["content_type"] == "application/pdf"
    assert rows["/end"]["size_bytes"] == str(len(BODIES["/end"]))


def test_every_page_that_holds_a_broken_link_is_listed(crawled):
    assert crawled.cells("broken-links", "url", "status", "reason", "page", "anchor", "links") == [
        ("/gone", "404", "status 404", "/", "/gone", "1"),
        ("/gone", "404", "status 404", "/a", "a", "1"),
        ("/lost", "404", "redirects to /gone: status 404", "/a", "b", "1"),
        ("//[x/", "", "not a URL", "/deep", "named", "1"),
        ("http://[", "", "not a URL", "/deep", "'=no URL", "2"),
        ("http://[::1", "", "not a URL", "/", "http://[::1", "1"),
        ("http://a.example:" + "9" * 1983, "", "not a URL", "/deep", "l", "1"),
    ]


def test_only_texts_of_links_that_may_be_broken_stay_in_the_store(crawled):
    rows = crawled.project.query("SELECT DISTINCT p.url FROM link_anchor a JOIN page p ON p.id = a.target_id")
    urls = {url.removeprefix(crawled.origin) for (url,) in rows}
    assert urls == {"/away", "/gone", "/lost", "/moved", "/paper"}


def test_redirects_have_their_chains(crawled):
    columns = ("url", "status", "redirects", "final_url", "final_status", "problem", "chain")
    assert crawled.cells("redirects", *columns) == [
        ("/away", "301", "1", OUT, "", f"redirects to another site: {OUT}", f"/away > {OUT}"),
        ("/lost", "301", "1", "/gone", "404", "status 404", "/lost > /gone"),
        ("/moved", "301", "2", "/end", "200", "", "/moved > /moved2 > /end"),
        ("/moved2", "301", "1", "/end", "200", "", "/moved2 > /end"),
    ]


def test_external_links_have_their_first_page_and_anchor(crawled):
    assert crawled.cells("external-links", "url", "host", "first_page", "anchor", "pages", "links") == [
        (OUT, "outside.example", "/", "'=cmd()", "3", "3"),
        (f"{OUT}x", "outside.example", "/deep", "text", "1", "2"),
    ]


def test_no_cell_is_run_as_a_formula(crawled):
    assert any(row["title"] == "'=1+1" for row in crawled.rows("pages"))
    for name in NAMES:
        for row in crawled.rows(name):
            assert not [cell for cell in row.values() if cell.startswith(tuple(set(FORMULA_STARTS) - {"'"}))]


def test_tables_are_written_again_from_the_store_with_the_same_bytes(crawled):
    ended = crawled.project.run("graph", "--folder", "again").done()
    assert crawled.files("again") == crawled.files()
    assert f"again/{crawled.stem}.broken-links.csv: 7 broken links" in ended.output


def test_tables_of_a_folder_are_named_like_its_graph_and_leave_those_of_the_whole_site(tmp_path):
    project = Project(tmp_path, SITE_DELAY_SECONDS=0)
    with Web(site=pages({"/": links("/docs/"), "/docs/": links("/docs/a")})) as web:
        origin = web["site"].origin
        assert project.crawl(origin, RESULT_TABLES="pages").status == 0
        whole = Crawled(project, origin)
        before = whole.files()
        assert project.crawl(f"{origin}/docs/", RESULT_TABLES="pages", CRAWL="docs").status == 0
        assert sorted(whole.files("result/docs")) == [f"{whole.stem}+docs.gexf", f"{whole.stem}+docs.pages.csv"]
        assert whole.files() == before


@needs("extlinks")
def test_harvest_has_one_table_of_the_external_links_of_all_sites(tmp_path):
    project = Project(tmp_path)
    with Web(a=site, b=site) as web:
        ended = project.run("crawl", "extlinks", "-a", f"hosts={web.hosts()}").done()
        (path,) = (tmp_path / "result").iterdir()
        assert path.name == "external-links.csv"
        assert "Files: result/external-links.csv" in ended.log
        rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
        first = min(web["a"].origin, web["b"].origin)
        assert [(row["url"], row["first_page"], row["links"]) for row in rows] == [
            (OUT, f"{first}/", "6"),
            (f"{OUT}x", f"{first}/deep", "4"),
        ]
        before = path.read_bytes()
        path.unlink()
        ended = project.run("graph", "--folder", "result", web["a"].origin).done()
        assert path.read_bytes() == before  # of all sites


@pytest.mark.parametrize("name", ["broken-links", "redirects"])
def test_table_has_the_columns_of_the_report_of_its_name(name):
    assert list(TABLES[name].columns) == [column.name for column in REPORTS[name].columns]

"""`scrapy crawl`: its exit statuses, and crawls without the rows of duplicates."""

import json

import pytest

from tests.support.command_web import first
from tests.support.sites.server import Web, pages


def test_crawl_without_a_known_spider_is_refused(project):
    assert project.run("crawl").status == 2
    assert project.run("crawl", "nosuchspider").status != 0


AT_ONCE = {"RETRY_TIMES": 0, "ROBOTS_REST_SECONDS": 0}  # a site that does not respond is not waited for


def test_exit_status_is_3_if_no_page_was_read(project, tmp_path):
    with Web(gone=pages({}), moved=moved) as web:
        for name, reason in (("gone", "status 404"), ("moved", "redirects to another site: http://other.example/")):
            ended = project.crawl(web[name].origin)
            assert ended.status == 3
            assert ended.errors == [
                f"Error: no page could be read ({web[name].origin}: not available: {reason}); check the addresses, "
                "then run the same command again"
            ]
            assert "is finished: 0 pages" in ended.log
    ended = project.crawl(web["gone"].origin, LOG_FILE=str(tmp_path / "crawl.log"), **AT_ONCE)
    assert ended.status == 3  # refused connections
    assert "no page could be read" in (tmp_path / "crawl.log").read_text("utf-8")


async def moved(exchange):
    if exchange.path == "/":
        await exchange.page(status=301, Location="http://other.example/")
    else:
        await exchange.page("missing", 404)


def test_with_several_sites_a_setting_decides_whether_all_must_be_available(project):
    with Web(good=pages({"/": "<p>x"}), gone=pages({})) as web:
        assert project.crawl(web.hosts()).status == 0
        ended = project.crawl(web.hosts(), FAIL_ON_UNAVAILABLE=1)
        assert ended.status == 3
        assert ended.errors == [
            f"Error: FAIL_ON_UNAVAILABLE: sites are not available ({web['gone'].origin}: not available: status 404); "
            "everything else is stored"
        ]
        assert project.crawl(web["good"].origin, FAIL_ON_UNAVAILABLE=1).status == 0
    assert project.outcomes == [("finished", "finished")] * 3


@pytest.mark.both_stores
def test_deleting_duplicates_does_not_change_the_graph(project, tmp_path):
    graphs = {}
    with Web(first=first) as web:
        for saved in (True, False):
            folder = f"result{saved}"
            settings = {"RESULT_FOLDER": folder, "GRAPH_FORMATS": "gexf,csv", "RESULT_TABLES": ""}
            assert project.crawl(web.hosts(), SAVE_DUPLICATES=saved, **settings).status == 0
            graphs[saved] = {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()}
        assert graphs[True] == graphs[False]
        urls = [url for (url,) in project.query("SELECT url FROM page WHERE url LIKE '%copy%' ORDER BY id")]
        origin = web["first"].origin
        assert urls == [origin + "/copy1.html", origin + "/copy2.html", origin + "/copy1.html"]
        formats = ("--format", "gexf", "--format", "csv")
        project.run("graph", *formats, "--folder", str(tmp_path / "again")).done()
        assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == graphs[True]
        url_history = project.run("explain", origin + "/copy1.html").output
        assert "represents 1 further URL with the same content, whose rows were deleted" in url_history


@pytest.mark.parametrize(
    ("setting", "path", "number", "what"),
    [
        ("ITEM_PIPELINES", "mine.Fails", 5, "KeyError 'key'"),
        ("ITEM_PIPELINES", "mine.Absent", 5, "NameError Module 'mine' doesn't define any object named 'Absent'"),
        ("ITEM_PIPELINES", "mine.Fails", "x", "ValueError Invalid value x for component mine.Fails, "
         "please provide a real number or None instead"),
        ("DOWNLOADER_MIDDLEWARES", "mine.Fails", 5, "KeyError 'key'"),
        ("EXTENSIONS", "nosuch.Extension", 5, "ModuleNotFoundError No module named 'nosuch'"),
        ("ADDONS", "mine.Fails", 5, "KeyError 'key'"),
        ("DOWNLOADER", "mine.Fails", None, "KeyError 'key'"),
        ("LOG_FORMATTER", "mine.Fails", None, "KeyError 'key'"),
        ("STATS_CLASS", "mine.Fails", None, "KeyError 'key'"),
        ("SPIDER_LOADER_CLASS", "nosuch.Loader", None, "ModuleNotFoundError No module named 'nosuch'"),
    ],
)  # fmt: skip
def test_component_of_a_user_that_fails_as_it_is_loaded_is_named_with_its_setting(project, setting, path, number, what):
    (project.folder / "mine.py").write_text("class Fails:\n    def __init__(self, *_): {}['key']\n", "utf-8")
    ended = project.crawl("http://127.0.0.1:9", **{setting: path if number is None else {path: number}})
    assert (ended.status, ended.errors) == (2, [f"Error: {setting} names {path}, which fails: {what}; correct it"])
    assert "Traceback" not in ended.log


def test_advice_after_a_users_pipeline_failed_is_to_correct_it(project):
    (project.folder / "mine.py").write_text("class Fails:\n    def process_item(self, item): {}['key']\n", "utf-8")
    with Web(site=pages({"/": "<p>x"})) as web:
        ended = project.crawl(web["site"].origin, ITEM_PIPELINES=json.dumps({"mine.Fails": 5}))
    assert ended.status == 3
    assert "a pipeline failed" in ended.errors[-1]
    assert ended.errors[-1].endswith("; correct the pipeline or spider, then run the same command again")

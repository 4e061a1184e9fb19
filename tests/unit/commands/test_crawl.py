"""`scrapy crawl`: its exit statuses, and crawls without the rows of duplicates."""

import signal

import pytest

from tests.support.command_web import first
from tests.support.sites.server import Web, links, pages


def test_exit_status_is_0_for_a_finished_crawl_and_2_if_it_can_not_begin(project):
    with Web(site=pages({"/": "<p>x"})) as web:
        assert project.crawl(web.hosts()).status == 0
        assert project.crawl("missing.txt").status == 2
        assert project.crawl(web.hosts(), RULE="chess").status == 2
        assert project.run("crawl").status == 2
        assert project.run("crawl", "nosuchspider").status != 0
        assert len(project.states()) == 1


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
    assert project.states() == [("finished", "finished")] * 3


def test_stop_by_the_user_before_the_first_page_is_no_failure(project):
    run = None

    async def site(exchange):
        if run is not None:
            run.signal(signal.SIGTERM)
        await exchange.page("missing", 404)

    with Web(site=site) as web:
        run = project.start("crawl", "sitegraph", "-a", "hosts=" + web.hosts())
        assert run.wait().status == 0


@pytest.mark.both_stores
def test_gracefully_stopped_crawl_has_status_0_and_is_resumed(project):
    run = None

    async def site(exchange):
        if exchange.path == "/2" and exchange.site.count("/2") == 1 and run is not None:
            run.signal(signal.SIGTERM)
        bodies = {f"/{n or ''}": links(*(f"/{n}" for n in range(1, 12))) for n in range(12)}
        await pages(bodies)(exchange)

    with Web(site=site) as web:
        run = project.start("crawl", "sitegraph", "-a", "hosts=" + web.hosts(limits=";1;;20"))
        assert run.wait().status == 0
        assert project.states() == [("interrupted", "shutdown")]
        before = len(web["site"].requests)
        assert project.crawl(web.hosts()).status == 0
        assert project.states() == [("finished", "finished")]
        once = {"/robots.txt", "/sitemap.xml", "/", *(f"/{n}" for n in range(1, 12))}
        assert sorted(web["site"].paths) == sorted(once)
        assert before < len(web["site"].requests)


@pytest.mark.both_stores
def test_deleting_duplicates_does_not_change_the_graph(project, tmp_path):
    graphs = {}
    with Web(first=first) as web:
        for saved in (True, False):
            folder = f"result{saved}"
            settings = {
                "SAVE_DUPLICATES": saved,
                "RESULT_FOLDER": folder,
                "GRAPH_FORMATS": "gexf,csv",
                "RESULT_TABLES": "",
            }
            assert project.crawl(web.hosts(), **settings).status == 0
            graphs[saved] = {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()}
        assert graphs[True] == graphs[False]
        urls = [url for (url,) in project.query("SELECT url FROM page WHERE url LIKE '%copy%' ORDER BY id")]
        origin = web["first"].origin
        assert urls == [origin + "/copy1.html", origin + "/copy2.html", origin + "/copy1.html"]
        formats = ("--format", "gexf", "--format", "csv")
        again = project.run("graph", *formats, "--folder", str(tmp_path / "again"))
        assert again.status == 0, again.log
        assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == graphs[True]
        url_history = project.run("explain", origin + "/copy1.html").output
        assert "represents 1 further URL with the same content, whose rows were deleted" in url_history


@pytest.mark.parametrize(("name", "value"), [("MAX_LEVEL", "x"), ("SETTINGS_FILE", "x" * 100_001)])
def test_garbage_is_refused_in_one_sentence_before_anything_is_requested_or_written(project, name, value):
    with Web(site=pages({"/": "<p>x"})) as web:
        ended = project.crawl(web.hosts(), **{name: value})
        assert (ended.status, web["site"].count("/"), "Traceback" in ended.log) == (2, 0, False)
    (error,) = ended.errors
    assert error.startswith(f"Error: {name}")
    assert len(error) < 500
    assert not list(project.folder.glob("*.sqlite"))

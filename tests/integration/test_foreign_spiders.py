"""Plain Scrapy spiders run on our scheduler as on Scrapy's own, and survive kills."""

import json
import signal
from collections import Counter

import pytest

from crawlers.items import State
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

NODES = 60  # of the tree
OPEN_PAGES = "SELECT url FROM page WHERE state = 0"
DOWN = ("/down", "/down-async", "/down-raising", "/down-returning", "/down-without-errback")


async def anything(exchange):
    """/flaky and /start-flaky fail at first, /broken… always; /down… breaks off; POSTs are echoed."""
    path = exchange.path
    request = exchange.request
    if path == "/robots.txt" or "missing" in path:
        await exchange.page(status=404)
    elif path.startswith("/down"):
        exchange.reset()
    elif path.startswith("/broken") or (path.endswith("flaky") and exchange.site.count(path) == 1):
        await exchange.page("out of order", 500)
    elif path == "/moved":
        await exchange.page(status=302, Location="/landed")
    elif path == "/moved-offsite":
        await exchange.page(status=302, Location="http://offsite.example/")
    elif path in ("/headers", "/post", "/form"):
        echo = {"path": path, "body": request.body.decode("latin-1"), "kind": request.headers.get("x-kind", "")}
        await exchange.page(json.dumps({**echo, "method": request.method}), content_type="application/json")
    else:
        await exchange.page(f"<title>{path}</title>")


@pytest.fixture(scope="module")
def web():
    with Web(site=anything) as served:
        yield served


@pytest.fixture
def site(web):
    """The site, which has forgotten earlier tests."""
    web["site"].requests.clear()
    return web["site"]


def project_in(folder, **settings):
    limits = {"SITE_DELAY_SECONDS": 0, "SITE_PARALLEL": 8}
    return Project(folder, **{"SPIDER_MODULES": "tests.support.sites.plain", "LOG_LEVEL": "INFO", **limits, **settings})


@pytest.fixture
def project(tmp_path):
    return project_in(tmp_path)


def items(project):
    text = (project.folder / "items.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def run(project, site, spider, **settings):
    outcome = project.run("crawl", spider, "-a", f"site={site.origin}", "-O", "items.jsonl", **settings).done()
    return outcome


@pytest.fixture(scope="module")
def everything(web, tmp_path_factory):
    """A crawl that has ended: its project, the requests by path, and its log."""
    project, site = project_in(tmp_path_factory.mktemp("everything")), web["site"]
    site.requests.clear()
    log = run(project, site, "everything").log
    return project, Counter(site.paths), log


def test_every_request_is_made_once_unless_it_says_otherwise(everything):
    _, counts, _ = everything
    once = """/robots.txt / /twice /named /meta /headers /form /moved /landed /moved-offsite /missing /wanted-missing
        /none /async /coroutine /raises /raises-late /before-raising /copies-meta /copied
        /after/broken /after/down /after/down-async /after-async /after-coroutine"""
    again = ("/start-flaky", "/repeated", "/post", "/flaky", "/again")
    failed = ("/broken", "/broken-without-errback", *DOWN)
    retried = 3  # RETRY_TIMES and the first
    assert counts == dict.fromkeys(once.split(), 1) | dict.fromkeys(again, 2) | dict.fromkeys(failed, retried)


def test_callbacks_get_what_the_request_carried(everything, web):
    project, _, _ = everything
    found = items(project)
    assert {"name": "home", "title": "/", "at": web["site"].origin + "/"} in found
    assert {"name": "named", "given": "given", "numbers": [1, 2]} in found
    assert {"name": "meta", "shelf": {"place": 3}, "note": None} in found
    echoes = {(item["path"], item["method"], item["body"], item["kind"]) for item in found if item["name"] == "echo"}
    assert echoes == {
        ("/headers", "GET", "", "plain"),
        ("/post", "POST", "\xff\x00body", ""),
        ("/post", "POST", "another", ""),
        ("/form", "POST", "a=1&b=%C3%BC", ""),
    }
    names = Counter(item["name"] for item in found)
    once = "/twice /landed /flaky /start-flaky again async coroutine /copied copies-meta"
    assert {name: names[name] for name in once.split()} == dict.fromkeys(once.split(), 1)
    assert names["/repeated"] == 2
    assert {"name": "/wanted-missing", "status": 404} in found
    assert "/missing" not in names


def test_errbacks_get_their_failures_and_may_yield_requests(everything):
    project, _, _ = everything
    failures = {item["of"]: item["why"] for item in items(project) if item["name"] == "failure"}
    assert failures == {
        "/broken": "HttpError",
        "/down": "DownloadFailedError",
        "/down-async": "DownloadFailedError",
    }


def test_store_has_the_result_of_each_request_and_no_lease_is_open(everything, web):
    project, _, _ = everything
    origin = web["site"].origin
    assert (project.outcomes, project.query(OPEN_PAGES)) == ([("finished", "finished")], [])
    assert project.site(origin)["availability"] is None  # although some of its pages are not there
    pages = project.pages(origin)
    state, reason = pages["/moved-offsite"]
    assert (state, reason.partition(" ")[0]) == (State.REFUSED, "replaced_in_vain")
    wanted = {
        **dict.fromkeys(["/", "/landed", "/copies-meta", "/again"], (State.DONE, "")),
        **dict.fromkeys(["/missing", "/wanted-missing"], (State.REFUSED, "status 404")),
        "/broken": (State.REFUSED, "status 500"),
        "/moved": (State.MOVED, f"replaced {origin}/landed"),
        **dict.fromkeys(DOWN, (State.FAILED, "connection_failed")),
        "/raises": (State.FAILED, "spider_failed error ValueError on purpose"),
        "/raises-late": (State.FAILED, "spider_failed error ValueError on purpose, late"),
    }
    assert {path: pages[path] for path in wanted} == wanted
    assert not [url for url in project.pages() if url.startswith("http://off")]


def test_only_errors_of_the_spider_are_logged_as_errors(everything):
    _, _, log = everything
    errors = Counter(line.split(" ERROR: ")[1].split("<")[0] for line in log.splitlines() if " ERROR: " in line)
    assert errors == {"Spider error processing ": 3, "Error downloading ": 3, "Gave up retrying ": 7}


def test_dropped_and_failed_items_do_not_delay_the_end(project, site):
    run(project, site, "fateful")
    fates = {"pass": 60, "from start": 1, "from a middleware": 1}
    assert Counter(item["fate"] for item in items(project)) == fates
    assert project.outcomes == [("finished", "finished")]
    assert project.pages(site.origin) == {"/": (State.DONE, "")}


def test_requests_that_a_middleware_refuses_or_replaces_end(project, site):
    run(project, site, "filtered")
    assert sorted(item["at"] for item in items(project)) == ["/instead", "/plain"]
    assert project.outcomes == [("finished", "finished")]
    found = project.pages(site.origin)
    assert found["/refused"] == (State.FAILED, "error IgnoreRequest not today")
    assert found["/replaced"][0] == State.MOVED
    assert "/refused" not in site.paths


def test_crawl_spider_follows_its_rules(project):
    bodies = {
        "/": links("/item/1", "/list", "/skip/1"),
        "/list": links("/item/2", "/item/1", "/list?page=2"),
        "/list?page=2": links("/item/3", "/"),
        **{f"/item/{n}": links("/", "/skip/2", f"/item/{n + 1}") for n in range(1, 5)},
        "/item/5": links("/skip/3"),
    }
    with Web(site=pages(bodies)) as web:
        run(project, web["site"], "rules")
        assert sorted(item["at"] for item in items(project)) == [f"/item/{n}" for n in range(1, 6)]
        assert Counter(web["site"].paths) == dict.fromkeys(["/robots.txt", *bodies], 1)
        assert project.outcomes == [("finished", "finished")]


def tree(on_request=lambda site: None):
    """A binary tree of NODES pages."""

    async def respond(exchange):
        on_request(exchange.site)
        if exchange.path == "/robots.txt":
            await exchange.page(status=404)
            return
        number = int(exchange.path[1:])
        await exchange.page(links(*(f"/{child}" for child in (2 * number, 2 * number + 1) if child <= NODES)))

    return respond


def test_waiting_requests_survive_kill_9(tmp_path):
    project = project_in(tmp_path, STORE_BATCH_SECONDS=0.01)
    victims = []

    def kill(site):
        if len(site.requests) in (20, 45) and victims:
            victims.pop().kill()

    with Web(site=tree(kill)) as web:
        arguments = ("tree", "-a", f"site={web['site'].origin}")
        for _ in range(2):
            run = project.start("crawl", *arguments)
            victims.append(run)
            assert run.wait().status == -signal.SIGKILL
            assert project.outcomes[0][0] == "running"
            assert project.query(OPEN_PAGES)
        outcome = project.run("crawl", *arguments).done()
        assert "Traceback" not in outcome.log
        assert "is resumed" in outcome.log
        assert outcome.log.count("Crawl tree is finished") == 1
        assert project.outcomes == [("finished", "finished")]
        assert project.pages(web["site"].origin) == {f"/{n}": (State.DONE, "") for n in range(1, NODES + 1)}
        counts = Counter(web["site"].paths)
        assert counts["/robots.txt"] == 1
        assert counts.total() < NODES + 2 * 20  # a kill costs what was not committed: parallel ones, and a batch


def test_requests_that_were_only_in_memory_fail_with_a_reason_when_the_crawl_is_resumed(project, site):
    run(project, site, "keeping", SITE_PARALLEL=1, CLOSESPIDER_PAGECOUNT=2)
    assert project.outcomes[0][0] == "interrupted"
    run(project, site, "keeping")
    assert project.outcomes == [("finished", "finished")]
    lost = [path for path, (state, _) in project.pages(site.origin).items() if state == State.FAILED]
    assert set(lost) <= {"/object/0", "/object/1", "/object/2", "/function", "/tuple"}
    assert len(lost) >= 3
    assert {"at": "/plain", "kept": "list"} in items(project)


def test_requests_of_a_higher_priority_go_first(project, site):
    run(project, site, "priorities", SITE_PARALLEL=1)
    assert [path.split("/")[1] for path in site.paths[2:]] == ["high"] * 4 + ["middle"] * 4 + ["low"] * 4


def test_page_whose_callback_closes_the_spider_is_not_fetched_again(project, site):
    for _ in range(2):
        run(project, site, "enough", SITE_PARALLEL=1, CONCURRENT_REQUESTS=1)
    assert Counter(site.paths[1:]) == {"/generator": 1, "/function": 1}
    assert {state for state, _ in project.pages(site.origin).values()} == {State.DONE}

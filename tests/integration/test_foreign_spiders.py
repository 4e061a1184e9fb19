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


def project_in(folder, **settings):
    return Project(
        folder,
        SPIDER_MODULES="tests.support.sites.plain",
        SITE_DELAY_SECONDS=0,
        SITE_PARALLEL=8,
        LOG_LEVEL="INFO",
        **settings,
    )


def items(project):
    text = (project.folder / "items.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def run(project, web, spider, **settings):
    outcome = project.run("crawl", spider, "-a", f"site={web['site'].origin}", "-O", "items.jsonl", **settings)
    assert outcome.status == 0, outcome.log
    return outcome


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    project = project_in(tmp_path_factory.mktemp("everything"))
    with Web(site=anything) as web:
        yield project, web["site"], run(project, web, "everything").log


def test_crawl_ends_by_itself_with_no_lease_open(everything):
    project, _, _ = everything
    assert project.outcomes == [("finished", "finished")]
    assert project.query(OPEN_PAGES) == []


def test_every_request_is_made_once_unless_it_says_otherwise(everything):
    _, site, _ = everything
    counts = Counter(site.paths)
    retried = 3  # RETRY_TIMES and the first
    assert counts == {
        "/robots.txt": 1,
        "/": 1,
        "/start-flaky": 2,
        "/twice": 1,
        "/repeated": 2,
        "/named": 1,
        "/meta": 1,
        "/headers": 1,
        "/post": 2,
        "/form": 1,
        "/moved": 1,
        "/landed": 1,
        "/moved-offsite": 1,
        "/flaky": 2,
        "/broken": retried,
        "/after/broken": 1,
        "/broken-without-errback": retried,
        "/missing": 1,
        "/wanted-missing": 1,
        "/down": retried,
        "/after/down": 1,
        "/down-async": retried,
        "/after/down-async": 1,
        "/down-raising": retried,
        "/down-returning": retried,
        "/down-without-errback": retried,
        "/async": 1,
        "/after-async": 1,
        "/coroutine": 1,
        "/after-coroutine": 1,
        "/raises": 1,
        "/raises-late": 1,
        "/before-raising": 1,
        "/copies-meta": 1,
        "/copied": 1,
        "/again": 2,
        "/none": 1,
    }


def test_callbacks_get_what_the_request_carried(everything):
    project, site, _ = everything
    found = items(project)
    assert {"name": "home", "title": "/", "at": site.origin + "/"} in found
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
    assert names["/twice"] == names["/landed"] == names["/flaky"] == names["/start-flaky"] == 1
    assert names["/repeated"] == 2
    assert names["again"] == names["async"] == names["coroutine"] == names["/copied"] == names["copies-meta"] == 1
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


def test_store_has_the_result_of_each_request(everything):
    project, site, _ = everything
    rows = project.query("SELECT url, state, reason FROM page ORDER BY id")
    last = {url.removeprefix(site.origin): (State(state), reason) for url, state, reason in rows}
    assert last["/"] == last["/landed"] == last["/copies-meta"] == last["/again"] == (State.DONE, None)
    assert last["/missing"] == last["/wanted-missing"] == (State.REFUSED, "status 404")
    assert last["/broken"] == (State.REFUSED, "status 500")
    assert last["/moved"] == (State.MOVED, f"replaced {site.origin}/landed")
    assert last["/moved-offsite"][0] == State.REFUSED
    assert last["/moved-offsite"][1].startswith("replaced_in_vain ")
    for path in ("/down", "/down-async", "/down-raising", "/down-returning", "/down-without-errback"):
        assert last[path] == (State.FAILED, "connection_failed"), path
    assert last["/raises"] == (State.FAILED, "spider_failed error ValueError on purpose")
    assert last["/raises-late"] == (State.FAILED, "spider_failed error ValueError on purpose, late")
    assert not any("offsite" in url for url, _, _ in rows if url.startswith("http://off"))


def test_site_is_available_although_some_of_its_pages_are_not(everything):
    project, site, _ = everything
    assert project.site(site.origin)["availability"] is None


def test_only_errors_of_the_spider_are_logged_as_errors(everything):
    _, _, log = everything
    errors = Counter(line.split(" ERROR: ")[1].split("<")[0] for line in log.splitlines() if " ERROR: " in line)
    assert errors == {"Spider error processing ": 3, "Error downloading ": 3, "Gave up retrying ": 7}


def test_dropped_and_failed_items_do_not_delay_the_end(tmp_path):
    project = project_in(tmp_path)
    with Web(site=anything) as web:
        run(project, web, "fateful")
        assert Counter(item["fate"] for item in items(project)) == {
            "pass": 60,
            "from start": 1,
            "from a middleware": 1,
        }
        assert project.outcomes == [("finished", "finished")]
        assert project.pages(web["site"].origin) == {"/": (State.DONE, "")}


def test_requests_that_a_middleware_refuses_or_replaces_end(tmp_path):
    project = project_in(tmp_path)
    with Web(site=anything) as web:
        run(project, web, "filtered")
        assert sorted(item["at"] for item in items(project)) == ["/instead", "/plain"]
        assert project.outcomes == [("finished", "finished")]
        found = project.pages(web["site"].origin)
        assert found["/refused"] == (State.FAILED, "error IgnoreRequest not today")
        assert found["/replaced"][0] == State.MOVED
        assert "/refused" not in web["site"].paths


def test_crawl_spider_follows_its_rules(tmp_path):
    project = project_in(tmp_path)
    bodies = {
        "/": links("/item/1", "/list", "/skip/1"),
        "/list": links("/item/2", "/item/1", "/list?page=2"),
        "/list?page=2": links("/item/3", "/"),
        **{f"/item/{n}": links("/", "/skip/2", f"/item/{n + 1}") for n in range(1, 5)},
        "/item/5": links("/skip/3"),
    }
    with Web(site=pages(bodies)) as web:
        run(project, web, "rules")
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
        outcome = project.run("crawl", *arguments)
        assert outcome.status == 0, outcome.log
        assert "Traceback" not in outcome.log
        assert "is resumed" in outcome.log
        assert outcome.log.count("Crawl tree is finished") == 1
        assert project.outcomes == [("finished", "finished")]
        done = project.pages(web["site"].origin)
        assert done == {f"/{n}": (State.DONE, "") for n in range(1, NODES + 1)}
        counts = Counter(web["site"].paths)
        assert counts["/robots.txt"] == 1
        assert counts.total() < NODES + 2 * 20  # a kill costs what was not committed: parallel ones, and a batch


def test_requests_that_were_only_in_memory_fail_with_a_reason_when_the_crawl_is_resumed(tmp_path):
    project = project_in(tmp_path)
    with Web(site=anything) as web:
        run(project, web, "keeping", SITE_PARALLEL=1, CLOSESPIDER_PAGECOUNT=2)
        assert project.outcomes[0][0] == "interrupted"
        run(project, web, "keeping")
        assert project.outcomes == [("finished", "finished")]
        lost = [path for path, (state, reason) in project.pages(web["site"].origin).items() if state == State.FAILED]
        assert set(lost) <= {"/object/0", "/object/1", "/object/2", "/function", "/tuple"}
        assert len(lost) >= 3
        assert {"at": "/plain", "kept": "list"} in items(project)


def test_requests_of_a_higher_priority_go_first(tmp_path):
    project = project_in(tmp_path)
    with Web(site=anything) as web:
        run(project, web, "priorities", SITE_PARALLEL=1)
        kinds = [path.split("/")[1] for path in web["site"].paths[2:]]
        assert kinds == ["high"] * 4 + ["middle"] * 4 + ["low"] * 4


def test_page_whose_callback_closes_the_spider_is_not_fetched_again(tmp_path):
    project = project_in(tmp_path)
    with Web(site=anything) as web:
        for _ in range(2):
            run(project, web, "enough", SITE_PARALLEL=1, CONCURRENT_REQUESTS=1)
        assert Counter(web["site"].paths[1:]) == {"/generator": 1, "/function": 1}
        assert {state for state, _ in project.pages(web["site"].origin).values()} == {State.DONE}

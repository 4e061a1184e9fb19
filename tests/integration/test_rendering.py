"""A real Chromium renders pages whose links exist only after their scripts ran: politely, and the same each time."""

import select
import shutil
import socket
from collections import Counter
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest

from crawlers.inputs.setting_readers import PROGRAMS
from crawlers.items import State
from tests.support.processes import until
from tests.support.running import Crawl, differences
from tests.support.services import unavailable
from tests.support.sites.scripted import NEVER, PLAIN, SHOWN, elsewhere, scripted
from tests.support.sites.server import Web, links

FIELDS = ";2;;0;render=playwright"
# No sitemaps, so that tests name each request; and far longer than any page takes, even on a busy machine.
SETTINGS = {"SITEMAPS_ENABLED": 0, "RENDER_TIMEOUT_SECONDS": 100}


@pytest.fixture(scope="module", autouse=True)
def chromium():
    if find_spec("playwright") is None:
        unavailable("no Playwright installed")
    if not any(map(shutil.which, PROGRAMS)):
        unavailable("no Chromium installed")


@pytest.fixture(scope="module")
def web():
    with Web(elsewhere=elsewhere, site=lambda exchange: scripted(web["elsewhere"].origin)(exchange)) as web:
        yield web


@pytest.fixture(scope="module")
def crawled(web, tmp_path_factory):
    """A crawl of the site, and the requests that it got."""
    web["site"].requests.clear()
    with Crawl(tmp_path_factory.mktemp("rendering") / "one", [web["site"].origin + FIELDS], **SETTINGS) as crawl:
        ended = crawl.run().done()
        assert "Traceback" not in ended.log
        yield crawl, list(web["site"].paths), ended


def pages_of(crawl, origin):
    rows = crawl.query("SELECT url, state, reason, status FROM page")
    return {url.removeprefix(origin): (State(state), reason, status) for url, state, reason, status in rows}


def test_links_that_scripts_insert_are_followed(web, crawled):
    crawl, _, ended = crawled
    found = pages_of(crawl, web["site"].origin)
    assert {path: found[path] for path in SHOWN} == dict.fromkeys(SHOWN, (State.DONE, None, 200))
    assert "/never" not in found
    assert "Pages are rendered by " in ended.log


def test_responses_are_recorded_as_without_a_browser(web, crawled, tmp_path):
    with Crawl(tmp_path / "plain", [web["site"].origin + ";2;;0"]) as plain:
        assert plain.run().status == 0
    expected, found = (pages_of(crawl, web["site"].origin) for crawl in (plain, crawled[0]))
    assert set(expected) == {"/", *PLAIN}, "without a browser, only these are found"
    assert {path for path, result in expected.items() if found[path] != result} <= {"/moving"}


def test_redirect_by_a_script_is_a_redirect(web, crawled):
    crawl, _, _ = crawled
    assert crawl.query(
        "SELECT moved.url, page.status FROM page JOIN page AS moved ON moved.id = page.moved_to"
        " WHERE page.url LIKE '%/moving'"
    ) == [(web["site"].origin + "/at-once", 200)]


def test_only_what_links_depend_on_is_requested_and_only_once(crawled):
    _, paths, _ = crawled
    assert not set(paths) & set(NEVER)
    assert set(Counter(paths).values()) == {1}
    assert {"/app.js", "/api/links", "/api/more"} < set(paths)


def test_other_hosts_are_asked_for_scripts_only_and_their_robots_txt_is_obeyed(web, crawled):
    assert set(web["elsewhere"].paths) == {"/robots.txt", "/allowed.js"}


def test_crawl_that_was_killed_has_the_same_results_and_leaves_no_browser(web, crawled, tmp_path):
    settings = {**SETTINGS, "RENDER": "playwright", "CONCURRENT_REQUESTS": 1, "STORE_BATCH_SECONDS": 0.001}
    with Crawl(tmp_path / "killed", [web["site"].origin], **settings) as other:
        run = other.start()
        assert run.until(lambda: other.stored > 2, "three pages")
        browsers = children(run.pid)
        run.kill()
        run.wait()
        assert browsers
        until(lambda: not any(is_alive(pid) for pid in browsers), "the end of the browser")
        assert other.run().status == 0
        assert other.states == ["finished"]
    first, second = crawled[0].tables(), other.tables()
    for tables in (first, second):
        del tables["site"]  # with the other limits
        # Scripts that race may insert the same elements in another order: their hashes are not compared.
        tables["page"] = Counter((*row[:10], *row[12:]) for row in tables["page"])
    assert differences(first, second) == []
    assert other.files() == crawled[0].files()


def children(pid):
    """Return the processes that descend from *pid*."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended in the meantime
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


ENDLESS = "<title>x</title><script>while (true) { }</script>"
BUFFERS = "<title>x</title><script>const all = []; while (true) all.push(new Uint8Array(1e7).fill(1));</script>"
LARGE = "<title>x</title><body><script>document.body.textContent = 'x'.repeat(3e6)</script>"


def pages_with(body):
    async def respond(exchange):
        await (exchange.page(body) if exchange.path == "/" else exchange.page(links(), 404))

    return respond


@pytest.fixture
def crawl_of(tmp_path):
    """Starts a site with one page, and returns it with a folder for its crawl."""
    with ExitStack() as stack:

        def opened(body, line=FIELDS, **settings):
            site = stack.enter_context(Web(site=pages_with(body)))["site"]
            crawl = Crawl(tmp_path / "crawl", [site.origin + line], **{**SETTINGS, **settings})
            return site, stack.enter_context(crawl)

        yield opened


@pytest.mark.parametrize(
    ("body", "timeout_s", "reason"),
    [(ENDLESS, 3, "rendering_timeout 3"), (BUFFERS, 100, "rendering_memory")],
    ids=["endless", "buffers"],
)
def test_hostile_page_gets_a_state_and_a_reason(crawl_of, body, timeout_s, reason):
    site, crawl = crawl_of(body, RENDER_TIMEOUT_SECONDS=timeout_s)
    ended = crawl.run()
    assert ended.status in (0, 3), ended.log
    assert "Traceback" not in ended.log
    assert site.paths == ["/robots.txt", "/"]
    found, why, _ = pages_of(crawl, site.origin)["/"]
    assert found is State.FAILED
    assert why.startswith(reason)


def test_browser_has_no_network_of_its_own(crawl_of):
    """WebRTC sends datagrams past the proxy, also to private addresses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener, socket.create_server(("127.0.0.1", 0)) as server:
        listener.bind(("127.0.0.1", 0))
        urls = [
            f"stun:127.0.0.1:{listener.getsockname()[1]}",
            f"turn:127.0.0.1:{server.getsockname()[1]}?transport=tcp",
        ]
        body = f"""<title>x</title><script>
            const peer = new RTCPeerConnection({{iceServers: {urls}.map(one =>
                ({{urls: one, username: "a", credential: "b"}}))}});
            peer.createDataChannel("x");
            peer.onicegatheringstatechange = () => document.title = peer.iceGatheringState;
            peer.createOffer().then(offer => peer.setLocalDescription(offer));
            for (let number = 0; number < 10; number++) fetch("/" + number);
        </script>"""
        # The page waits for its requests meanwhile.
        _, crawl = crawl_of(body, ";1;;200;render=playwright")
        assert crawl.run().status == 0
        assert crawl.query("SELECT title FROM page WHERE level = 0") in ([("complete",)], [("gathering",)])
        assert select.select([listener, server], [], [], 0)[0] == []


def test_sites_are_chosen_one_by_one_keep_their_delays_and_are_refused_large_pages(tmp_path):
    scripts = [f"/{number}.js" for number in range(5)]
    titled = pages_with("<title>x</title><script>document.title = 'rendered'</script>")

    async def slow(exchange):
        if exchange.path == "/":
            await exchange.page("".join(f"<script src={path}></script>" for path in scripts))
        else:
            await exchange.page("", 200 if exchange.path in scripts else 404, content_type="text/javascript")

    with Web(plain=titled, rendered=titled, large=pages_with(LARGE), slow=slow) as web:
        lines = {"plain": ";render=none", "slow": ";1;;200"}
        hosts = [web[name].origin + lines.get(name, "") for name in web.sites]
        settings = {**SETTINGS, "RENDER": "playwright", "DOWNLOAD_MAXSIZE": 2_000_000}
        with Crawl(tmp_path / "some", hosts, **settings) as crawl:
            assert crawl.run().status == 0
            titles = dict(crawl.query("SELECT url, title FROM page"))
            assert (titles[web["plain"].origin + "/"], titles[web["rendered"].origin + "/"]) == ("x", "rendered")
            large = pages_of(crawl, web["large"].origin)["/"]
            assert large[0] is State.REFUSED
            assert large[1].startswith("too_large_rendered")
        site = web["slow"]
        assert site.paths == ["/robots.txt", "/", *scripts]
        assert site.most_at_once == 1
        gaps_s = site.gaps_s[1:]
        assert sum(gaps_s) > 0.5 * 0.2 * len(gaps_s)  # not all of it: the first request may have arrived late


def test_page_on_which_the_browser_fails_does_not_end_the_crawl(crawl_of):
    script = "Object.defineProperty(document, 'documentElement', {get() { throw new Error('no launch \\ud800\\0'); }})"
    _, crawl = crawl_of(f"<title>x</title><script>{script}</script>", RETRY_TIMES=0)
    ended = crawl.run()
    assert "can't be started" not in ended.log
    assert crawl.query("SELECT state FROM page WHERE level = 0 AND reason LIKE '%no launch%'") == [(State.FAILED,)]


def test_browser_that_does_not_start_ends_the_crawl_with_one_sentence(tmp_path, crawl_of):
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    _, crawl = crawl_of("<title>x</title>", RENDER_BROWSER=str(broken))
    ended = crawl.run()
    assert ended.status not in (0, 3)
    assert "Chromium can't be started" in ended.log
    assert crawl.states == ["interrupted"]

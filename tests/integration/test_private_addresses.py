"""The web can't lead a crawl into private networks; a crawl of a private network needs no setting."""

import socket

import pytest

from crawlers.items import State
from tests.support.fake_dns import imaginary
from tests.support.processes import until
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

PUBLIC, PRIVATE = "127.0.0.1", "127.0.0.2"
NAMES = {
    "public.test": PUBLIC,
    "robots.test": PUBLIC,
    "rebound.test": PRIVATE,
    "office.test": "10.1.2.3",
    "localhost": PRIVATE,
    "intranet.test": PRIVATE,
}
FORMS = [  # of hosts, with the reason against them
    (PRIVATE, "private_address 127.0.0.2 loopback"),
    ("2130706434", "private_address 127.0.0.2 loopback"),
    ("0x7f.2", "private_address 127.0.0.2 loopback"),
    ("0177.0.0.2", "private_address 127.0.0.2 loopback"),
    ("[::1]", "private_address ::1 loopback"),
    ("[::ffff:127.0.0.2]", "private_address ::ffff:7f00:2 loopback"),
    ("localhost", "private_host localhost 127.0.0.2 loopback"),
    ("rebound.test", "private_host rebound.test 127.0.0.2 loopback"),
    ("office.test", "private_host office.test 10.1.2.3 private 10.0.0.0/8"),
    ("169.254.169.254", "private_address 169.254.169.254 link-local"),
    ("0.0.0.0", "private_address 0.0.0.0 unspecified"),
]


class Victim:
    """A service on the private address that must not be reached."""

    def __init__(self, port=0):
        self.port = port

    def __enter__(self):
        self._socket = socket.create_server((PRIVATE, self.port))
        self._socket.setblocking(False)
        self.port = self._socket.getsockname()[1]
        return self

    def __exit__(self, *_):
        self._socket.close()

    def was_reached(self):
        try:
            connection, _ = self._socket.accept()
        except BlockingIOError:
            return False
        connection.close()
        return True


def hostile(port):
    async def respond(exchange):
        host = exchange.request.headers["host"]
        if exchange.path == "/robots.txt" and host.startswith("robots.test"):
            await exchange.page(status=302, Location=f"http://{PRIVATE}:{port}/robots.txt")
        elif exchange.path == "/moved":
            await exchange.page(status=302, Location=f"http://{PRIVATE}:{port}/by-redirect")
        elif exchange.path == "/":
            hosts = (form for form, _ in FORMS)
            own = f"http://robots.test:{host.partition(':')[2]}/"
            await exchange.page(links("/moved", own, *(f"http://{form}:{port}/" for form in hosts)))
        else:
            await exchange.page(status=404)

    return respond


def crawl(folder, victim, meanwhile=lambda run: None, **settings):
    """Crawl the site that leads to *victim*, with all sites in the scope; return its project and log."""
    settings = {"DOWNLOAD_TIMEOUT": 5, "RETRY_TIMES": 0, "SCOPE": "all", "SITE_DELAY_SECONDS": 0, **settings}
    project = Project(folder, **settings)
    with Web(seed=hostile(victim.port)) as web:
        port = web["seed"].origin.rpartition(":")[2]
        hosts = f"hosts=http://public.test:{port}"
        run = project.start("crawl", "wide", "-a", hosts, before=imaginary(NAMES, PUBLIC), PAGE_BUDGET=40, **settings)
        meanwhile(run)
        ended = run.wait()
    return project, ended.log


@pytest.fixture(scope="module")
def refused(tmp_path_factory, http_client):
    with Victim() as victim:
        project, log = crawl(tmp_path_factory.mktemp("refused"), victim, HTTP_CLIENT=http_client)
        return project, log, victim.was_reached()


@pytest.mark.parametrize(("form", "reason"), FORMS)
def test_refused_urls_have_a_state_and_a_reason(refused, form, reason):
    project, _, _ = refused
    sites = project.query("SELECT site, robots_text FROM site")
    assert any((text or "").endswith(reason) for _, text in sites), sites


def test_pages_of_refused_hosts_are_rejected_and_their_addresses_are_not_connected_to(refused):
    project, log, was_reached = refused
    assert not was_reached
    assert "Traceback" not in log
    found = {url: page for url, page in project.pages().items() if PRIVATE in url}
    assert found
    assert {state for state, _ in found.values()} == {State.REJECTED}
    assert all("private_" in reason and reason.endswith(" loopback") for _, reason in found.values())
    assert "which is not public" in (project.folder / "logs/error_log.csv").read_text()


def test_setting_allows_private_addresses(tmp_path, http_client):
    with Victim() as victim:

        def reach(run):
            assert run.until(victim.was_reached, "a private connection")
            run.kill()

        crawl(tmp_path, victim, reach, REFUSE_PRIVATE_ADDRESSES=0, HTTP_CLIENT=http_client)


def test_intranet_is_crawled_without_a_setting(tmp_path, http_client):
    async def respond(exchange):
        own = "http://{}:" + exchange.request.headers["host"].rpartition(":")[2]
        await exchange.page(links(own.format("localhost") + "/x", own.format("rebound.test") + "/y"))

    with Web(seed=respond) as web:
        port = web["seed"].origin.rpartition(":")[2]
        project = Project(tmp_path, SCOPE="all", SITE_DELAY_SECONDS=0, PAGE_BUDGET=6, HTTP_CLIENT=http_client)
        names = dict.fromkeys(("intranet.test", "localhost", "rebound.test"), PUBLIC)
        run = project.start("crawl", "wide", "-a", f"hosts=http://intranet.test:{port}", before=imaginary(names))
        assert run.wait().status == 0
    hosts = {url.partition("//")[2].partition(":")[0] for url, (state, _) in project.pages().items() if state == 1}
    assert hosts == {"intranet.test", "localhost", "rebound.test"}


def test_site_that_was_public_is_not_private_after_a_kill_nor_in_the_next_crawl(tmp_path, http_client):
    project = Project(tmp_path, DOWNLOAD_TIMEOUT=5, RETRY_TIMES=0, HTTP_CLIENT=http_client)
    with Web(seed=pages({"/": "public"})) as web, Victim(int(web["seed"].origin.rpartition(":")[2])) as victim:
        origin = f"http://seed.test:{victim.port}"
        command = ("crawl", "plain", "-a", f"hosts={origin}")
        public, private = (imaginary({"seed.test": address}, PUBLIC) for address in (PUBLIC, PRIVATE))
        killed = project.start(*command, before=public, SITE_DELAY_SECONDS=1000)
        until(lambda: web["seed"].paths and project.site(origin)["robots_status"] is not None, "its robots.txt")
        killed.kill()
        killed.wait()
        for crawls in (1, 2):
            ended = project.start(*command, before=private, SITE_DELAY_SECONDS=0).wait()
            assert not victim.was_reached()
            assert project.query("SELECT count(*) FROM crawl WHERE ended_at IS NOT NULL") == [(crawls,)], ended.log
    assert project.pages(origin)["/"][0] is State.REJECTED, ended.log

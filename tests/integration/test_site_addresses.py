"""Sites with several addresses, sites that move to https or www, and crawls of a folder or of some URLs of a site."""

import networkx as nx
import pytest

from crawlers.files.atomic import file_stem
from crawlers.items import State
from tests.support.of_missions import needs
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

DONE, MOVED, REJECTED, WAITING = State.DONE, State.MOVED, State.REJECTED, State.WAITING
LIMITS = ";8;;0"


class Addresses(Project):
    """Crawls that must succeed, and read no sitemaps, so that tests name each request; see test_sitemaps.py."""

    def crawl(self, hosts, **settings):
        ended = super().crawl(hosts, SITEMAPS_ENABLED=0, **settings).done()
        return ended


@pytest.fixture
def project(tmp_path):
    return Addresses(tmp_path)


def named(origin):
    return file_stem(origin)


def moving(to, *, status=301, rest=None):
    """Return the handler of an address whose every path redirects to the same path of *to*()."""

    async def respond(exchange):
        if exchange.path == "/robots.txt":
            await exchange.page("", 404)
        elif rest is not None and exchange.path != "/":
            await rest(exchange)
        else:
            await exchange.page("", status, Location=to() + exchange.path)

    return respond


def stored(project, origin):
    """Return level and state of the pages of the site, by URL."""
    rows = project.query(
        "SELECT p.url, p.level, p.state FROM page p JOIN site s ON s.id = p.site_id WHERE s.site = :site", site=origin
    )
    return {url: (level, State(state)) for url, level, state in rows}


def graph(project, stem):
    return nx.read_gexf(project.folder / "result" / f"{stem}.gexf")


def edges(project, stem):
    read = graph(project, stem)
    names = dict(read.nodes("label"))
    return {(names[one], names[two]): int(weight) for one, two, weight in read.edges(data="weight")}


def external(project):
    rows = project.query("SELECT DISTINCT u.url FROM external_link e JOIN external_url u ON u.id = e.url_id")
    return sorted(url for (url,) in rows)


# Aliases ------------------------------------------------------------------------------------------------


def test_pages_of_an_alias_are_pages_of_the_site(project):
    bodies = {"a": {}, "b": {}}
    with Web(
        a=pages(bodies["a"]),
        b=pages(bodies["b"], robots="User-agent: *\nDisallow: /secret/\n"),
        c=pages({"/": "<title>C</title>"}),
    ) as web:
        a, b, c = (web[name].origin for name in "abc")
        bodies["a"] |= {
            "/": "<title>A</title>" + links("/x/", f"{b}/x/", f"{b}/y/", f"{c}/"),
            "/x/": "<title>X</title>" + links(f"{b}/x/", f"{b}/"),
            "/z/": "<title>Z</title>",
        }
        bodies["b"] |= {"/y/": "<title>Y</title>" + links("/secret/", f"{a}/z/", "/", "/x/?utm_source=y")}
        project.crawl(f"{a}{LIMITS};={b}")
        assert stored(project, a) == {
            f"{a}/": (0, DONE),
            f"{a}/x/": (1, DONE),
            f"{b}/y/": (1, DONE),
            f"{a}/z/": (2, DONE),
            f"{b}/secret/": (2, REJECTED),
        }
        assert web["b"].paths == ["/robots.txt", "/y/"]
        assert web["a"].paths == ["/robots.txt", "/", "/x/", "/z/"]
        assert external(project) == [f"{c}/"]
        assert [path.name for path in (project.folder / "result").glob("*.gexf")] == [f"{named(a)}.gexf"]
        assert edges(project, named(a)) == {
            (f"{a}/", f"{a}/x/"): 2,
            (f"{a}/", f"{b}/y/"): 1,
            (f"{a}/x/", f"{a}/"): 1,
            (f"{b}/y/", f"{a}/z/"): 1,
            (f"{b}/y/", f"{a}/"): 1,
            (f"{b}/y/", f"{a}/x/"): 1,
        }
        assert f"{a}/x/\n  page, since" in project.run("explain", f"{b}/x/").output


# Home pages that redirect -------------------------------------------------------------------------------


def test_home_page_that_redirects_to_another_address_is_followed(project):
    bodies = {}
    with Web(a=moving(lambda: b, status=302), b=pages(bodies)) as web:
        a, b = web["a"].origin, web["b"].origin
        bodies |= {"/": links("/x/", f"{a}/y/"), "/x/": links(f"{a}/", f"{a}/x/"), "/y/": "<title>Y</title>"}
        ended = project.crawl(f"{a};8;1;0")
        assert stored(project, a) == {f"{b}/": (0, DONE), f"{b}/x/": (1, DONE), f"{b}/y/": (1, DONE)}
        assert external(project) == []
        assert len(edges(project, named(a))) == 3
        assert ended.log.count(f"The home page of {a} redirects to {b}: the site is crawled there") == 1
        assert web["a"].paths == ["/robots.txt", "/", "/y/"]
        assert f"{b}/x/\n  page, since" in project.run("explain", f"{a}/x/").output


def test_chain_of_home_pages_ends_at_the_last_address(project):
    bodies = {}

    async def last(exchange):
        if exchange.path == "/":
            await exchange.page("", 302, Location="/en/")
        else:
            await pages(bodies)(exchange)

    with Web(a=moving(lambda: b), b=moving(lambda: c), c=last) as web:
        a, b, c = (web[name].origin for name in "abc")
        bodies |= {"/en/": links("/x/", f"{b}/x/", f"{a}/x/"), "/x/": links("/en/")}
        ended = project.crawl(f"{a}{LIMITS}")
        assert stored(project, a) == {f"{c}/": (0, MOVED), f"{c}/en/": (0, DONE), f"{c}/x/": (1, DONE)}
        assert ended.log.count("The home page of") == 1
        assert edges(project, named(a)) == {(f"{c}/en/", f"{c}/x/"): 3, (f"{c}/x/", f"{c}/en/"): 1}


def test_loop_of_home_pages_ends_with_a_reason(project):
    with Web(a=moving(lambda: b), b=moving(lambda: a)) as web:
        a, b = web["a"].origin, web["b"].origin
        project.run("crawl", "plain", "-a", f"hosts={a}{LIMITS}", SITEMAPS_ENABLED=0)
        ((state, reason),) = project.query("SELECT state, reason FROM page")
        assert (State(state), reason) == (State.FAILED, "many_redirects 20")
        assert web["a"].count("/") + web["b"].count("/") <= 22


# Folders ------------------------------------------------------------------------------------------------


def test_crawl_of_a_folder_stays_in_it(project):
    bodies = {}
    start = "/docs/index.html"
    with Web(a=pages(bodies), b=pages({})) as web:
        a, b = web["a"].origin, web["b"].origin
        bodies |= {
            start: links("/docs/a/", "/docs/b.html", "/blog/", "/", "/docs2/", f"{b}/", "/docs/../other/"),
            "/docs/a/": links("../", "/docs/c/", "/blog/x/"),
            "/docs/b.html": links("/blog/"),
            "/docs/c/": "<title>C</title>",
        }
        project.crawl(f"{a}{start}{LIMITS}")
        found = stored(project, a)
        read = {url.removeprefix(a) for url, (_, state) in found.items() if state is DONE}
        assert read == {start, "/docs/a/", "/docs/b.html", "/docs/c/"}
        reasons = {reason for _, reason in project.pages(a).values() if not reason.startswith("status")}
        assert reasons == {"", "outside_folder /docs/"}
        assert not {"/", "/blog/", "/docs2/", "/other/"} & set(web["a"].paths)
        assert external(project) == [f"{b}/"]
        assert len(graph(project, f"{named(a)}+docs")) == 4
        assert "outside of the folder /docs/" in project.run("explain", f"{a}/blog/").output


# Resumed crawls -----------------------------------------------------------------------------------------


def test_resumed_crawl_with_another_alias_is_that_of_a_crawl_that_began_with_it(project, tmp_path):
    bodies = {"a": {}, "b": {}}
    with Web(a=pages(bodies["a"]), b=pages(bodies["b"])) as web:
        a, b = web["a"].origin, web["b"].origin
        bodies["a"] |= {"/": links(f"{b}/x/", f"{b}/x", "/y/", "/z/"), "/y/": links(f"{b}/x/", "/x/"), "/z/": "Z"}
        bodies["b"] |= {"/x/": links("/w/", f"{a}/y/"), "/w/": "<title>W</title>"}
        fresh = Project(tmp_path / "fresh")
        fresh.crawl(f"{a}{LIMITS};={b}")
        one = {"CONCURRENT_REQUESTS": 1}
        project.crawl(f"{a}{LIMITS}", PAGE_BUDGET=2, **one)
        assert external(project) == [f"{b}/x", f"{b}/x/"]
        project.crawl(f"{a}{LIMITS};={b}", **one)
        assert external(project) == []
        assert edges(project, named(a)) == edges(fresh, named(a))
        assert stored(project, a) == stored(fresh, a)
        assert len(stored(project, a)) == 5


def test_removed_alias_is_not_requested_until_it_is_back(project):
    bodies = {"a": {}, "b": {}}
    with Web(a=pages(bodies["a"]), b=pages(bodies["b"])) as web:
        a, b = web["a"].origin, web["b"].origin
        bodies["a"] |= {"/": links(f"{b}/x/", "/y/", "/z/"), "/y/": links("/z/"), "/z/": "<title>Z</title>"}
        bodies["b"] |= {"/x/": links("/w/"), "/w/": "<title>W</title>"}
        one = {"CONCURRENT_REQUESTS": 1}
        project.crawl(f"{a}{LIMITS};={b}", PAGE_BUDGET=1, **one)
        project.crawl(f"{a}{LIMITS}", PAGE_BUDGET=2, **one)
        assert web["b"].paths == []
        assert project.pages()[f"{b}/x/"] == (REJECTED, f"other_address {b} {a}")
        project.crawl(f"{a}{LIMITS};={b}", **one)
        assert project.outcomes == [("finished", "finished")]
        assert web["b"].paths == ["/robots.txt", "/x/", "/w/"]
        assert {state for _, state in stored(project, a).values()} == {DONE}
        assert web["a"].paths == ["/robots.txt", "/", "/y/", "/z/"]


# Other missions -----------------------------------------------------------------------------------------


@needs("topic")
def test_root_of_a_topic_that_redirects_to_another_address_is_followed(project):
    bodies = {}
    with Web(a=moving(lambda: b), b=pages(bodies)) as web:
        a, b = web["a"].origin, web["b"].origin
        bodies |= {"/start/": links("/x/", f"{a}/y/"), "/x/": "<p>unicode</p>", "/y/": "<p>unicode</p>"}
        (project.folder / "topic.yaml").write_text(f"keywords: [unicode]\nroots: [{a}/start/]\n")
        settings = {"SITE_DELAY_SECONDS": 0, "SITEMAPS_ENABLED": 0, "URL_EXCLUDE": "/y/"}
        project.run("crawl", "topic", "-a", "topic=topic.yaml", **settings).done()
        assert stored(project, a) == {f"{b}/start/": (0, DONE), f"{b}/x/": (1, DONE), f"{a}/y/": (1, REJECTED)}

"""A harvest of external links: its budget, its rewards, its memory, and sites that can't be had."""

import pytest
from scrapy.settings import Settings

from crawlers.errors import ConfigError
from crawlers.items import State
from crawlers.spiders.extlinks import ExtLinksSpider
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

ONE = {"SITE_DELAY_SECONDS": 0, "CONCURRENT_REQUESTS": 1}
PULLS = """
    SELECT s.site, g.url, p.reward FROM pull p JOIN site s ON s.id = p.site_id JOIN page g ON g.id = p.page_id
    ORDER BY p.id"""
FOUND = "SELECT DISTINCT u.url FROM external_link e JOIN external_url u ON u.id = e.url_id"


def rich(number, per_page):
    """A home page and *number* pages with so many external links each, of which the first is on all of them."""
    bodies = {"/": links(*(f"/{n}.html" for n in range(number)))}
    for n in range(number):
        own = (f"http://x{n}-{i}.example/" for i in range(per_page - 1))
        bodies[f"/{n}.html"] = links("/", "http://everywhere.example/", *own)
    return bodies


def harvest(project, *arguments, **settings):
    return project.run("crawl", "extlinks", *arguments, **{**ONE, **settings})


def test_rule_reads_where_links_are_found(tmp_path):
    project = Project(tmp_path)
    with Web(poor=pages(rich(30, 1)), good=pages(rich(30, 6))) as web:
        ended = harvest(project, "-a", f"hosts={web.hosts()}", RULE="gittins", GITTINS_BATCH_PAGES=2, PAGE_BUDGET=30)
        poor, good = web["poor"].origin, web["good"].origin
    assert ended.status == 0
    pulls = project.query(PULLS)
    assert len(pulls) == 30
    assert sum(site == poor for site, _, _ in pulls) == 2
    assert [reward for site, _, reward in pulls if site == good][:4] == [0, 6, 5, 5]
    assert sum(reward for _, _, reward in pulls) == len(project.query(FOUND)) + 1  # everywhere is new once a site
    assert project.outcomes == [("interrupted", "page_budget")]
    earned = int(sum(reward for _, _, reward in pulls))
    assert ended.log.count("Crawl extlinks stopped (the page budget is used up): ") == 1
    assert f"Reward: {earned} new links of 30 downloads" in ended.log
    assert "To resume: run the same command with a larger PAGE_BUDGET" in ended.log


def test_failures_and_redirects_cost_and_what_is_never_asked_for_does_not(tmp_path):
    bodies = {"/": links("/missing", "/secret", "/paper.pdf", "/a")}

    async def respond(exchange):
        if exchange.path == "/a":
            await exchange.page("", 301, Location="/b")
        else:
            await pages(bodies, "User-agent: *\nDisallow: /secret")(exchange)

    project = Project(tmp_path)
    with Web(a=respond) as web:
        ended = harvest(project, "-a", f"hosts={web.hosts()}")
        origin = web["a"].origin
    assert ended.status == 0
    assert [url.removeprefix(origin) for _, url, _ in project.query(PULLS)] == ["/", "/missing", "/a", "/b"]
    assert project.outcomes == [("finished", "finished")]


def test_sites_of_the_store_come_before_those_of_hosts_txt(tmp_path):
    project = Project(tmp_path)
    with Web(a=pages(rich(2, 1)), b=pages(rich(2, 1))) as web:
        (tmp_path / "hosts.txt").write_text(web["b"].origin, "utf-8")
        assert project.run("sites", "add", web["a"].origin).status == 0
        assert harvest(project, PAGE_BUDGET=1).status == 0
        assert project.query("SELECT site FROM site") == [(web["a"].origin,)]
        assert project.run("sites", "disable", web["a"].origin).status == 0
        assert harvest(project, PAGE_BUDGET=1, CRAWL="file").status == 0
    assert project.query("SELECT site FROM site WHERE crawl_id = 2") == [(web["b"].origin,)]


def test_levels_frames_and_every_href_are_read(tmp_path):
    bodies = {f"/{n}.html": links(f"/{n + 1}.html") for n in range(1, 9)}
    bodies["/"] = links("/1.html") + '<link rel="alternate" href="http://alternate.example/"><area href="/area.html">'
    bodies["/area.html"] = '<frameset><frame src="/frame.html"></frameset>'
    bodies["/frame.html"] = links("http://framed.example/")
    project = Project(tmp_path)
    with Web(a=pages(bodies)) as web:
        harvest(project, "-a", f"hosts={web.hosts()}")
        states = project.pages(web["a"].origin)
    assert states["/5.html"][0] is State.DONE
    assert states["/6.html"] == (State.REJECTED, "too_deep 6 5")
    assert {url for (url,) in project.query(FOUND)} == {"http://alternate.example/", "http://framed.example/"}


@pytest.mark.parametrize("heals", [True, False])
def test_page_that_arrives_broken_is_read_again_in_another_way(tmp_path, heals):
    whole = links("http://first.example/", "http://second.example/").encode()

    async def respond(exchange):
        if exchange.path == "/robots.txt":
            await exchange.page("", 404)
        elif heals and exchange.request.headers.get("accept-encoding") == "identity":
            await exchange.page(whole)
        else:
            await exchange.head(Content_Length=len(whole) + 1000)
            await exchange.body(whole[: whole.index(b"second") - 20])

    project = Project(tmp_path, RETRY_BACKOFF_SECONDS=0.01)
    with Web(a=respond) as web:
        harvest(project, "-a", f"hosts={web.hosts()}")
        page = project.pages(web["a"].origin)["/"]
    found = {url for (url,) in project.query(FOUND)}
    assert page == (State.DONE, "" if heals else "body_cut")
    assert found == ({"http://first.example/", "http://second.example/"} if heals else {"http://first.example/"})


# Going on otherwise than before


def test_list_in_another_order_or_without_a_site_changes_nothing_of_what_was_learnt(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    with Web(a=pages(rich(12, 2)), b=pages(rich(12, 5)), c=pages(rich(12, 3))) as web:
        one, other = Project(tmp_path / "one", RULE="auto"), Project(tmp_path / "other", RULE="auto")
        for project, later in ((one, web.hosts()), (other, web.hosts("c", "a", "b"))):
            harvest(project, "-a", f"hosts={web.hosts()}", PAGE_BUDGET=8)
            assert harvest(project, "-a", f"hosts={later}", PAGE_BUDGET=20).status == 0
        assert other.query(PULLS) == one.query(PULLS)
        ended = harvest(other, "-a", f"hosts={web.hosts('a', 'c')}", PAGE_BUDGET=26).done()
        assert "left alone until they are listed again: 1 site with" in ended.log
        later = other.query(PULLS)[20:]
        assert len(later) == 6
        assert {site for site, _, _ in later} <= {web["a"].origin, web["c"].origin}


@pytest.mark.parametrize("at_once", [1, 8])
def test_levels_of_the_order_learnt_are_put_right_and_nothing_is_lost_behind_a_long_way(tmp_path, at_once):
    """A rich group leads down a chain; a poor page, read last, knows a short way into its middle."""
    bodies = {"/": links("/rich/1.html", *(f"/z{n}/x.html" for n in range(30)))}
    for n in range(1, 9):
        own = (f"http://e{n}-{i}.example/" for i in range(9))
        bodies[f"/rich/{n}.html"] = links(f"/rich/{n + 1}.html", *own)
    bodies |= {f"/z{n}/x.html": "" for n in range(29)}
    bodies["/z29/x.html"] = links("/rich/7.html")
    bodies["/rich/9.html"] = links("http://last.example/")
    project = Project(tmp_path)
    with Web(a=pages(bodies)) as web:
        settings = {"RULE": "auto", "ORDER": "learnt", "MAX_LEVEL": 4, "CONCURRENT_REQUESTS": at_once}
        harvest(project, "-a", f"hosts={web.hosts()}", **settings)
        rows = project.query("SELECT url, level, state FROM page WHERE url LIKE '%/rich/%' ORDER BY url")
        found = [(url.removeprefix(web["a"].origin), level, State(state)) for url, level, state in rows]
    levels = {1: 1, 2: 2, 3: 3, 4: 4, 7: 2, 8: 3, 9: 4}
    wanted = [(f"/rich/{n}.html", level, State.DONE) for n, level in levels.items()]
    assert found == sorted([*wanted, ("/rich/5.html", 5, State.REJECTED)])
    assert ("http://last.example/",) in project.query(FOUND)
    assert project.outcomes == [("finished", "finished")]


def test_missing_store_is_said_without_its_own_remedy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = Settings({"DATABASE_URL": "sqlite:///crawl.sqlite"})
    missing = f"no sites are given, and DATABASE_URL: {tmp_path / 'crawl.sqlite'} does not exist; "
    with pytest.raises(ConfigError, match=f"^{missing}(?!.*crawl first).*scrapy sites add URL$"):
        ExtLinksSpider.sites(None, settings)

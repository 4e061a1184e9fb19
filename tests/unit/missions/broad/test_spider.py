"""A broad crawl: what it is told wrongly, where it goes, and orders that it was not made for."""

from crawlers.items import State
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

QUICK = {"SITE_DELAY_SECONDS": 0, "STORE_BATCH_SECONDS": 0.01, "RETRY_TIMES": 0}


def broad(project, *arguments, **settings):
    return project.run("crawl", "broad", *arguments, **{**QUICK, **settings})


def moving(to):
    """A site whose page /1 has moved to the address in *to*."""

    async def respond(exchange):
        if exchange.path == "/1":
            await exchange.page(b"", 301, Location=to[0])
        else:
            await exchange.page(
                links("/1") if exchange.path == "/" else "missing", 200 if exchange.path == "/" else 404
            )

    return respond


def test_page_that_moved_to_another_site_of_the_scope_is_followed(tmp_path):
    project, to = Project(tmp_path), []
    with Web(a=moving(to), b=pages({"/here": "here"})) as web:
        to.append(f"{web['b'].origin}/here")
        broad(project, "-a", f"hosts={web['a'].origin}", SCOPE="all", PAGE_BUDGET=6)
        assert project.pages(web["a"].origin)["/1"][0] is State.MOVED
        assert project.pages(web["b"].origin)["/here"][0] is State.DONE


def test_site_is_available_if_its_home_page_is_whatever_leads_there_from_elsewhere(tmp_path):
    project, to = Project(tmp_path), []
    with Web(a=moving(to), b=pages({"/": links("/ok"), "/ok": "ok"})) as web:
        to.append(f"{web['b'].origin}/missing")
        broad(project, "-a", f"hosts={web.hosts()}", PAGE_BUDGET=12)
    assert dict(project.query("SELECT site, availability FROM site"))[web["b"].origin] is None


def test_home_page_that_vanished_and_is_looked_for_waits_once_when_the_crawl_goes_on(tmp_path):
    project, bodies = Project(tmp_path), {"/": links("/1"), "/1": links("/")}
    with Web(a=pages(bodies)) as web:
        broad(project, "-a", f"hosts={web.hosts()}", PAGE_BUDGET=6)
        del bodies["/"]
        broad(project, "-a", f"hosts={web.hosts()}", PAGE_BUDGET=16)
        broad(project, "-a", f"hosts={web.hosts()}", PAGE_BUDGET=20)
        assert project.pages(web["a"].origin)["/"][0] is State.REFUSED
    changes = project.query("SELECT state, status FROM page_change")
    assert changes == [(int(State.DONE), 200)]

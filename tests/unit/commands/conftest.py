"""Finished crawls for the tests of commands."""

import pytest

from tests.support.command_web import first
from tests.support.sites.server import Web, links, pages


@pytest.fixture(scope="session")
def crawled(tmp_path_factory, new_project):
    """A finished crawl of two sites that link to each other."""
    project = new_project(tmp_path_factory.mktemp("commands"))

    async def second(exchange):
        origin = web["first"].origin
        await pages({"/": links(f"{origin}/", f"{origin}/a.html", "/x"), "/x": "<p>x"})(exchange)

    with Web(first=first, second=second) as web:
        project.crawl(web.hosts(), CRAWL="mine").done()
    return project, web["first"].origin, web["second"].origin


@pytest.fixture(scope="session")
def broad(tmp_path_factory, new_project):
    """A broad crawl of two sites that link to each other; /news of the second one changed after the first visit."""
    project = new_project(tmp_path_factory.mktemp("broad"))

    async def second(exchange):
        url_history = "/old" if exchange.site.count("/news") == 1 else "/new"
        bodies = {"/": links(f"{web['first'].origin}/", "/news"), "/news": links("/", url_history)}
        await pages(bodies | {"/old": "<title>Old</title>", "/new": "<title>New</title>"})(exchange)

    async def home(exchange):
        await pages({"/": links(f"{web['second'].origin}/", f"{web['second'].origin}/news")})(exchange)

    with Web(first=home, second=second) as web:
        project.run("crawl", "wide", "-a", f"hosts={web.hosts()}", PAGE_BUDGET=40).done()
    return project, web["first"].origin, web["second"].origin

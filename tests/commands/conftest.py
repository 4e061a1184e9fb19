"""A finished crawl that the commands are asked about."""

from __future__ import annotations

import pytest

from tests.sites.project import Project
from tests.sites.server import Web, links, pages

from .web import first


@pytest.fixture(scope="session")
def crawled(tmp_path_factory):
    """A finished crawl of two sites that link to each other."""
    project = Project(tmp_path_factory.mktemp("commands"))

    async def second(exchange):
        origin = web["first"].origin
        await pages({"/": links(f"{origin}/", f"{origin}/a.html", "/x"), "/x": "<p>x"})(exchange)

    with Web(first=first, second=second) as web:
        outcome = project.crawl(web.hosts(), CRAWL="mine")
        assert outcome.status == 0, outcome.log
    return project, web["first"].origin, web["second"].origin

"""`scrapy sites alarms` and `list --sources` show the state of news sources."""

import pytest
from sqlalchemy import update

from crawlers.commands.sites import Command
from crawlers.missions.news.stored.news_tables import DiscoveredFeed
from crawlers.store.database import Database
from crawlers.store.schema.tables import seed, site
from tests.support.command_here import run_here
from tests.support.missions.news.news_store import OTHER, SITE, NewsStore
from tests.support.stored_rows import add_sites, execute

FAR = "http://feeds.example/one"


@pytest.fixture(scope="module")
def store(tmp_path_factory, new_project):
    """A crawl of two sources: one with a subdomain, a feed on another host and alarms, one without results."""
    project = new_project(tmp_path_factory.mktemp("news"))
    database = Database(project.database_url)
    crawl = NewsStore(database)
    execute(database, update(site).values(start_url="/"))
    execute(database, update(seed).where(seed.c.site == OTHER).values(enabled=True))
    crawl.alarm("dead feed", FAR, 86_400.0)
    crawl.alarm("dead feed", FAR, 60.0, 120.0)
    crawl.alarm("silent source", SITE, 0.0)
    crawl.write(DiscoveredFeed(SITE, FAR, "feed"))
    (below,) = add_sites(database, crawl.id, "http://sport.one.example")
    crawl.sites[below.site] = below.id
    crawl.document("/a", 86_400.0)
    crawl.document("/b", 90_000.0, site=below.site)
    database.close()
    return project.database_url


@pytest.fixture
def sites(store, capsys):
    def run(*arguments):
        assert run_here(Command(), store, *arguments) == 0
        return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]

    return run


def test_open_alarms_of_all_sources_or_one_are_shown(sites):
    heading, *alarms, more = sites("alarms")
    assert heading == "crawl raised (UTC) ended (UTC) alarm subject problem and remedy"
    assert alarms == [
        f"news 1970-01-02 00:00 - dead feed {FAR} see to it",
        f"news 1970-01-01 00:00 - silent source {SITE} see to it",
    ]
    assert more == "1 more has ended; --all shows them"
    assert sites("alarms", "one.example") == [heading, *alarms, more]
    ended = sites("alarms", "one.example", "--all")[2]
    assert ended == f"news 1970-01-01 00:01 1970-01-01 00:02 dead feed {FAR} see to it"
    assert sites("alarms", "two.example") == ["no open alarms"]


def test_sources_are_listed_with_their_results(sites):
    assert sites("list", "--sources") == [
        "number site enabled documents last one (UTC) feeds open alarms",
        f"1 {SITE} no 2 1970-01-02 01:00 1 2",
        f"2 {OTHER} yes 0 - 0 -",
    ]

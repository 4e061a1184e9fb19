"""News crawls of several processes, of which some are killed, while papers keep publishing."""

import random

import pytest

from bench.durability.news_kills import SETTINGS, CrewKiller, Witness, go_on, problems_of
from tests.support.missions.news.watched_press import WatchedPress

KILLS, SITES = 2, 3


@pytest.fixture
def press():
    with WatchedPress(3, SITES, 150, days=1) as press:
        yield press


def test_killed_workers_lose_no_article_and_store_none_twice(press, crawl_in, postgresql_url):
    crawl = crawl_in("press", (), spider="news", **SETTINGS, DATABASE_URL=postgresql_url)
    (crawl.folder / "sources.yaml").write_text(press.sources(), "utf-8")
    killer, witness = CrewKiller(crawl, press, random.Random(5), 120, 2), Witness(crawl, press)
    problems = []
    while killer.kills.total() < KILLS:
        killer.kill()
        problems += witness.look()
    killer.wait()
    go_on(crawl, press, 2)
    problems += witness.look() + problems_of(crawl, press, witness.announced, witness.sent)
    assert problems == []
    assert crawl.query("SELECT count(*) FROM site WHERE worker_id IS NOT NULL AND source_id IS NULL") == [(0,)]
    ((documents, total),) = crawl.query(
        "SELECT (SELECT count(*) FROM document), (SELECT max(total_documents) FROM iteration)"
    )
    assert total == documents > 0

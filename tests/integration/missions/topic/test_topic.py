"""A killed topic crawl continues with the pages that would have been next."""

import signal

import pytest

from tests.support.command_topic_web import LinkedSites
from tests.support.running import Project

SETTINGS = {"SITE_DELAY_SECONDS": 0, "CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": 0}
READ = "SELECT url FROM page WHERE fetched_at IS NOT NULL"
SCORES = """
    SELECT p.url, r.queue, r.score, r.anchor, r.level, r.rank FROM relevance r JOIN page p ON p.id = r.page_id
    ORDER BY p.url"""
SIMILARITIES = "SELECT p.url, t.similarity, t.terms FROM topic_page t JOIN page p ON p.id = t.page_id ORDER BY p.url"


@pytest.fixture(scope="module")
def sites():
    with LinkedSites(25) as served:
        yield served


def topic_crawl(folder, sites, **settings):
    """A project in *folder* with a topic over *sites*."""
    return sites.prepare(Project(folder, **{**SETTINGS, **settings}), strategy="mixed")


LINE = ("crawl", "topic", "-a", "topic=topic.yaml")


@pytest.fixture(scope="module")
def undisturbed(sites, tmp_path_factory):
    """Project and order of a crawl from its beginning to its end."""
    project = topic_crawl(tmp_path_factory.mktemp("whole") / "crawl", sites)
    sites.order.clear()
    project.start(*LINE, is_fresh=True).wait().done()
    assert project.outcomes == [("finished", "finished")]
    assert len(sites.order) == len(set(sites.order)) > 60
    return project, list(sites.order)


def test_after_a_kill_the_same_pages_come_next(sites, undisturbed, tmp_path):
    whole, order = undisturbed
    # So that nearly all that was read is stored.
    project = topic_crawl(tmp_path / "killed", sites, STORE_BATCH_SECONDS=0.001, PAGE_BUDGET=1000)
    sites.order.clear()
    run = project.start(*LINE)

    def kill():
        if len(sites.order) == 24:
            run.kill()
            run.wait()

    sites.on_request = kill
    assert run.wait().status == -signal.SIGKILL
    sites.on_request = lambda: None
    assert sites.order == order[:24]
    read = {url for (url,) in project.query(READ)}
    assert read == set(order[: len(read)])
    assert len(read) < 24

    sites.order.clear()
    project.run(*LINE).done()
    assert sites.order == order[len(read) :]
    assert project.outcomes == [("finished", "finished")]
    assert project.query(SCORES) == whole.query(SCORES)
    assert project.query(SIMILARITIES) == whole.query(SIMILARITIES)
    assert project.files()["topic.gexf"] == whole.files()["topic.gexf"]

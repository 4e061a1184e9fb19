"""A killed topic crawl continues with the pages that would have been next."""

from __future__ import annotations

import json
import random
import signal
from typing import TYPE_CHECKING

import pytest

from tests.support.sites.project import Project
from tests.support.sites.server import Web, pages

if TYPE_CHECKING:
    from tests.support.processes import Run

NAMES = ("a", "b", "c")
PAGES = 25  # of each site
ANCHORS = ("unicode", "unicode tables", "text and fonts", "kitchen", "garden of unicode", "weather")
SETTINGS = {"SITE_DELAY_SECONDS": 0, "CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": 0}
READ = "SELECT url FROM page WHERE state = 1"
SCORES = """
    SELECT p.url, r.queue, r.score, r.anchor, r.level, r.rank FROM relevance r JOIN page p ON p.id = r.page_id
    ORDER BY p.url"""
SIMILARITIES = "SELECT p.url, t.similarity, t.terms FROM topic_page t JOIN page p ON p.id = t.page_id ORDER BY p.url"


class LinkedSites:
    """Three sites with random links and various texts, which may kill the crawl that visits them."""

    def __init__(self):
        self.order: list[str] = []
        self.victim: Run | None = None
        self.kill_at = 0  # number of requests
        self.web = Web(**{name: self._site(name) for name in NAMES})

    def __enter__(self):
        self.web.__enter__()
        rng = random.Random(4)
        addresses = [f"{self.web[name].origin}/{number}" for name in NAMES for number in range(PAGES)]
        self.bodies = {name: {} for name in NAMES}
        for name in NAMES:
            for number in range(PAGES):
                links = "".join(f'<p><a href="{url}">{rng.choice(ANCHORS)}</a></p>' for url in rng.sample(addresses, 6))
                self.bodies[name][f"/{number}"] = f"<title>{name} {rng.choice(ANCHORS)}</title>{links}"
        return self

    def __exit__(self, *exit_):
        self.web.__exit__(*exit_)

    def _site(self, name):
        async def respond(exchange):
            self.order.append(self.web[name].origin + exchange.path)
            if self.victim is not None and len(self.order) == self.kill_at:
                self.victim.kill()
                self.victim.wait()
            await pages(self.bodies[name])(exchange)

        return respond


@pytest.fixture(scope="module")
def sites():
    with LinkedSites() as served:
        yield served


def topic_crawl(folder, sites, strategy):
    """A project in *folder* with a topic over *sites*."""
    folder.mkdir()
    origins = [sites.web[name].origin for name in NAMES]
    topic = {"keywords": ["unicode", "text"], "roots": [f"{origin}/0" for origin in origins], "strategy": strategy}
    (folder / "topic.yaml").write_text(json.dumps(topic), "utf-8")
    return Project(folder, **SETTINGS)


def files(folder):
    return {path.name: path.read_bytes() for path in (folder / "result").glob("*.gexf")}


LINE = ("crawl", "topic", "-a", "topic=topic.yaml")


@pytest.fixture(scope="module")
def undisturbed(sites, tmp_path_factory):
    """Project and order of a crawl from its beginning to its end."""
    project = topic_crawl(tmp_path_factory.mktemp("whole") / "crawl", sites, "mixed")
    sites.order.clear()
    outcome = project.start(*LINE, is_fresh=True).wait()
    assert outcome.status == 0, outcome.log
    assert project.states() == [("finished", "finished")]
    assert len(sites.order) == len(set(sites.order)) > 60
    return project, list(sites.order)


def test_after_a_kill_the_same_pages_come_next(sites, undisturbed, tmp_path):
    whole, order = undisturbed
    project = topic_crawl(tmp_path / "killed", sites, "mixed")
    # So that nearly all that was read is stored.
    project.settings = {**project.settings, "STORE_BATCH_SECONDS": 0.001, "PAGE_BUDGET": 1000}
    sites.order.clear()
    sites.kill_at = 24
    sites.victim = project.start(*LINE)
    assert sites.victim.wait().status == -signal.SIGKILL
    sites.victim = None
    assert sites.order == order[:24]
    read = {url for (url,) in project.query(READ)}
    assert read == set(order[: len(read)])
    assert len(read) < 24

    sites.order.clear()
    outcome = project.run(*LINE)
    assert outcome.status == 0, outcome.log
    assert sites.order == order[len(read) :]
    assert project.states() == [("finished", "finished")]
    assert project.query(SCORES) == whole.query(SCORES)
    assert project.query(SIMILARITIES) == whole.query(SIMILARITIES)
    assert files(project.folder) == files(whole.folder) != {}

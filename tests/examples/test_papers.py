"""A mission of the user's project: its crawl, its table, its setting and its report."""

import pytest

from crawlers.mission import missions
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

BODIES = {
    "/": links("/a", "/b"),
    "/a": "<title>A</title>" + links("/a.pdf", "http://x.test/B.PDF"),
    "/b": links("/b.csv"),
}
INSTALLED = next(iter(missions()), "")
MODULES = {"SPIDER_MODULES": "crawlers.spiders,examples.papers"}  # imported here, it would change other tests


def fresh(project, *words, **settings):
    """Run a command in a process that has imported nothing yet."""
    return project.start(*words, is_fresh=True, **MODULES, **settings).wait()


def test_mission_of_the_user_has_a_crawl_a_table_a_setting_and_a_report(tmp_path):
    project = Project(tmp_path, SITE_DELAY_SECONDS=0)
    with Web(site=pages(BODIES)) as web:
        project.crawl(web.hosts()).done()  # a store without its table
        fresh(project, "crawl", "papers", "-a", f"hosts={web.hosts()}", FILE_TYPES="pdf", PAGE_BUDGET=9).done()
        home = web["site"].origin
    assert project.query("SELECT url FROM file_link ORDER BY url") == [(f"{home}/a.pdf",), ("http://x.test/B.PDF",)]
    assert project.query("SELECT value FROM crawler_setting WHERE name = 'FILE_TYPES'") == [("pdf",)]
    assert project.query("SELECT sum(reward) FROM pull") == [(2.0,)]
    listed = fresh(project, "report", "files", "--crawl", "papers", "--format", "csv", FILE_TYPES="pdf").done()
    assert listed.output.splitlines()[1:] == [
        f"{file},{home}/a,A,{home}" for file in (f"{home}/a.pdf", "http://x.test/B.PDF")
    ]


def test_module_that_cannot_be_imported_is_one_sentence(tmp_path):
    outcome = Project(tmp_path).run("report", SPIDER_MODULES="papers_of_nobody.spiders")
    assert (outcome.status, len(outcome.errors)) == (2, 1)
    assert "SPIDER_MODULES" in outcome.errors[0]


OWN = """
from crawlers.crawl.run import Run
from crawlers.crawl.spec import crawl_of
from crawlers.mission import Mission, add
from crawlers.spiders.base import SiteSpider


class OwnRun(Run):
    def __init__(self, session):
        super().__init__(session.spec.reader, session.reader.run)

    {method}


class Own(SiteSpider):
    name = "own"

    def crawl_spec(self, settings):
        return crawl_of(self.name, self.sites(self.hosts, settings), settings, open=OwnRun)


add(Mission("{name}", package="", parts={{"reports": "{reports}"}}))
"""


@pytest.mark.parametrize(
    ("method", "words", "state"),
    [
        ("async def begin(self, fetch): 1 / 0", "own.OwnRun.begin: ZeroDivisionError", "interrupted"),
        ("async def step(self, others, now): 1 / 0", "own.OwnRun.step: ZeroDivisionError", "interrupted"),
        ("def decide(self, lease, page, now): 1 / 0", "own.OwnRun.decide: ZeroDivisionError", "interrupted"),
        ("def decide(self, lease, page, now): return 7", "own.OwnRun.decide: AttributeError 'int'", "interrupted"),
        ("async def close(self): 1 / 0", "own.OwnRun.close: ZeroDivisionError", "finished"),
    ],
    ids=["begin", "step", "decide", "rubbish", "close"],
)
def test_method_that_raises_is_named_in_one_sentence_and_ends_the_crawl(tmp_path, method, words, state):
    (tmp_path / "own.py").write_text(OWN.format(method=method, name="own", reports=""), "utf-8")
    delay_s = 0 if state == "finished" else 2  # longer than it takes until `step` is called
    project = Project(tmp_path, SPIDER_MODULES="crawlers.spiders,own", SITE_DELAY_SECONDS=delay_s)
    with Web(site=pages(BODIES)) as web:
        outcome = project.run("crawl", "own", web["site"].origin)
    assert (outcome.status, len(outcome.errors), project.states) == (1, 1, [state])
    assert f"the mission failed in {words}" in outcome.errors[0]
    assert outcome.errors[0].endswith("; correct it, or report it if it is not yours")
    assert outcome.log.count("Traceback") == 1
    if state == "interrupted":
        assert project.outcomes == [(state, "mission_failed")]


@pytest.mark.parametrize(
    ("command", "name", "reports", "words"),
    [
        (
            ["report"],
            "own",
            "nosuch",
            "the mission own names nosuch, which fails: No module named 'nosuch'; correct it",
        ),
        (["report"], INSTALLED, "", f"the mission {INSTALLED} is installed; give yours another name"),
        (["crawl", "own"], INSTALLED, "", f"the mission {INSTALLED} is installed; give yours another name"),
    ],
)
def test_declaration_that_cannot_be_used_is_one_sentence(tmp_path, command, name, reports, words):
    (tmp_path / "own.py").write_text(OWN.format(method="", name=name, reports=reports), "utf-8")
    outcome = Project(tmp_path).start(*command, is_fresh=True, SPIDER_MODULES="crawlers.spiders,own").wait()
    assert (outcome.status, outcome.errors) == (2, [f"Error: {words}"])
    assert "Traceback" not in outcome.log

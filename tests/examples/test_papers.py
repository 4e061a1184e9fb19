"""A mission of the user's project: its crawl, its table, its setting and its report."""

from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

BODIES = {
    "/": links("/a", "/b"),
    "/a": "<title>A</title>" + links("/a.pdf", "http://x.test/B.PDF"),
    "/b": links("/b.csv"),
}
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

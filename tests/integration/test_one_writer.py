"""During a crawl every row is written by the writer thread; the reactor does not wait for queries about news."""

import json
import re
import shutil

from tests.integration.test_news import url_history
from tests.support.executed_statements import FOLDER, REACTOR, READERS, WRITER, recorded
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

SETTINGS = {
    "SITE_DELAY_SECONDS": 0,
    "STORE_BATCH_SECONDS": 0.01,
    "EXTENSIONS": json.dumps({"tests.support.executed_statements.ExecutedStatements": 0}),
}
WRITES = ("BEGIN IMMEDIATE", "INSERT", "UPDATE", "DELETE")
LOOKED_UP = re.compile(r"(?:FROM|JOIN|INTO|UPDATE) (?:document|document_key|document_band|feed_item|url_rule)\b")


def ring(number, *other):
    """That many pages, each with links to the next one and to others."""
    return {("/" if n == 0 else f"/{n}"): links(f"/{n + 1}", *other) for n in range(number)}


def statements(project):
    """Threads and statements of the last run; all that write are the writer's."""
    executed = recorded(project.folder)
    shutil.rmtree(project.folder / FOLDER)
    assert {thread for thread, statement in executed if statement.startswith(WRITES)} == {WRITER}
    return executed


def wrote(executed, start):
    return any(statement.startswith(start) for _, statement in executed)


def test_sites_that_are_discovered_and_numbers_of_pages_are_reserved_and_written_by_the_writer(tmp_path):
    with Web(b=pages(ring(3)), c=pages(ring(3))) as found:
        others = [f"{found[name].origin}/" for name in "bc"]
        with Web(a=pages(ring(3, *others))) as web:
            project = Project(tmp_path, **SETTINGS, PAGE_BUDGET=12, SCOPE="all")
            assert project.run("crawl", "broad", "-a", f"hosts={web['a'].origin}").status == 0
    assert wrote(statements(project), "INSERT INTO site")
    assert len(project.query("SELECT * FROM site")) == 3


def test_levels_are_settled_by_the_writer(tmp_path):
    with Web(a=pages(ring(6))) as web:
        project = Project(tmp_path, **SETTINGS, ORDER="opic", MAX_LEVEL=3, GRAPH_FORMATS="")
        assert project.crawl(web["a"].origin).status == 0
    executed = statements(project)
    assert {thread for thread, statement in executed if statement.startswith("SELECT link.source_id")} == {WRITER}
    assert project.outcomes == [("finished", "finished")]


def test_topic_from_a_downloaded_example_is_written_by_the_writer(tmp_path):
    site = {**ring(4), "/example": "<title>Unicode</title><p>unicode fonts and encodings of unicode text"}
    with Web(a=pages(site)) as web:
        origin = web["a"].origin
        (tmp_path / "topic.yaml").write_text(f"examples: ['{origin}/example']\nroots: ['{origin}/']\n", "utf-8")
        project = Project(tmp_path, **SETTINGS)
        assert project.run("crawl", "topic", "-a", "topic=topic.yaml").status == 0
    assert wrote(statements(project), "INSERT INTO crawler_setting")


def paper():
    """Stories, most of them in sections and some in a feed, and pages that are not stories."""
    items = "".join(f"<item><title>Story {n}</title><link>/news/{n}-story.html</link></item>" for n in range(30, 50))
    found = [*(f"/news/{n}-story.html" for n in range(40)), *(f"/tag/{n}" for n in range(40))]
    return {
        "/": "<link rel=alternate type=application/rss+xml href=/feed.xml>" + links(*found),
        "/feed.xml": f"<rss version='2.0'><channel><title>Paper</title>{items}</channel></rss>",
        **{f"/news/{n}-story.html": url_history("paper", n % 45) for n in range(50)},  # the last five are copies
        **{f"/tag/{n}": links(*found[:30]) for n in range(40)},
    }


def test_news_are_queried_off_the_reactor_and_learnt_rules_are_written_by_the_writer(tmp_path):
    with Web(a=pages(paper())) as web:
        sources = f"sources:\n  - {{site: '{web['a'].origin}'}}\n"
        (tmp_path / "sources.yaml").write_text(sources, "utf-8")
        often = {"FEED_MIN_SECONDS": 0.1, "FEED_MAX_SECONDS": 0.2, "FEED_POLLS_PER_SECOND": 50}
        project = Project(tmp_path, **SETTINGS, **often, NEWS_ONCE=1, EXTRACTION_PROCESSES=1, NEWS_ALARM_HOURS=0.005)
        for _ in range(2):  # the second run polls the feed again
            assert project.run("crawl", "news", "-a", "sources=sources.yaml").status == 0
            looked_up = {thread for thread, statement in statements(project) if LOOKED_UP.search(statement)}
            assert REACTOR not in looked_up
            assert any(thread.startswith(READERS) for thread in looked_up)
    assert project.query("SELECT count(*) FROM document") == [(45,)]
    assert project.query("SELECT count(*) > 0 FROM url_rule WHERE origin = 'learnt'") == [(1,)]

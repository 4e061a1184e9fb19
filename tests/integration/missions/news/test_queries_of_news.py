"""The reactor does not wait for queries about news, and the writer writes what is learnt."""

import re

from tests.integration.missions.news.test_news import url_history
from tests.support.executed_statements import REACTOR, READERS
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages
from tests.support.written_by_one import SETTINGS, statements

LOOKED_UP = re.compile(r"(?:FROM|JOIN|INTO|UPDATE) (?:document|document_key|document_band|feed_item|url_rule)\b")


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

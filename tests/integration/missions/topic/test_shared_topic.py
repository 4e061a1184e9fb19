"""A topic crawl of two processes, which send each other links."""

from tests.integration.missions.topic.test_topic import LINE, READ, SIMILARITIES, topic_crawl
from tests.support.command_topic_web import LinkedSites
from tests.support.processes import until
from tests.support.running import add_on

OFTEN = {"ADDONS": add_on("FrequentStoreChecks")}  # so that sites are shared within few requests
TEXTS = "SELECT s.url, t.url FROM link_text l JOIN page s ON s.id = l.source_id JOIN page t ON t.id = l.target_id"
LINKS = "SELECT s.url, t.url, l.count FROM link l JOIN page s ON s.id = l.source_id JOIN page t ON t.id = l.target_id"


def test_topic_crawl_of_two_processes_reads_the_pages_and_links_of_one(tmp_path):
    with LinkedSites(25) as sites:
        whole = topic_crawl(tmp_path / "whole", sites)
        assert whole.run(*LINE).status == 0
        # So that the second one finds pages that wait.
        shared = topic_crawl(tmp_path / "shared", sites, **OFTEN, SITE_DELAY_SECONDS=0.1)
        sites.order.clear()
        runs = [shared.start(*LINE)]
        until(lambda: bool(sites.order), "the first request")
        with sites.web.held():
            runs.append(shared.start(*LINE))
            until(lambda: len(shared.query("SELECT id FROM worker")) == 2, "the second worker")
        ended = [run.wait() for run in runs]
        assert [one.status for one in ended] == [0, 0], "\n".join(one.log[-3000:] for one in ended)
        assert len(shared.query("SELECT id FROM worker WHERE pages > 0")) == 2
        for statement in (READ, TEXTS, LINKS, SIMILARITIES):
            assert sorted(shared.query(statement)) == sorted(whole.query(statement))
        assert shared.outcomes == whole.outcomes
        assert shared.query("SELECT count(*) FROM message") == [(0,)]

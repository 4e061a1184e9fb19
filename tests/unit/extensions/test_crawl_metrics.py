"""The metrics of a crawl, as Prometheus receives them; it is measured in small steps."""

import asyncio

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from crawlers import __version__
from crawlers.extensions.crawl_metrics import LATENESS_S, SUM_S, CrawlMetrics
from crawlers.items import SiteLimits, State
from tests.support.of_missions import needs

LATENESS = "crawlers_reactor_lateness_seconds"
AGE = ("crawlers_oldest_waiting_url_age_seconds", "")


class Measured:
    """A crawl of three sites, and its metrics at a time that the test sets."""

    def __init__(self, begin):
        sites = [SiteLimits(f"http://{name}.test") for name in "abc"]
        self.opened = begin(mission={"sites": sites}, CRAWL="night", SITE_PARALLEL=2)
        self.now = 0.0
        self.metrics = CrawlMetrics(self.opened.crawl, "plain", lambda: self.opened.stats, lambda: self.now)
        self.registry = CollectorRegistry()
        self.registry.register(self.metrics)

    def step(self, now, late_s=0.0):
        self.now = now
        self.metrics.step(late_s)

    def query(self):
        asyncio.run(self.metrics.query())

    def scraped(self):
        """Return the values by name and the metric's own labels."""
        found = {}
        for family in text_string_to_metric_families(generate_latest(self.registry).decode()):
            for sample in family.samples:
                labels = dict(sample.labels)
                assert (labels.pop("crawl"), labels.pop("worker")) == ("night", "1")
                found[sample.name, ",".join(labels.values())] = sample.value
        return found

    def urls(self):
        found = self.scraped()
        return [found["crawlers_urls", state] for state in ("waiting", "leased", "done", "failed")]


@pytest.fixture
def measured(begin):
    return Measured(begin)


def test_names_follow_the_conventions_and_every_value_is_there_from_the_start(measured):
    for metric in measured.metrics.collect():
        assert metric.name.startswith("crawlers_")
        assert metric.documentation.endswith(".")
    found = measured.scraped()
    assert found["crawlers_worker_info", f"plain,{__version__}"] == 1
    assert found["crawlers_pages_total", "not_modified"] == found["crawlers_robots_errors_total", ""] == 0
    assert AGE not in found


def test_stats_become_counters_every_second(measured):
    lease = measured.opened.lease()
    for now, leased in ((0.9, 0), (1.0, 1)):
        measured.step(now)
        assert measured.scraped()["crawlers_urls", "leased"] == leased
    measured.opened.end(lease, "/x", state=State.REFUSED, status=404)
    measured.opened.stats["downloader/response_bytes"] = 10**12
    measured.opened.crawl.session.writer.flush()
    measured.step(2.0)
    found = measured.scraped()
    assert found["crawlers_pages_total", "refused"] == found["crawlers_urls_found_total", ""] == 1
    assert found["crawlers_errors_total", "client_error"] == 1
    assert found["crawlers_received_bytes_total", ""] == 10**12
    assert found["crawlers_urls", "leased"] == found["crawlers_writer_queue_changes", ""] == 0
    decisions = [found["crawlers_rule_decisions_total", outcome] for outcome in ("chosen", "waited", "nothing_ready")]
    assert decisions == [1, 0, 0]
    assert found["crawlers_commit_seconds_count", ""] >= 1


@needs("news")
def test_stats_of_missions_become_counters(measured):
    measured.opened.stats["news/changed"] = 4
    measured.step(1.0)
    assert measured.scraped()["crawlers_documents_total", "changed"] == 4


def test_pages_are_counted_now_and_then_and_leased_urls_do_not_wait(measured):
    assert measured.urls() == [3, 0, 0, 0]
    measured.opened.end(measured.opened.lease(), "/1", "/2")
    leases = measured.opened.leases()
    measured.step(SUM_S - 1.0)
    assert measured.urls() == [0, 4, 0, 0], "the sum is older than the leases"
    measured.opened.end(leases[0])
    measured.step(SUM_S)
    assert measured.urls() == [0, 3, 2, 0]


def test_lateness_is_a_cumulative_histogram(measured):
    for late_s in (0.0, LATENESS_S[0], 0.3, 1000.0):
        measured.step(1.0, late_s)
    measured.step(2.0)
    found = measured.scraped()
    assert [found[f"{LATENESS}_bucket", le] for le in ("0.001", "0.25", "0.5", "30.0", "+Inf")] == [3, 3, 4, 4, 5]
    assert (found[f"{LATENESS}_count", ""], found[f"{LATENESS}_sum", ""]) == (5, 0.001 + 0.3 + 1000.0)


def test_store_that_can_not_be_read_ends_nothing(measured):
    measured.opened.crawl.session.writer.flush()
    measured.query()
    measured.step(1.0)
    assert AGE in measured.scraped()
    with measured.opened.crawl.session.database.write() as connection:
        connection.exec_driver_sql("ALTER TABLE page RENAME TO lost")
    measured.query()
    assert not measured.metrics.needs_query
    measured.step(2.0)
    assert AGE not in measured.scraped()

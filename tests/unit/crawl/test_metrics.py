"""The metrics of a snapshot, as Prometheus receives them."""

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from crawlers.crawl.metrics import LATENESS_S, METRICS, Lateness, Snapshot, SnapshotCollector
from crawlers.items import State

NOW = 1e9


def scraped(**fields):
    """Return the values by name and the metric's own labels."""
    snapshot = Snapshot(("night", "7"), "sitegraph", "1.0", **fields)
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(lambda: snapshot, lambda: NOW))
    found = {}
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        for sample in family.samples:
            labels = dict(sample.labels)
            assert (labels.pop("crawl"), labels.pop("worker")) == ("night", "7")
            found[sample.name, ",".join(labels.values())] = sample.value
    return found


def test_names_follow_the_conventions_and_every_value_is_there_from_the_start():
    for metric in METRICS:
        assert metric.name.startswith("crawlers_")
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        assert metric.help.endswith(".")
    found = scraped()
    assert found["crawlers_worker_info", "sitegraph,1.0"] == 1
    assert sum(found.values()) == 1
    assert {name for name, _ in found} >= {metric.name for metric in METRICS if metric.kind == "counter"}


def test_stats_become_counters():
    found = scraped(
        stats={"pages/done": 3, "errors/timeout": 2, "downloader/response_bytes": 10**12, "news/changed": 4}
    )
    assert found["crawlers_pages_total", "done"] == 3
    assert found["crawlers_pages_total", "not_modified"] == 0
    assert found["crawlers_errors_total", "timeout"] == 2
    assert found["crawlers_received_bytes_total", ""] == 10**12
    assert found["crawlers_documents_total", "changed"] == 4


def test_leased_urls_do_not_wait():
    pages = {State.WAITING: 10, State.DONE: 5}
    found = scraped(pages=pages, leases=4)
    assert [found["crawlers_urls", state] for state in ("waiting", "leased", "done", "failed")] == [6, 4, 5, 0]
    assert scraped(pages=pages, leases=11)["crawlers_urls", "waiting"] == 0, "the sum is older than the leases"


def test_lateness_is_a_cumulative_histogram():
    lateness = Lateness().plus(0.0).plus(LATENESS_S[0]).plus(0.3).plus(1000.0)
    found = scraped(lateness=lateness)
    name = "crawlers_reactor_lateness_seconds"
    assert [found[f"{name}_bucket", le] for le in ("0.001", "0.25", "0.5", "30.0", "+Inf")] == [2, 2, 3, 3, 4]
    assert found[f"{name}_count", ""] == 4
    assert found[f"{name}_sum", ""] == 0.001 + 0.3 + 1000.0

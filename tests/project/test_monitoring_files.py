"""The dashboard, the alerts and the page about metrics name what a worker exports, and nothing else."""

import asyncio
import json
import re
from functools import partial
from itertools import count
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest

from crawlers.extensions.crawl_metrics import LABELS, LOOK_S, CrawlMetrics
from crawlers.reasons import ErrorClass
from crawlers.store.worker_rows import Wait
from tests.support.of_missions import EVERY
from tests.support.opened_crawl import OpenedCrawl

pytestmark = EVERY  # whose counters it shows

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = json.loads((ROOT / "deploy/grafana/crawlers.json").read_text("utf-8"))
ALERTS = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text("utf-8"))
PAGE = (ROOT / "docs/how-to/metrics.md").read_text("utf-8")

OF_PROCESSES = {"process_resident_memory_bytes", "process_cpu_seconds_total"}  # of the library
OF_SCRAPES = {"job", "instance"}  # labels that Prometheus adds


class Exported:
    """What the *text* of a scrape has: the kind and help of each metric, and the labels of each sample with values."""

    def __init__(self, text):
        helps = dict(re.findall(r"^# HELP (\w+) (.*)$", text, re.MULTILINE))
        self.metrics = {
            name: (kind, helps[name]) for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE)
        }
        self.samples = {}
        for name, labels in re.findall(r"^(\w+)\{(.*)\} ", text, re.MULTILINE):
            for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
                self.samples.setdefault(name, {}).setdefault(label, set()).add(value)

    def labels(self, metric):
        """Return the labels of a metric of its own."""
        its = self.samples.get(metric) or self.samples[f"{metric}_count"]
        return tuple(label for label in its if label not in LABELS)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """What is exported of a crawl that has just begun."""
    opened = OpenedCrawl(f"sqlite:///{tmp_path_factory.mktemp('metrics')}/crawl.db")
    opened.crawl.session.writer.flush()
    metrics = CrawlMetrics(opened.crawl, "sitegraph", dict, partial(next, count(0.0, LOOK_S)))
    asyncio.run(metrics.query())
    metrics.step(0.0)
    opened.kill()
    registry = CollectorRegistry()
    registry.register(metrics)
    return Exported(generate_latest(registry).decode())


def expressions(node):
    """Yield all queries in a file of Grafana or Prometheus."""
    if isinstance(node, dict):
        yield from (value for name, value in node.items() if name in ("expr", "definition"))
        node = list(node.values())
    if isinstance(node, list):
        for one in node:
            yield from expressions(one)


QUERIES = [*expressions(DASHBOARD), *expressions(ALERTS)]


@pytest.mark.parametrize("query", QUERIES)
def test_query_names_exported_metrics_with_their_labels_and_values(exported, query):
    names = re.findall(r"\b(?:crawlers|process)_\w+", query)
    assert names
    for name in names:
        assert name in exported.samples or name in OF_PROCESSES
    for name, selector in re.findall(r"\b(crawlers_\w+)\{([^}]*)\}", query):
        for label, operator, text in re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', selector):
            assert label in exported.samples[name].keys() | OF_SCRAPES, (name, label)
            if label not in LABELS:
                known = exported.samples[name][label]
                assert set(text.split("|") if "~" in operator else [text]) <= known
    for grouped in re.findall(r"\bby \(([^)]*)\)", query):
        wanted = {label.strip() for label in grouped.split(",")}
        assert all(wanted <= exported.samples[name].keys() for name in names if name in exported.samples), query
    outside = re.sub(r'"[^"]*"', "", query)
    assert all(outside.count(left) == outside.count(right) for left, right in ("()", "[]", "{}"))


def test_rates_are_taken_of_counters_only_and_counters_are_never_shown_as_they_are(exported):
    growing = {name for name in exported.samples if name.endswith(("_total", "_bucket", "_sum", "_count"))}
    for query in QUERIES:
        rated = set(re.findall(r"\brate\((\w+)", query))
        assert rated <= growing | OF_PROCESSES
        assert {name for name in re.findall(r"\bcrawlers_\w+", query) if name in growing} <= rated


def test_every_metric_is_on_the_dashboard(exported):
    text = " ".join(expressions(DASHBOARD))
    assert [name for name in exported.metrics if name not in text] == []


def test_prometheus_reads_the_alerts_and_scrapes_the_documented_ports():
    configuration = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text("utf-8"))
    assert configuration["rule_files"] == ["alerts.yml"]
    (job,) = configuration["scrape_configs"]
    assert f'job="{job["job_name"]}"' in " ".join(QUERIES)
    (port,) = set(re.findall(r"METRICS_PORT=(\d+)", PAGE))
    assert job["static_configs"][0]["targets"][0] == f"127.0.0.1:{port}"


def test_documented_metrics_are_those_of_the_code(exported):
    rows = re.findall(r"^\| `(crawlers_\w+)` \| (\w+) \|(.*?)\| (.+) \|$", PAGE, re.MULTILINE)
    documented = [(name, kind, tuple(re.findall(r"`(\w+)`", labels)), text) for name, kind, labels, text in rows]
    assert documented == [(name, kind, exported.labels(name), text) for name, (kind, text) in exported.metrics.items()]


def test_documented_values_are_those_of_the_code():
    classes = PAGE.partition("classes of errors")[2].partition(".")[0]
    assert re.findall(r"`(\w+)`", classes) == list(ErrorClass)
    table = PAGE.partition("| `waits_for` | meaning |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [wait.name.lower() for wait in Wait]

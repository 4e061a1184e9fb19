"""The dashboard, the alerts and the page about metrics name what a worker exports, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from crawlers.crawl.metrics import HISTOGRAM, LABELS, METRICS, SUMMARY, Snapshot, families
from crawlers.reasons import ErrorClass
from crawlers.storage.worker_status import Wait

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = json.loads((ROOT / "deploy/grafana/crawlers.json").read_text("utf-8"))
ALERTS = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text("utf-8"))
PAGE = (ROOT / "docs/how-to/metrics.md").read_text("utf-8")

OF_PROCESSES = {"process_resident_memory_bytes", "process_cpu_seconds_total"}  # of the library
OF_SCRAPES = {"job", "instance"}  # labels that Prometheus adds
SAMPLES = {  # names in queries, with the labels that they have
    name: {*LABELS, *metric.labels, *(["le"] if metric.kind == HISTOGRAM else [])}
    for metric in METRICS
    for name in (
        [metric.name]
        if metric.kind not in (HISTOGRAM, SUMMARY)
        else [f"{metric.name}_{end}" for end in ("count", "sum", *(["bucket"] if metric.kind == HISTOGRAM else []))]
    )
}
EMPTY = Snapshot(("", ""), "", "", oldest_found_at=0.0)
VALUES = {  # the fixed values of each label of each metric
    (metric.name, label): {values[number] for values in metric.values(EMPTY, 0.0)}
    for metric in METRICS
    for number, label in enumerate(metric.labels)
}


def expressions(node):
    """Yield all queries in a file of Grafana or Prometheus."""
    if isinstance(node, dict):
        yield from (value for name, value in node.items() if name in ("expr", "definition"))
        node = list(node.values())
    if isinstance(node, list):
        for one in node:
            yield from expressions(one)


QUERIES = [*expressions(DASHBOARD), *expressions(ALERTS)]


def test_samples_are_those_that_are_exported():
    exported = {sample.name for family in families(EMPTY, 0.0) for sample in family.samples}
    assert exported == set(SAMPLES)


@pytest.mark.parametrize("query", QUERIES)
def test_query_names_exported_metrics_with_their_labels_and_values(query):
    names = re.findall(r"\b(?:crawlers|process)_\w+", query)
    assert names
    for name in names:
        assert name in SAMPLES or name in OF_PROCESSES
    for name, selector in re.findall(r"\b(crawlers_\w+)\{([^}]*)\}", query):
        for label, operator, text in re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', selector):
            assert label in SAMPLES[name] | OF_SCRAPES, (name, label)
            if label not in LABELS:
                known = VALUES[name, label]
                assert set(text.split("|") if "~" in operator else [text]) <= known
    for grouped in re.findall(r"\bby \(([^)]*)\)", query):
        wanted = {label.strip() for label in grouped.split(",")}
        assert all(wanted <= SAMPLES[name] for name in names if name in SAMPLES), query
    outside = re.sub(r'"[^"]*"', "", query)
    assert all(outside.count(left) == outside.count(right) for left, right in ("()", "[]", "{}"))


def test_rates_are_taken_of_counters_only_and_counters_are_never_shown_as_they_are():
    growing = {name for name in SAMPLES if name.endswith(("_total", "_bucket", "_sum", "_count"))}
    for query in QUERIES:
        rated = set(re.findall(r"\brate\((\w+)", query))
        assert rated <= growing | OF_PROCESSES
        assert {name for name in re.findall(r"\bcrawlers_\w+", query) if name in growing} <= rated


def test_every_metric_is_on_the_dashboard():
    text = " ".join(expressions(DASHBOARD))
    assert [metric.name for metric in METRICS if metric.name not in text] == []


def test_prometheus_reads_the_alerts_and_scrapes_the_documented_ports():
    configuration = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text("utf-8"))
    assert configuration["rule_files"] == ["alerts.yml"]
    (job,) = configuration["scrape_configs"]
    assert f'job="{job["job_name"]}"' in " ".join(QUERIES)
    (port,) = set(re.findall(r"METRICS_PORT=(\d+)", PAGE))
    assert job["static_configs"][0]["targets"][0] == f"127.0.0.1:{port}"


def test_documented_metrics_are_those_of_the_code():
    rows = re.findall(r"^\| `(crawlers_\w+)` \| (\w+) \|(.*?)\| (.+) \|$", PAGE, re.MULTILINE)
    documented = [(name, kind, tuple(re.findall(r"`(\w+)`", labels)), text) for name, kind, labels, text in rows]
    assert documented == [(metric.name, metric.kind, metric.labels, metric.help) for metric in METRICS]


def test_documented_values_are_those_of_the_code():
    classes = PAGE.partition("classes of errors")[2].partition(".")[0]
    assert re.findall(r"`(\w+)`", classes) == list(ErrorClass)
    table = PAGE.partition("| `waits_for` | meaning |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [wait.name.lower() for wait in Wait]

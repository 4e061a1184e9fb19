"""Every page of the panel is measured with a large store, or somebody says why not."""

from __future__ import annotations

import re
from collections import Counter

from starlette.routing import Match

from bench.scale.panel_store import MISSIONS, Size
from bench.scale.panel_walk import LEFT_OUT, TABLE, asked
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.reports.pictures.picture_registry import PICTURES
from crawlers.web.app import ROUTES

SIZE = Size(pages=1000, links=2, sites=10, listed=20)
SHOWN = {route.path for route in ROUTES if "GET" in route.methods}


def route_of(path):
    scope = {"type": "http", "path": path.partition("?")[0], "method": "GET", "headers": [], "root_path": ""}
    return next(route.path for route in ROUTES if route.matches(scope)[0] is Match.FULL)


def test_every_route_is_measured_or_left_out_for_a_reason():
    measured = {route_of(path) for _, path in asked(SIZE)}
    assert measured | set(LEFT_OUT) == SHOWN
    assert not measured & set(LEFT_OUT)
    assert all(LEFT_OUT.values())


def test_every_report_and_picture_is_measured_in_the_crawls_that_have_it():
    paths = Counter(path for _, path in asked(SIZE))
    assert max(paths.values()) == 1
    tables = {path.rpartition("/")[2] for kind, path in asked(SIZE) if kind == TABLE}
    assert tables == set(REPORTS)
    for number in MISSIONS:
        assert {f"/crawls/{number}/pictures/{name}" for name in PICTURES} <= set(paths)


def test_every_filter_is_measured():
    filters = {name for _, path in asked(SIZE) for name in re.findall(r"[?&](\w+)=", path) if "/reports/" in path}
    assert set().union(*(report.filters for report in REPORTS.values())) <= filters

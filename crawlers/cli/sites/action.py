"""The actions of `scrapy sites`, by which they are called and described."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from crawlers.mission import parts_of_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Action(NamedTuple):
    """An action: its function, its arguments, what it does, the numbers of its arguments, and its options."""

    function: str  # "module:name", which is imported when it runs: it takes settings, arguments, options
    arguments: str
    about: str
    least: int = 1
    most: int = sys.maxsize
    options: Sequence[str] = ()


_SEEDS = "crawlers.cli.sites.site_seeds"
OWN = {
    "add": Action(
        f"{_SEEDS}:add",
        "URL ...",
        "add seeds, or change existing ones",
        options=("name", "short", "parallel", "max_level", "delay"),
    ),
    "list": Action(
        f"{_SEEDS}:show",
        "",
        "print the enabled seeds, and what their latest crawl found",
        0,
        0,
        ("all", "sources"),
    ),
    "remove": Action(f"{_SEEDS}:remove", "SITE ...", "remove seeds; their crawls stay in the store"),
    "enable": Action(f"{_SEEDS}:enable", "SITE ...", "crawl these seeds again"),
    "disable": Action(f"{_SEEDS}:disable", "SITE ...", "leave these seeds out of crawls"),
    "import": Action(
        f"{_SEEDS}:import_file",
        "FILE",
        "add the seeds of a CSV table, hosts.txt or sources.yaml",
        1,
        1,
    ),
    "export": Action(f"{_SEEDS}:export", "[FILE]", "write all seeds as CSV", 0, 1),
}


@cache
def actions() -> Mapping[str, Action]:
    """Return all actions by name, with those that missions add."""
    added = parts_of_all("actions")
    return {name: action for some in (OWN, *added) for name, action in some.items()}

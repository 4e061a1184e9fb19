"""Every setting is declared here once: name, default, kind, help, group and reach.

Defaults, checks, files of settings, the form of the panel, what a crawl records and docs/reference/settings.md derive
from the declarations. Nothing here imports Scrapy or a database; a mission has its settings in its folder, and names of
registries above are looked up when somebody asks for choices. `python -m docs.references` writes the documentation.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from crawlers.options import of_crawls
from crawlers.options.kinds import Reach

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.options.kinds import Setting

SETTINGS: dict[str, Setting] = {}
# Those that people choose for a crawl, those that name files, and those that a crawl records of itself:
OFFERED: dict[str, Setting] = {}
OUTPUTS: list[str] = []
RECORDED: list[str] = []


def declare(settings: Iterable[Setting]) -> None:
    """Let the program know further settings."""
    for one in settings:
        SETTINGS[one.name] = one
        if one.reach is not Reach.MACHINE:
            OFFERED[one.name] = one
        if one.is_output:
            OUTPUTS.append(one.name)
        if one.reach is Reach.RESULTS:
            RECORDED.append(one.name)


for group in of_crawls.GROUPS:
    declare(group)
for found in iter_modules(import_module("crawlers.missions").__path__, "crawlers.missions."):
    if find_spec(f"{found.name}.options") is not None:
        declare(import_module(f"{found.name}.options").SETTINGS)
for group in of_crawls.GROUPS_AFTER_MISSIONS:
    declare(group)

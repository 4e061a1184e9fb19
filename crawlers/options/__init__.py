"""Every setting is declared here once: name, default, kind, help, group and reach.

Defaults, checks, files of settings, the form of the panel, what a crawl records and docs/reference/settings.md derive
from the declarations. Nothing here imports Scrapy, a database or other packages of the project; names of registries
above are looked up when somebody asks for choices. `python -m docs.references` writes the documentation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.options import of_crawls, of_news, of_outputs
from crawlers.options.kinds import Reach

if TYPE_CHECKING:
    from crawlers.options.kinds import Setting

_GROUPS = (*of_crawls.GROUPS, *of_news.GROUPS, *of_outputs.GROUPS)
SETTINGS: dict[str, Setting] = {one.name: one for group in _GROUPS for one in group}
# Those that people choose for a crawl, those that name files, and those that a crawl records of itself:
OFFERED = {name: one for name, one in SETTINGS.items() if one.reach is not Reach.MACHINE}
OUTPUTS = tuple(name for name, one in SETTINGS.items() if one.is_output)
RECORDED = tuple(name for name, one in SETTINGS.items() if one.reach is Reach.RESULTS)

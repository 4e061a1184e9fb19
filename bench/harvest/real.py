"""Real harvests, with the command that people use, one request in flight unless stated otherwise."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlers.ranking.link_features import LinkPrior

ROOT = Path(__file__).resolve().parents[2]
_PULLS = "SELECT s.site, p.reward FROM pull p JOIN site s ON s.id = p.site_id ORDER BY p.id"
_FOUND = "SELECT count(DISTINCT u.key), count(DISTINCT u.site) FROM external_url u"

Pull = tuple[str, float]  # site, reward


def harvest(
    hosts: Path, budget: int, weights: LinkPrior | None = None, **settings: object
) -> tuple[list[Pull], int, int]:
    """Return the pulls of a real run, and how many different external URLs and sites it stored.

    *weights*: with which ORDER=learnt begins, instead of those that come with the program.
    """
    with tempfile.TemporaryDirectory() as folder:
        if weights is not None:
            (Path(folder) / "weights.json").write_text(json.dumps(weights), "utf-8")
            settings["LINK_PRIOR"] = "weights.json" if weights else "none"
        command = [sys.executable, "-m", "scrapy", "crawl", "extlinks", "-a", f"hosts={hosts.resolve()}"]
        fixed = {"PAGE_BUDGET": budget, "CONCURRENT_REQUESTS": 1, "MAX_LEVEL": "", "LOG_LEVEL": "ERROR"}
        for name, value in {**fixed, "LINK_TAGS": "a,area,frame,iframe,meta", **settings}.items():
            command += ["-s", f"{name}={value}"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
        subprocess.run(command, cwd=folder, env=environment, check=True)
        with closing(sqlite3.connect(Path(folder) / "crawl.sqlite")) as connection:
            urls, sites = connection.execute(_FOUND).fetchone()
            return connection.execute(_PULLS).fetchall(), urls, sites

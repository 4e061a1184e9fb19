"""Runs scrapy commands for the demo, each in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from crawlers.demo.server import ROOT

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = ";8;;0"  # of hosts.txt: eight parallel downloads, no limit of levels, no delay

# The demo webs are local and need no delays; /busy and /hurried always refuse, so two attempts suffice.
_SETTINGS = {
    "LINK_TAGS": "a,area,frame,iframe,meta",
    "RETRY_REST_TIMES": "2",
    "SITE_DELAY_SECONDS": "0",
    "DATABASE_URL": "sqlite:///crawl.sqlite",
    "LOG_LEVEL": "WARNING",
    "LOG_FILE": "crawl.log",
}


def crawl(folder: Path, spider: str, argument: str, **settings: str) -> int:
    """Run the crawl in *folder*, with *argument* for -a; return its exit status."""
    return scrapy(folder, "crawl", spider, "-a", argument, **{**_SETTINGS, **settings})


def scrapy(folder: Path, *arguments: str, **settings: str) -> int:
    """Run a scrapy command in *folder*; return its exit status."""
    options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "crawlers.settings", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "scrapy", *arguments, *options]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode  # noqa: S603 - our own

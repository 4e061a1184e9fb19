"""Runs scrapy commands for the demo, each in its own process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.pages.pool import environment
from examples.webs import archive

if TYPE_CHECKING:
    from collections.abc import Mapping

# The demo webs are local and need no delays; /busy and /hurried always refuse, so two attempts suffice.
_SETTINGS = {
    "LINK_TAGS": "a,area,frame,iframe,meta",
    "RETRY_REST_TIMES": "2",
    "SITE_DELAY_SECONDS": "0",
    "DATABASE_URL": "sqlite:///crawl.sqlite",
    "LOG_LEVEL": "WARNING",
    "LOG_FILE": "crawl.log",
}


def hosts_lines(origins: Mapping[str, str]) -> str:
    """Return the host list of sites by name: eight parallel downloads, no delay, few levels if it is endless."""
    levels = {"archive": archive.LEVELS}
    return "".join(f"{origin};8;{levels.get(name, '')};0\n" for name, origin in origins.items())


def crawl(folder: Path, spider: str, argument: str, **settings: str) -> int:
    """Run the crawl in *folder*, with *argument* for -a; return its exit status."""
    options = [part for name, value in {**_SETTINGS, **settings}.items() for part in ("-s", f"{name}={value}")]
    return scrapy(folder, "crawl", spider, "-a", argument, *options)


def scrapy(folder: Path, *arguments: str, prints: bool = True) -> int:
    """Run a scrapy command in *folder*; return its exit status. Unless it *prints*, only errors are shown."""
    variables = {**environment(), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
    command = [sys.executable, "-m", "scrapy", *arguments]
    output = None if prints else subprocess.PIPE
    done = subprocess.run(command, cwd=folder, env=variables, stdout=output, stderr=output, check=False, text=True)
    if done.returncode and done.stderr:
        print(done.stderr, file=sys.stderr, end="")
    return done.returncode


def shown(path: Path) -> Path:
    """Return *path* as a user would write it: relative to the current folder if it is below."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path

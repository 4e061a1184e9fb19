"""One large site: what a page costs, memory, and how long a killed crawl takes to go on.

    python -m bench.speed.large [--pages 144000] [--killed-at 0.9] [FOLDER]

`scrapy crawl sitegraph` with everything that it does by default, on the site of `bench.speed.website`. It is killed
with kill -9 when it has read a share of the pages, and run again to its end; FOLDER keeps the store. Times are CPU
seconds of a process.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.speed.clock import CLOCK
from bench.speed.website import serve

ROOT = Path(__file__).resolve().parents[2]

CONCURRENCY = 16


def crawl(folder: Path, url: str, killed_at: int) -> None:
    """Run the crawl of *folder* to its end or to its kill; print its whole cost."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    settings = {"LOG_LEVEL": "INFO", "LOG_FILE": "crawl.log", "KILLED_AT": killed_at}
    settings["EXTENSIONS"] = json.dumps({"bench.speed.clock.Clock": 0})
    named = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
    hosts = f"hosts={url.rstrip('/')};{CONCURRENCY};;0"
    command = [sys.executable, "-m", "scrapy", "crawl", "sitegraph", "-a", hosts, *named]
    status = subprocess.run(command, cwd=folder, env=environment).returncode
    if status not in (0, -signal.SIGKILL):
        raise SystemExit((folder / "crawl.log").read_text("utf-8", "replace")[-2000:])
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    print(f"ended with status {status}: {cpu_s:.2f} s, {ended.ru_maxrss // 1024} MiB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--pages", type=int, default=144_000)
    parser.add_argument("--killed-at", type=float, default=0.9, help="share of the pages")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, serve(options.pages) as url:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        for killed_at in (int(options.pages * options.killed_at), 0):
            crawl(folder, url, killed_at)
        print((folder / CLOCK).read_text("utf-8"))


if __name__ == "__main__":
    main()

"""Processor time of whole site graphs, from prompt to graph, beside rivals that do less, in turn.

    python -m bench.speed.whole [--rounds 5] [--rivals afternoon plain] [URL ...]

Each run is a process: `scrapy crawl sitegraph` with everything that it does by default; `afternoon`, a script without
robots.txt, levels, duplicates and durability; `plain`, Scrapy's CrawlSpider, which stores nothing and gets by far the
slowest. Without URLs, the site of `bench.speed.website` is crawled. Figures are medians, in CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from bench.running import ROOT
from bench.speed.website import serve

CONCURRENCY = 16


def command_of(variant: str, url: str) -> list[str]:
    """Return the command that crawls the site of *url*."""
    if variant == "ours":
        return [sys.executable, "-m", "scrapy", "crawl", "sitegraph", "-s", "LOG_LEVEL=WARNING"]
    module, kind = ("afternoon", []) if variant == "afternoon" else ("rivals", [variant])
    return [sys.executable, "-m", f"bench.speed.{module}", *kind, url, str(CONCURRENCY)]


def cost(variant: str, url: str) -> tuple[float, float]:
    """Return CPU seconds and peak memory in MiB of one crawl. Raises `SystemExit` if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "hosts.txt").write_text(f"{url.rstrip('/')};{CONCURRENCY};;0\n", "utf-8")
        Path(folder, "scrapy.cfg").write_text("[settings]\ndefault = crawlers.settings\n", "utf-8")
        os.sync()  # so that no run pays for what another one wrote
        with Path(folder, "out.log").open("wb") as log:
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            run = subprocess.Popen(command_of(variant, url), cwd=folder, env=environment, stdout=log, stderr=log)
        _, status, usage = os.wait4(run.pid, 0)
        if status:
            sys.exit(f"{variant} {url}: {Path(folder, 'out.log').read_text('utf-8', 'replace')[-2000:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("urls", nargs="*", metavar="URL")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rivals", nargs="*", default=["afternoon", "plain"])
    options = parser.parse_args()
    variants = ["ours", *options.rivals]
    figures: dict[str, float] = {}
    with nullcontext(options.urls) if options.urls else serve() as served:
        for url in options.urls or [served]:
            rounds = [{variant: cost(variant, url) for variant in variants} for _ in range(options.rounds)]
            for variant in variants:
                cpu_s = statistics.median(one[variant][0] for one in rounds)
                peak_mib = max(one[variant][1] for one in rounds)
                ratio = statistics.median(one[variant][0] / one["ours"][0] for one in rounds)
                print(f"{url} {variant:<10} {cpu_s:7.2f} s {peak_mib:6.0f} MiB {ratio:6.2f} x ours", flush=True)
                figures |= {f"{variant}_cpu_s": round(cpu_s, 2), f"{variant}_ratio": round(ratio, 2)}
    print(json.dumps({"bench": "whole", **figures}))


if __name__ == "__main__":
    main()

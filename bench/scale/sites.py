"""Opens and resumes a crawl of many sites, without a request, and prints what it costs.

python -m bench.scale.sites [--sites 10000]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections import Counter
from pathlib import Path

from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.crawl.policy import CrawlPolicy
from crawlers.crawl.running_crawl import Crawl
from crawlers.crawl.spec import CrawlSpec
from crawlers.spiders.base import read_hosts


class _Stats:
    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def inc_value(self, key: str, count: int = 1) -> None:
        self._counts[key] += count


def _open(folder: Path) -> None:
    settings = Settings()
    settings.setmodule(defaults)
    own = {"DATABASE_URL": f"sqlite:///{folder / 'crawl.sqlite'}", "COMMON_LOG_FILE": "", "ERROR_LOG_FILE": ""}
    settings.update(own, priority="cmdline")
    spec = CrawlSpec("sitegraph", read_hosts(str(folder / "hosts.txt")))
    crawl = Crawl(
        *(settings, spec, lambda session, control: CrawlPolicy(), _Stats(), time.time),
        **{"stop": lambda reason: None, "wake": lambda: None, "versions": {}},
    )
    crawl.session.writer.flush()
    crawl.close("timeout", [])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale.sites", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sites", type=int, default=10_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sites-") as temporary:
        folder = Path(temporary)
        (folder / "hosts.txt").write_text("".join(f"http://h{n}.test;1;;0\n" for n in range(chosen.sites)), "utf-8")
        for what in ("begin", "resume"):
            began, cpu = time.perf_counter(), time.process_time()
            _open(folder)
            peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            seconds, cpu_s = time.perf_counter() - began, time.process_time() - cpu
            print(f"{what}: {seconds:.1f} s, {cpu_s:.1f} s of CPU time, {peak_mib} MiB at most", flush=True)


if __name__ == "__main__":
    main()

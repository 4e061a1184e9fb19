"""What the search for sitemaps costs a crawl of many small sites that have none.

    python -m bench.speed.sitemaps [--sites 5000] [--pages 5] [--pairs 4]

Crawls so many sites of a few small pages each, which nginx serves, with SITEMAPS_ENABLED=1 and 0 in turn: each site
gets one more request, for /sitemap.xml. Prints the ratios of seconds and of CPU seconds, with / without, of each pair,
and their geometric means with their intervals of 95 %.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from bench.running import cost_of, run
from bench.speed.many_sites import serve_sites
from bench.speed.panel_load import mean_ratio

PARALLEL = 64
TEXT = "<p>Some words about crawls, pages, links and sites.</p>\n" * 20


def small_pages(number: int) -> dict[str, bytes]:
    """Return a home page that links to the others, by path."""
    links = "".join(f'<a href="/{page}.html">Page {page}</a>' for page in range(1, number))
    bodies = {"/": links, **{f"/{page}.html": '<a href="/">Home</a>' for page in range(1, number)}}
    return {
        path: f"<!DOCTYPE html><title>Page {path}</title><body>{body}{TEXT}".encode() for path, body in bodies.items()
    }


def crawl(*, is_on: bool) -> None:
    """Crawl the sites of hosts.txt in this process."""
    from scrapy.settings import Settings

    from crawlers.spiders.sitegraph import SiteGraphSpider

    settings = Settings()
    settings.setmodule("crawlers.settings", priority="project")
    own = {"CONCURRENT_REQUESTS": PARALLEL, "LOG_FILE": "crawl.log", "GRAPH_FORMATS": [], "SITEMAPS_ENABLED": is_on}
    settings.setdict(own, priority="cmdline")
    run(SiteGraphSpider, settings, hosts="hosts.txt")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=5000)
    parser.add_argument("--pages", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--only", choices=("0", "1"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        crawl(is_on=options.only == "1")
        return 0
    seconds, cpu = [], []
    with serve_sites(options.sites, small_pages(options.pages)) as web:
        for pair in range(options.pairs):
            costs = {}
            for is_on in (False, True) if pair % 2 else (True, False):
                with tempfile.TemporaryDirectory() as folder:
                    hosts = "".join(f"{url};1;;0\n" for url in web.urls)
                    (Path(folder) / "hosts.txt").write_text(hosts, "utf-8")
                    costs[is_on] = cost_of(folder, "bench.speed.sitemaps", "--only", str(int(is_on)))
            with_it, without = costs[True], costs[False]
            seconds.append(with_it["seconds"] / without["seconds"])
            cpu.append(with_it["cpu_s"] / without["cpu_s"])
            answers = [f"{cost['answers']:.0f} responses in {cost['seconds']:.1f} s" for cost in (without, with_it)]
            shares = f"seconds {seconds[-1]:.3f}, CPU {cpu[-1]:.3f} of {without['cpu_s']:.1f} s"
            print(f"{answers[0]}; with sitemaps {answers[1]}: {shares}", flush=True)
    print(f"seconds: {mean_ratio(seconds)}")
    print(f"CPU seconds: {mean_ratio(cpu)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

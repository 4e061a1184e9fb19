"""Pages a second and CPU time of a page with each HTTP client, on sites that you name.

    python -m bench.speed.handlers --sites http://a.example/ http://b.example/ [--rounds 5] [--parallel 16]
        [--variants twisted curl]

Each round crawls each site once with each variant, in alternating order, with everything stored: `twisted` (Scrapy's
own client), `curl`, and both with uvloop if it is installed. Ratios are medians over rounds of one run; CPU time is the
steadier one on a shared machine. The variants must get equally many responses, else the exit status is 1. Without
--sites, the site of bench.speed.pages is crawled.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from contextlib import nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bench.running import cost_of, run
from bench.speed.website import serve

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIANTS = ("twisted", "curl", *(["twisted+uvloop", "curl+uvloop"] if find_spec("uvloop") else []))


def crawl(variant: str, url: str, parallel: int) -> None:
    """Crawl the site of *url* in this process, and print what it cost."""
    from scrapy.settings import Settings

    from crawlers.spiders.sitegraph import SiteGraphSpider

    client, _, loop = variant.partition("+")
    settings = Settings()
    settings.setmodule("crawlers.settings", priority="project")
    settings.setdict(
        {
            "CONCURRENT_REQUESTS": parallel,
            "LOG_FILE": "crawl.log",
            "GRAPH_FORMATS": [],
            "HTTP_CLIENT": client,
            "ASYNCIO_EVENT_LOOP": "uvloop.Loop" if loop else None,
        },
        priority="cmdline",
    )
    run(SiteGraphSpider, settings, hosts=f"{url};{parallel};;0")


def measured(variant: str, url: str, parallel: int) -> dict[str, float]:
    """Return what a crawl of the site of *url* cost, in a process of its own."""
    options = ("--only", variant, "--sites", url, "--parallel", str(parallel))
    with tempfile.TemporaryDirectory() as folder:
        return cost_of(folder, "bench.speed.handlers", *options)


def compare(url: str, variants: Sequence[str], rounds: int, parallel: int) -> bool:
    """Print a table for the site of *url*; return whether all variants got equally many responses."""
    runs: dict[str, list[dict[str, float]]] = {variant: [] for variant in variants}
    for number in range(rounds):
        for variant in variants if number % 2 == 0 else variants[::-1]:
            runs[variant].append(measured(variant, url, parallel))
    print(f"\n{url}")
    print(f"{'variant':<16} {'answers':>8} {'pages/s':>8} {'CPU ms':>7} {'as fast':>8} {'by CPU':>7} {'peak MiB':>9}")
    first = runs[variants[0]]
    for variant, own in runs.items():
        pairs = [*zip(first, own, strict=True)]
        print(
            f"{variant:<16} {own[0]['answers']:>8.0f}"
            f" {statistics.median(one['answers'] / one['seconds'] for one in own):>8.0f}"
            f" {statistics.median(1000 * one['cpu_s'] / one['answers'] for one in own):>7.2f}"
            f" {statistics.median(a['seconds'] / b['seconds'] for a, b in pairs):>8.2f}"
            f" {statistics.median(a['cpu_s'] / b['cpu_s'] for a, b in pairs):>7.2f}"
            f" {max(one['peak_mib'] for one in own):>9.0f}",
            flush=True,
        )
    return len({one["answers"] for own in runs.values() for one in own}) == 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sites", nargs="+", metavar="URL", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parallel", type=int, default=16, help="downloads at a time")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=VARIANTS, help="the first is the measure")
    parser.add_argument("--only", choices=VARIANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        crawl(options.only, options.sites[0], options.parallel)
        return 0
    with nullcontext(options.sites) if options.sites else serve() as sites:
        urls = [sites] if isinstance(sites, str) else sites
        equal = [compare(url, options.variants, options.rounds, options.parallel) for url in urls]
        return int(not all(equal))


if __name__ == "__main__":
    raise SystemExit(main())

"""Pages a second against stock Scrapy, side by side in one run: same site, concurrency, robots.txt.

    python -m bench.speed.pages [--rounds 3] [--concurrency 16] [--url http://site/]

Variants, interleaved: a CrawlSpider that stores nothing, one that stores its links in SQLite, ours with
everything stored, ours with no link stored (for the price of links), and a spider that only fetches the pages,
which it knows beforehand: what Scrapy itself costs (on our own site only). Ratios are medians over rounds; CPU
time is the steadier one on a shared machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from contextlib import nullcontext
from pathlib import Path

from bench.running import cost_of
from bench.speed.website import serve

VARIANTS = ("plain", "links", "ours", "ours-without-links", "floor")


def measure(variant: str, url: str, concurrency: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        result = cost_of(folder, "bench.speed.rivals", variant, url, str(concurrency))
        store = Path(folder) / "crawl.sqlite"
        result["store_bytes"] = store.stat().st_size if store.exists() else 0
        return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--url", help="measure on this site instead of our own")
    options = parser.parse_args()
    variants = VARIANTS[:-1] if options.url else VARIANTS
    with nullcontext(options.url) if options.url else serve() as url:
        rounds = [
            {variant: measure(variant, url, options.concurrency) for variant in variants} for _ in range(options.rounds)
        ]
    summary: dict[str, float] = {}
    print(f"{'variant':<20} {'answers':>8} {'pages/s':>8} {'CPU ms/page':>12} {'peak MiB':>9}")
    for variant in variants:
        runs = [r[variant] for r in rounds]
        per_s = statistics.median(r["answers"] / r["seconds"] for r in runs)
        cpu_ms = statistics.median(1000 * r["cpu_s"] / r["answers"] for r in runs)
        peak = max(r["peak_mib"] for r in runs)
        if variant == "ours":
            summary = {"pages_per_s": round(per_s), "cpu_ms_per_page": round(cpu_ms, 2), "peak_mib": peak}
        print(f"{variant:<20} {runs[0]['answers']:>8.0f} {per_s:>8.0f} {cpu_ms:>12.2f} {peak:>9.0f}")

    def ratio(a: str, b: str, what: str) -> float:
        return statistics.median((r[a][what] / r[a]["answers"]) / (r[b][what] / r[b]["answers"]) for r in rounds)

    summary |= {
        "times_as_fast_as_plain": round(ratio("plain", "ours", "seconds"), 2),
        "times_as_fast_as_links": round(ratio("links", "ours", "seconds"), 2),
        "cpu_ratio_plain": round(ratio("plain", "ours", "cpu_s"), 2),
        "cpu_ratio_links": round(ratio("links", "ours", "cpu_s"), 2),
        "price_of_links_percent": round(100 * (ratio("ours", "ours-without-links", "cpu_s") - 1), 1),
    }
    if not options.url:
        summary["share_of_floor"] = round(ratio("floor", "ours", "cpu_s"), 2)
    print(json.dumps({"bench": "speed", **summary}))


if __name__ == "__main__":
    main()

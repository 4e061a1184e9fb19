"""`make bench`: every measurement that needs no other sites, one after the other.

The last ones need nginx; redis_crawls also PostgreSQL, Redis and the package index; newcomer Chromium and that index.

Figures of absolute time mean little on a shared machine; the ratios do. See docs/measurements/performance.md.
"""

from __future__ import annotations

import subprocess
import sys

COMMANDS = (
    ["bench.speed.pages", "--rounds", "5"],
    ["bench.speed.handlers"],
    ["bench.speed.link_share"],
    ["bench.speed.middlewares"],
    ["bench.speed.frontier_memory"],
    ["bench.speed.site_rules"],
    ["bench.ranking.importance", "--pages", "10000"],
    ["bench.scale.importance_store"],
    ["bench.news.url_rules", "--seeds", "5"],
    ["bench.news.feeds", "--seeds", "1", "--polls", "0.5,1"],
    ["bench.quality.duplicates", "documents", "--pages", "20000", "--domains", "20"],
    ["bench.quality.duplicates", "keys", "--keys", "1000000"],
    ["bench.scale.row_sizes", "--pages", "50000"],
    ["bench.scale.messages", "--sites", "10000", "--workers", "10", "--backlog", "20000"],
    ["bench.scale.graph_dataset", "--pages", "200000", "--links", "2000000"],
    ["bench.scale.panel", "--rounds", "5"],
    ["bench.speed.panel_load"],
    ["bench.speed.page_index"],
    ["bench.scale.growth", "--documents", "100000", "--links", "5000000"],
    ["bench.news.press", "bench-out/press", "--pages", "5000"],
    [
        "bench.news.live_feeds",
        "bench-out/live",
        "--feeds",
        "500",
        "--minutes",
        "8",
        "--per-second",
        "2",
        "--polls",
        "10",
    ],
    ["bench.speed.graph_writing"],
    ["bench.speed.layouts"],
    ["bench.durability.kills", "--kills", "500"],
    ["bench.quality.frontier"],
    ["bench.quality.hostile_servers"],
    ["bench.quality.shared_cash"],
    ["bench.durability.news_kills", "--kills", "50"],
    ["bench.quality.workers", "--faults", "20"],
    ["bench.quality.workers", "--store", "postgresql", "--mode", "cut", "--faults", "4"],
    ["bench.quality.workers", "--store", "postgresql", "--mode", "restart", "--faults", "4"],
    ["bench.quality.workers", "--store", "postgresql", "--mode", "gone", "--faults", "2"],
    ["bench.speed.workers", "--sites", "6", "--rounds", "1", "--stores", "sqlite"],
    ["bench.speed.redis_crawls", "--sites", "3", "--rounds", "1", "--waiting", "10000"],
    ["bench.quality.worker_links", "--budgets", "600", "--seeds", "1"],
    ["bench.speed.newcomer"],
)


def main() -> int:
    worst = 0
    for command in COMMANDS:
        print(f"\n== python -m {' '.join(command)}", flush=True)
        worst = max(worst, subprocess.run([sys.executable, "-m", *command], check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())

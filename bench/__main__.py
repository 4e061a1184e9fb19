"""`make bench`: every measurement that needs nothing but this project, one after the other.

Figures of absolute time mean little on a shared machine; the ratios do. See docs/measurements/performance.md.
"""

from __future__ import annotations

import subprocess
import sys

COMMANDS = (
    ["bench.speed", "--rounds", "5"],
    ["bench.frontier"],
    ["bench.rules"],
    ["bench.importance", "--pages", "10000"],
    ["bench.importance_store"],
    ["bench.url_rules", "--seeds", "5"],
    ["bench.feeds", "--seeds", "1", "--polls", "0.5,1"],
    ["bench.duplicates", "documents", "--pages", "20000", "--domains", "20"],
    ["bench.duplicates", "keys", "--keys", "1000000"],
    ["bench.growth", "--documents", "100000", "--links", "5000000"],
    ["bench.press", "bench-out/press", "--pages", "5000"],
    ["bench.live_feeds", "bench-out/live", "--feeds", "500", "--minutes", "8", "--per-second", "2", "--polls", "10"],
    ["bench.graph_writing"],
    ["bench.kills", "--kills", "500"],
    ["bench.news_kills", "--kills", "50"],
)


def main() -> int:
    worst = 0
    for command in COMMANDS:
        print(f"\n== python -m {' '.join(command)}", flush=True)
        worst = max(worst, subprocess.run([sys.executable, "-m", *command], check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())

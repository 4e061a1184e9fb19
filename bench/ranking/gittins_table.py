"""Makes crawlers/algorithms/bandits/gittins_poisson.json, which the rule `gittins-index` reads, and measures its
errors.

    python -m bench.ranking.gittins_table [--points 200] [--check]

With --check the table is left as it is. The error is that of the index read from the table against the index by
calibration, at random shapes and rates, in standard deviations of the posterior mean and relative to the index.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from pathlib import Path

from bench.ranking.gittins_index import gittins_poisson
from crawlers.algorithms.bandits import gittins_rule
from crawlers.algorithms.bandits.gittins_rule import TABLE, optimism_table

DISCOUNT = 0.99
SHAPES = [2**k for k in range(9)]
RATES = [2**k for k in range(13)]


def make() -> None:
    """Write the table."""
    rows = []
    for b in RATES:
        rows.append([round((gittins_poisson(a, b, DISCOUNT) - a / b) * b / math.sqrt(a), 5) for a in SHAPES])
        print(b, *rows[-1], flush=True)
    table = {"made_by": "python -m bench.ranking.gittins_table", "discount": DISCOUNT, "a": SHAPES, "b": RATES}
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    head = json.dumps(table)[:-1]
    path = Path(gittins_rule.__file__).parent / TABLE
    path.write_text(f'{head},\n "optimism": [\n{lines}\n]}}\n', "utf-8")


def check(points: int) -> dict[str, float]:
    """The largest errors at random points: shapes 1 to 1000, rates 1 to 10,000, means up to 100."""
    rng = random.Random(0)
    deviations, relative = 0.0, 0.0
    for _ in range(points):
        b = 10 ** rng.uniform(0, 4)
        a = 10 ** rng.uniform(0, min(3, 2 + math.log10(b)))
        exact = gittins_poisson(a, b, DISCOUNT)
        error = abs(optimism_table().index(a, b) - exact)
        deviations = max(deviations, error * b / math.sqrt(a))
        relative = max(relative, error / exact)
    return {"points": points, "deviations": round(deviations, 4), "relative": round(relative, 5)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if not arguments.check:
        make()
    print(json.dumps(check(arguments.points)))


if __name__ == "__main__":
    main()

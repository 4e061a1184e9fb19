"""Measures the largest robots.txt that are obeyed: seconds to read one, and to compare it with a URL of 2 kB.

python -m bench.speed.hostile_robots
"""

from __future__ import annotations

import time
from itertools import product
from string import ascii_lowercase

from crawlers.extraction.robots_rules import MAX_BYTES, MAX_WILDCARDS, RobotsRules, robots_text

WORDS = ["".join(letters) for letters in product(ascii_lowercase, repeat=4)]
URL = "http://a.test/" + "ab" * 1000 + "%24"
MILLION = 1_000_000


def files() -> dict[str, str]:
    """Return the files by description."""
    most = WORDS[: MAX_WILDCARDS - 1]
    return {
        "10^6 rules full of wildcards": "".join(f"Disallow: /*{n}*$\n" for n in range(MILLION)),
        "10^6 rules without wildcards": "".join(f"Disallow: /{n}\n" for n in range(MILLION)),
        "the most wildcards": "".join(f"Disallow: /*{word}*{word}$\n" for word in most),
        "the slowest wildcards": "".join(f"Disallow: *{'ab' * 30}b*{word}$\n" for word in most),
        "one rule of 500 kB": f"Disallow: /{'*a' * 249_000}\n",
        "many agents": "".join(f"User-agent: a{n}\n" for n in range(12_000)) + "Disallow: /*a$\n" * MILLION,
    }


def main() -> None:
    print(f"{'robots.txt':30} {'MB':>5} {'read s':>8} {'URL ms':>8}  result")
    for name, rules in files().items():
        body = f"User-agent: *\n{rules}".encode()
        begin = time.perf_counter()
        parsed = RobotsRules(200, robots_text(body), "crawlers")
        parsed.reason_against(URL)
        read_s = time.perf_counter() - begin
        begin = time.perf_counter()
        for _ in range(5):
            reason = parsed.reason_against(URL)
        url_ms = (time.perf_counter() - begin) / 5 * 1000
        print(f"{name:30} {len(body) / 1e6:5.1f} {read_s:8.3f} {url_ms:8.2f}  {reason or 'allowed'}")
    print(f"read: the first {MAX_BYTES:,} bytes")


if __name__ == "__main__":
    main()

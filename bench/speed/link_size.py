"""Bytes of disk that a stored link takes.

python -m bench.speed.link_size crawl.sqlite
"""

from __future__ import annotations

import json
import sqlite3
import sys


def main() -> None:
    with sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True) as connection:
        sizes = dict(connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
        links, instances = connection.execute("SELECT count(*), sum(count) FROM link").fetchone()
        pages = connection.execute("SELECT count(*) FROM page").fetchone()[0]
    total = sum(sizes.values())
    for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:8]:
        print(f"{name:<16} {size:>12,} bytes")
    print(
        json.dumps(
            {
                "bench": "link_size",
                "pages": pages,
                "links": links,
                "link_instances": instances,
                "bytes_per_link": round(sizes["link"] / links, 2),
                "bytes_per_page_without_links": round((total - sizes["link"]) / pages, 1),
            }
        )
    )


if __name__ == "__main__":
    main()

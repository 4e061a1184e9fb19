"""Compares the external links of a crawl with independently computed ones.

    python -m bench.quality.external_links TRUTH STORE SITE...

TRUTH/SITE.ext.csv: src, url, a line for each page and external URL on it; TRUTH/SITE.nodes.csv as for
`bench.quality.accuracy`. STORE: the SQLite file of a crawl of whole sites, made with
LINK_TAGS=a,area,frame,iframe,meta. URLs are compared as found, after escapes, dots and ports are normalised by
the standard library. Exit status 1 if anything differs; every difference is printed with the URLs concerned.
"""

from __future__ import annotations

import csv
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from bench.quality.accuracy import SHOWN, canonical

_LINKS = """
    SELECT DISTINCT p.url, u.url FROM page p JOIN site s ON s.id = p.site_id
    JOIN external_link e ON e.page_id = p.id JOIN external_url u ON u.id = e.url_id
    WHERE p.state = 1 AND s.site LIKE :site"""
_PAGES = "SELECT p.url FROM page p JOIN site s ON s.id = p.site_id WHERE p.state = 1 AND s.site LIKE :site"

Pairs = set[tuple[str, str]]


def external(url: str) -> str:
    """`canonical`, and without a port that is empty or the scheme's own: `http://http://x` has an empty one."""
    parts = urlsplit(canonical(url))
    port = {"http": ":80", "https": ":443"}[parts.scheme]
    return parts._replace(netloc=parts.netloc.removesuffix(port).removesuffix(":")).geturl()


def read_truth(folder: Path, site: str) -> tuple[Pairs, set[str]]:
    """Return the pairs (page, external URL), and the pages with status 200."""
    with (folder / f"{site}.ext.csv").open() as file:
        links = {(canonical(row["src"]), external(row["url"])) for row in csv.DictReader(file)}
    with (folder / f"{site}.nodes.csv").open() as file:
        rows = csv.DictReader(file)
        pages = {canonical(row["url"]) for row in rows if row["status"] == "200" and row["kind"] == "html"}
    return links, pages


def read_store(path: Path, site: str) -> tuple[Pairs, set[str]]:
    """Return the same of the crawl."""
    values = {"site": f"%://{site}.%"}
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        links = {(canonical(page), external(url)) for page, url in connection.execute(_LINKS, values)}
        return links, {canonical(url) for (url,) in connection.execute(_PAGES, values)}


def main() -> int:
    truth, store, *sites = sys.argv[1:]
    differing = 0
    print(f"{'site':<14} {'pages':>7} {'links':>8} {'URLs':>7} {'hosts':>6}")
    for site in sites:
        (wanted, known), (found, pages) = read_truth(Path(truth), site), read_store(Path(store), site)
        urls, true_urls = {url for _, url in found}, {url for _, url in wanted}
        kinds = {
            "URLs missing": sorted(true_urls - urls),
            "URLs the truth does not have": sorted(urls - true_urls),
            "pages missing": sorted(known - pages),
            "pages the truth does not have": sorted(pages - known),
            "links missing on pages that both have": sorted(
                f"{page} -> {url}" for page, url in wanted - found if page in pages
            ),
            "links the truth does not have on pages that both have": sorted(
                f"{page} -> {url}" for page, url in found - wanted if page in known
            ),
        }
        lines = [f"  {len(rows)} {kind}: {'; '.join(rows[:SHOWN])}" for kind, rows in kinds.items() if rows]
        differing += bool(lines)
        hosts = {urlsplit(url).netloc for url in urls}
        print(
            f"{site:<14} {len(pages):>7} {len(found):>8} {len(urls):>7} {len(hosts):>6} "
            f"{'differs' if lines else 'equal'}"
        )
        print("\n".join(lines), end="\n" if lines else "")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

"""Compares the graphs of a crawl with independently computed graphs of the sites.

    python -m bench.quality.accuracy TRUTH RESULT SITE...

TRUTH/SITE.nodes.csv: url, status, kind (html, redirect …), dup_group (equal bytes), redirect_to;
TRUTH/SITE.edges.csv: src, dst, redirects as edges. RESULT: a folder with SITE*.gexf. Compared are pages,
levels (least number of clicks; a redirect is none), duplicates and edges between folded pages.
Exit status 1 if anything differs; every difference is printed with the URLs concerned.
"""

from __future__ import annotations

import csv
import posixpath
import sys
from collections import defaultdict, deque
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes, urlsplit

from lxml import etree

SHOWN = 5


class Folded(NamedTuple):
    """A graph whose nodes are groups of equal pages."""

    level: dict[str, int]
    copies: dict[str, int]
    edges: set[tuple[str, str]]
    name: dict[str, str]  # a URL of each group, for people


def canonical(url: str) -> str:
    """Return the normal form of a URL, by the standard library: percent-escapes, dots and double slashes."""
    parts = urlsplit(url)
    path = quote(unquote_to_bytes(parts.path or "/"), safe="/!$&'()*+,;=:@~-._")
    normal = posixpath.normpath("/" + path.lstrip("/"))
    if path.endswith("/") and normal != "/":
        normal += "/"
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{normal}" + (f"?{parts.query}" if parts.query else "")


def read_truth(folder: Path, site: str) -> tuple[Folded, dict[str, str]]:
    """Return the true graph of groups, and the group of every URL, redirects included."""
    with (folder / f"{site}.nodes.csv").open() as file:
        rows = list(csv.DictReader(file))
    with (folder / f"{site}.edges.csv").open() as file:
        links = [(canonical(row["src"]), canonical(row["dst"])) for row in csv.DictReader(file)]
    moved = {canonical(row["url"]): canonical(row["redirect_to"]) for row in rows if row["redirect_to"]}
    group = {
        canonical(row["url"]): row["dup_group"] for row in rows if row["status"] == "200" and row["kind"] == "html"
    }
    level = clicks(canonical(rows[0]["url"]), links, moved)
    levels: dict[str, int] = {}
    copies: dict[str, int] = defaultdict(lambda: -1)
    name: dict[str, str] = {}
    for url, g in group.items():
        levels[g] = min(level[url], levels.get(g, level[url]))
        copies[g] += 1
        name.setdefault(g, url)

    def final(url: str) -> str:
        for _ in range(20):
            if url not in moved:
                break
            url = moved[url]
        return url

    edges = {(group[a], group[final(b)]) for a, b in links if a in group and final(b) in group}
    group_of = {url: group[final(url)] for url in (*group, *moved) if final(url) in group}
    return Folded(levels, dict(copies), {(a, b) for a, b in edges if a != b}, name), group_of


def clicks(start: str, links: list[tuple[str, str]], moved: dict[str, str]) -> dict[str, int]:
    """Return the least number of clicks from *start*; following a redirect is not a click."""
    following = defaultdict(list)
    for a, b in links:
        following[a].append(b)
    level = {start: 0}
    queue = deque([start])
    while queue:
        url = queue.popleft()
        is_redirect = url in moved
        for target in following[url]:
            steps = level[url] + (0 if is_redirect else 1)
            if steps < level.get(target, sys.maxsize):
                level[target] = steps
                (queue.appendleft if is_redirect else queue.append)(target)
    return level


def read_graph(path: Path, group_of: dict[str, str]) -> tuple[Folded, list[str]]:
    """Return the graph of a GEXF file by the true groups, and the URLs that are not pages of the true graph."""
    root = etree.parse(str(path), etree.XMLParser(huge_tree=True)).getroot()
    titles = {a.get("id"): a.get("title") for a in root.iter("{*}attribute")}
    level: dict[str, int] = {}
    copies: dict[str, int] = {}
    name: dict[str, str] = {}
    strange = []
    by_id = {}
    for node in root.iter("{*}node"):
        url = canonical(node.get("label"))
        values = {titles[v.get("for")]: v.get("value") for v in node.iter("{*}attvalue")}
        group = group_of.get(url)
        if group is None:
            strange.append(url)
            group = url
        by_id[node.get("id")] = group
        if group in level:
            strange.append(f"{url} twice")
        level[group], copies[group], name[group] = int(values["level"]), int(values["duplicates"]), url
    edges = {(by_id[e.get("source")], by_id[e.get("target")]) for e in root.iter("{*}edge")}
    return Folded(level, copies, edges, name), strange


def compare(truth: Folded, found: Folded, strange: list[str]) -> list[str]:
    """Return the differences, one line per kind."""
    both = truth.level.keys() & found.level.keys()
    name = {**truth.name, **found.name}
    kinds = {
        "pages missing": sorted(name[g] for g in truth.level.keys() - found.level.keys()),
        "pages the truth does not have": sorted(strange),
        "levels": sorted(
            f"{name[g]} {found.level[g]}, not {truth.level[g]}" for g in both if found.level[g] != truth.level[g]
        ),
        "duplicates": sorted(
            f"{name[g]} {found.copies[g]}, not {truth.copies[g]}" for g in both if found.copies[g] != truth.copies[g]
        ),
        "edges missing": sorted(f"{name[a]} -> {name[b]}" for a, b in truth.edges - found.edges),
        "edges the truth does not have": sorted(f"{name[a]} -> {name[b]}" for a, b in found.edges - truth.edges),
    }
    return [f"  {len(rows)} {kind}: {'; '.join(rows[:SHOWN])}" for kind, rows in kinds.items() if rows]


def main() -> int:
    truth_folder, result, *sites = sys.argv[1:]
    differing = 0
    print(f"{'site':<14} {'pages':>7} {'copies':>7} {'edges':>8} {'deepest':>7}")
    for site in sites:
        files = [*Path(result).glob(f"{site}.gexf"), *Path(result).glob(f"{site}[._]*.gexf")]
        if len(files) != 1:
            print(f"{site}: no single GEXF in {result}: {[f.name for f in files]}")
            differing += 1
            continue
        truth, group_of = read_truth(Path(truth_folder), site)
        found, strange = read_graph(files[0], group_of)
        lines = compare(truth, found, strange)
        differing += bool(lines)
        print(
            f"{site:<14} {len(found.level):>7} {sum(found.copies.values()):>7} {len(found.edges):>8} "
            f"{max(found.level.values(), default=0):>7} {'differs' if lines else 'equal'}"
        )
        print("\n".join(lines), end="\n" if lines else "")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

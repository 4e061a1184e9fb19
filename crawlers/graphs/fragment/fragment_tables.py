"""Writes the model of a web fragment as readable CSV tables, with names instead of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.files.csv_tables import write_table
from crawlers.graphs.fragment.web_fragment import ACCOMPANYING, TARGET, link_class

if TYPE_CHECKING:
    from pathlib import Path

    from crawlers.graphs.fragment.link_counts import FragmentCounts

NAMES_SHOWN = 20  # longer cells are hard to read

_SITE_COLUMNS = ("site", "class", "target_sites", "linked_from", "urls", "links", "example")
_PAIR_COLUMNS = ("source", "target", "set", "class", "urls", "links")


def write_accompanying(counts: FragmentCounts, path: Path) -> None:
    """Write the accompanying sites to *path*, by the number of target sites that link to them, descending.

    *linked_from* lists up to `NAMES_SHOWN` target sites, separated by spaces. Raises the errors of `write_graph`.
    """
    first = counts.accompanying.start
    linked_from: list[list[int]] = [[] for _ in counts.accompanying]
    for pair in counts.pairs:
        if pair.target >= first and len(names := linked_from[pair.target - first]) < NAMES_SHOWN:
            names.append(pair.source)
    rows = (
        (
            counts.sites[number - 1],
            link_class(inward.target_sites, len(counts.targets)),
            inward.target_sites,
            " ".join(counts.sites[source - 1] for source in sources),
            inward.urls,
            inward.links,
            inward.example,
        )
        for number, sources in zip(counts.accompanying, linked_from, strict=True)
        for inward in (counts.inward[number - 1],)
    )
    write_table(path, _SITE_COLUMNS, rows)


def write_pairs(counts: FragmentCounts, path: Path) -> None:
    """Write the links between sites to *path*, a row for each pair, with the numbers of URLs and links."""
    rows = (
        (
            counts.sites[source - 1],
            counts.sites[target - 1],
            TARGET if target in counts.targets else ACCOMPANYING,
            "" if target in counts.targets else link_class(counts.inward[target - 1].target_sites, len(counts.targets)),
            urls,
            links,
        )
        for source, target, urls, links in counts.pairs
    )
    write_table(path, _PAIR_COLUMNS, rows)

"""The web fragment as a graph and as tables."""

import csv

import networkx
import pytest

from crawlers.graphs.export import write_graph
from crawlers.graphs.web_fragment import (
    ClassSize,
    FragmentCounts,
    Inward,
    Outward,
    Pair,
    Pairs,
    WebFragment,
    class_sizes,
    link_class,
    write_accompanying,
    write_pairs,
)

COUNTS = FragmentCounts(
    ["a.example", "b.example", "out.example", "=1+1.example"],
    [
        Inward(1, 1, 3, "http://a.example/"),
        Inward(),
        Inward(2, 2, 4, "http://out.example/"),
        Inward(1, 1, 1, "http://x"),
    ],
    [Outward(7, 1, 2), Outward(5, 0, 3)],
    Pairs([Pair(1, 3, 2, 2), Pair(2, 1, 1, 3), Pair(2, 3, 1, 2), Pair(2, 4, 1, 1)]),
)


def rows(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def test_the_graph_has_both_sets_and_the_links_between_them(tmp_path):
    size = write_graph(WebFragment(COUNTS, "mine"), tmp_path / "fragment")
    assert size == (4, 4)
    graph = networkx.read_gexf(tmp_path / "fragment.gexf")
    assert graph.nodes["2"] == {
        "label": "b.example", "set": "target", "pages": 5, "duplicates": 0, "external_links": 3,
        "in_degree": 0, "out_degree": 3, "urls_in": 0, "links_in": 0,
    }  # fmt: skip
    assert graph.nodes["3"] == {
        "label": "out.example", "set": "accompanying", "class": "2",
        "in_degree": 2, "out_degree": 0, "urls_in": 2, "links_in": 4,
    }  # fmt: skip
    assert {(a, b): weight for a, b, weight in graph.edges(data="weight")} == {
        ("1", "3"): 2, ("2", "1"): 3, ("2", "3"): 2, ("2", "4"): 1,
    }  # fmt: skip


def test_the_target_set_can_be_exported_alone():
    graph = WebFragment(COUNTS, "mine", targets_only=True)
    assert [(source, targets) for source, targets in graph.edges() if targets] == [(2, [(1, 3)])]
    assert [row[1] for row in graph.nodes()] == ["a.example", "b.example"]
    assert graph.description == "2 target sites of mine"


def test_the_classes_are_summed_up_the_most_connected_first():
    assert class_sizes(COUNTS) == [ClassSize("2", 1, 2, 4), ClassSize("1", 1, 1, 1)]


@pytest.mark.parametrize(("target_sites", "of"), [(n, of) for of in range(1, 15) for n in range(1, of + 1)])
def test_each_number_of_target_sites_has_one_class_within_their_number(target_sites, of):
    name = link_class(target_sites, of)
    assert max(int(number) for number in name.removesuffix("+").split(" to ")) <= of
    least, _, most = name.removesuffix("+").partition(" to ")
    assert int(least) <= target_sites
    assert target_sites <= int(most or least) or name.endswith("+")


def test_the_table_of_the_accompanying_set_names_its_neighbours(tmp_path):
    write_accompanying(COUNTS, tmp_path / "accompanying.csv")
    assert rows(tmp_path / "accompanying.csv") == [
        ["site", "class", "target_sites", "linked_from", "urls", "links", "example"],
        ["out.example", "2", "2", "a.example b.example", "2", "4", "http://out.example/"],
        ["'=1+1.example", "1", "1", "b.example", "1", "1", "http://x"],  # no formula
    ]


def test_the_table_of_pairs_has_both_counts(tmp_path):
    write_pairs(COUNTS, tmp_path / "pairs.csv")
    assert (tmp_path / "pairs.csv").read_bytes().endswith(b"\r\n")
    assert rows(tmp_path / "pairs.csv")[:3] == [
        ["source", "target", "set", "class", "urls", "links"],
        ["a.example", "out.example", "accompanying", "2", "2", "2"],
        ["b.example", "a.example", "target", "", "1", "3"],
    ]

"""Each entry of a list is read for itself, whatever is wrong with its neighbours."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.algorithms import yaml_entries
from crawlers.algorithms.yaml_entries import entries_of, fields_of_node
from crawlers.algorithms.yaml_fields import Wrong, item_of


def read(text):
    """Of each entry its value, or the line and words of what is wrong."""
    return [(entry.line, str(entry)) if isinstance(entry, Wrong) else value(entry) for entry in entries_of(text, "all")]


def value(node):
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [value(one) for one in node.value]
    return {value(key): value(one) for key, one in node.value}


@pytest.fixture(params=["libyaml", "python"], autouse=True)
def loader(request, monkeypatch):
    if request.param == "python":
        monkeypatch.setattr(yaml_entries, "LOADER", yaml.BaseLoader)


def test_entries_keep_their_order_and_their_texts():
    text = "# ours\nall:\n  - a.example\n  - {site: b.example, rules: [/x, {regex: /y, weight: 0}]}\n- c: NO\n"
    assert read(text.replace("- c", "  - c")) == [
        "a.example",
        {"site": "b.example", "rules": ["/x", {"regex": "/y", "weight": "0"}]},
        {"c": "NO"},
    ]
    assert read("{all: [a, b]}") == ["a", "b"]
    assert read("all:\n") == read("all: []") == []


def test_entries_know_their_lines():
    nodes = entries_of("all:\n- a\n\n- b: 1\n  c: 2\n", "all")
    assert [item_of(nodes[0]).line, item_of(nodes[1].value[1][0]).line] == [2, 5]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "expected `all:`"),
        ("- a\n- b\n", None, "expected `all:`"),
        ("just words", None, "expected `all:`"),
        ("{}", None, "expected `all:`"),
        ("al:\n- a\n", 1, "there is no field 'al'; did you mean all?"),
        ("[x]: y", 1, "there is no field 'a list or mapping'"),
        ("all:\n- a\nall:\n- b\n", 3, "all is here for the second time"),
        ("all: a", 1, "expected `all:`"),
        ("all: {a: b}", 1, "expected `all:`"),
        ("all:\n- a\n---\nall:\n- b\n", 3, "a second document begins here"),
        ("<html>{: {[", 1, "no"),
        ("all: [a\n", 1, "this is no YAML"),
    ],
)
def test_what_is_no_such_list_is_told(text, line, message):
    with pytest.raises(Wrong, match=message.replace("(", "\\(")) as caught:
        entries_of(text, "all")
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("entry", "line", "message"),
    [
        ("- rules: [/\\d{4}/.*]", 3, "this is no YAML"),
        ("- name: 'The end\n  x: y", 3, "this is no YAML"),
        ("- name: x\n   site: y", 4, "this is no YAML"),
        ("-\tname: [}", 3, "this is no YAML"),
        ('- "\\x"', 3, "this is no YAML"),
        ("- a: &x 1\n  b: *x", 4, "aliases"),
        ("- &x [*x]", 3, "aliases"),
        ("- {a: [{b: [c]}]}", 3, "expected a single value here"),
        ("- " + "[" * 300 + "]" * 300, 3, "expected a single value here"),
    ],
)
def test_a_faulty_entry_leaves_the_others(entry, line, message):
    first, wrong, last = read(f"all:\n- before\n{entry}\n- after # it\n")
    assert (first, last) == ("before", "after")
    assert wrong[0] == line
    assert message in wrong[1]


def test_characters_that_no_text_has_spoil_one_entry():
    first, wrong, last = read("all:\n- before\n-\n  a\x01b\n- after\n")
    assert (first, wrong[0], last) == ("before", 4, "after")
    assert "this is no YAML" in wrong[1]


def test_fields_are_known_by_name_and_empty_ones_are_left_out():
    (node,) = entries_of("all:\n- site: a\n  feeds: []\n  name:\n", "all")
    assert list(fields_of_node(node, ["site", "feeds", "name"])) == ["site"]
    for text, message in (
        ("{sit: a}", "did you mean site"),
        ("{site: a, site: b}", "second time"),
        ("{[]: a}", "sing"),
    ):
        (node,) = entries_of(f"all:\n- {text}\n", "all")
        with pytest.raises(Wrong, match=message):
            fields_of_node(node, ["site"])


PIECES = ["all:", "\n", "- ", "  ", "{", "}", "[", "]", ": ", "'", '"', "&a ", "*a", "a", "#", "|", "\t", "---", "%"]


@settings(max_examples=40)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_nothing_is_raised_but_what_is_wrong(text):
    for whole in (text, f"all:\n- a\n{text}"):
        try:
            entries = entries_of(whole, "all")
        except Wrong:
            continue
        assert all(isinstance(entry, (yaml.Node, Wrong)) for entry in entries)

"""Each entry of a list is read for itself, whatever is wrong with its neighbours."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.inputs import yaml_nodes
from crawlers.inputs.yaml_entries import read_entries
from crawlers.inputs.yaml_nodes import Item, Listing, Wrong


def read(text):
    """Of each entry its value, or the line and words of what is wrong."""
    entries = read_entries(text, "all", value)
    return [(entry.line, str(entry)) if isinstance(entry, Wrong) else entry for entry in entries]


def value(node):
    if isinstance(node, Item):
        return node.text
    if isinstance(node, Listing):
        return [value(one) for one in node.nodes]
    return {value(key): value(one) for key, one in node.pairs}


@pytest.fixture(params=["libyaml", "python"], autouse=True)
def loader(request, monkeypatch):
    if request.param == "python":
        monkeypatch.setattr(yaml_nodes, "LOADER", yaml.BaseLoader)


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
    first, second = read_entries("all:\n- a\n\n- b: 1\n  c: 2\n", "all", lambda node: node)
    assert [first.line, second.line, second.pairs[1][0].line] == [2, 4, 5]


def test_who_reads_an_entry_may_say_what_is_wrong_with_it():
    def read_one(node):
        if node.text == "b":
            raise Wrong(node.line, "no b")
        return node.text

    first, wrong, last = read_entries("all: [a,\n b, c]", "all", read_one)
    assert (first, wrong.line, str(wrong), last) == ("a", 2, "no b", "c")


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
        read(text)
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
        ("- " + "[" * 90 + "]" * 90, 3, "expected a single value here"),
        ("- " + "[" * 50_000, 3, "more than 100 lists are within each other"),
        ("- " * 50_000, 3, "more than 100 lists are within each other"),
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


PIECES = ["all:", "\n", "- ", "  ", "{", "}", "[", "]", ": ", "'", '"', "&a ", "*a", "a", "#", "|", "\t", "---", "%"]


@settings(max_examples=40)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_nothing_is_raised_but_what_is_wrong(text):
    for whole in (text, f"all:\n- a\n{text}"):
        try:
            entries = read(whole)
        except Wrong:
            continue
        assert None not in entries

"""YAML: every value and every problem has its line, and no text takes long."""

import pytest
import yaml

from crawlers.files.yaml_reader import Problem, Unreadable, items_of, read_entries, read_fields

NAMES = ("roots", "budget")


def read(text):
    """Return the line of each entry of the list `all`, and its value or problem."""
    return [
        (line, str(entry) if isinstance(entry, Problem) else entry) for line, entry in read_entries(text, "all", value)
    ]


def value(node):
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [value(one) for one in node.value]
    return {value(key): value(one) for key, one in node.value}


def test_fields_without_a_value_are_ignored():
    assert read_fields("roots:\nbudget: []", NAMES) == {}
    assert read_fields("roots: {}\nbudget: ' '", NAMES) == {}


def test_lines_are_counted_as_in_editors():
    fields = read_fields("\ufeff# a\u2028b\x85c\r\nroots: [a,\r b,\n c]\r\nbudget: d", NAMES)
    assert [item.line for item in items_of(fields["roots"])] == [2, 3, 4]
    assert fields["budget"].line == 5


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("# sites\nroots: [", 2, "not valid YAML"),
        ("roots: 'a\nb\n\n", 1, "not valid YAML"),
        ("roots: a\r  b: c\r", 2, "not valid YAML"),
        ("roots: a\n\nbudget: \x80", 3, "not valid YAML"),
        ('roots: a\nbudget: "\\UFFFFFFFF"', 2, "not valid YAML"),
        ('roots: a\nbudget: "\\uD800"', 2, "not valid YAML"),
        ("%YAML 9.9\n---\nroots: a", 1, "not valid YAML"),
        ("roots: [&x a]\nbudget: *x", 2, "aliases (*name) are not supported; write the value itself"),
        ("roots: a\nbudget: *y", 2, "aliases (*name) are not supported; write the value itself"),
    ],
)
def test_syntax_error_has_the_line_of_its_cause(text, line, sentence):
    with pytest.raises(Unreadable) as caught:
        read_fields(text, NAMES)
    assert (caught.value.line, sentence in str(caught.value)) == (line, True)


def test_error_in_the_reader_is_not_reported_as_a_fault_of_the_file():
    def fails(node):
        raise ValueError(node.value)

    with pytest.raises(ValueError, match="b"):
        read_entries("all: [b]", "all", fails)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "expected `all:`"),
        ("- a\n- b\n", None, "expected `all:`"),
        ("just words", None, "expected `all:`"),
        ("al:\n- a\n", 1, "unknown field 'al'; did you mean all?"),
        ("[x]: y", 1, "expected a single value here"),
        ("all:\n- a\nall:\n- b\n", 3, "duplicate field all"),
        ("all: a", 1, "expected `all:`"),
        ("all: {a: b}", 1, "expected `all:`"),
        ("all:\n- a\n---\nall:\n- b\n", 3, "a second document begins here"),
        ("<html>{: {[", 1, "no"),
        ("all: [a\n", 1, "not valid YAML"),
        ("all: [a, *b]\n", 1, "aliases"),
    ],
)
def test_file_without_such_a_list_is_rejected(text, line, message):
    with pytest.raises(Problem) as caught:
        read(text)
    assert (caught.value.line, message in str(caught.value)) == (line, True)


@pytest.mark.parametrize(
    ("entry", "line", "message"),
    [
        ("- rules: [/\\d{4}/.*]", 3, "not valid YAML"),
        ("- name: 'The end\n  x: y", 3, "not valid YAML"),
        ("- name: x\n   site: y", 4, "not valid YAML"),
        ("-\n  a\x01b", 4, "not valid YAML"),
        ("- a: &x 1\n  b: *x", 4, "aliases"),
        ("- " + "[" * 50_000, 3, "more than 100 nested lists or mappings"),
        ("- " * 50_000, 3, "more than 100 nested lists or mappings"),
    ],
)
@pytest.mark.parametrize("indent", ["", "  "])
def test_faulty_entry_does_not_affect_the_others(entry, line, message, indent):
    text = f"- before\n{entry}\n- after # it".replace("\n", f"\n{indent}")
    first, wrong, last = read(f"all: # ours\n{indent}{text}")
    assert (first, last[1]) == ((2, "before"), "after")
    assert wrong[0] == line
    assert message in wrong[1]

"""YAML: every value and every problem has its line, and no text takes long."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from crawlers.errors import ConfigError
from crawlers.inputs import yaml_reader
from crawlers.inputs.sources_file import parse_sources
from crawlers.inputs.topic_file import parse_topic
from crawlers.inputs.yaml_reader import (
    DEEPEST,
    Item,
    Problem,
    Unreadable,
    item_of,
    items_of,
    line_of,
    read_entries,
    read_fields,
)

NAMES = ("roots", "budget")
LOADERS = {"libyaml": yaml.CBaseLoader, "python": yaml_reader._PythonLoader}


@pytest.fixture(params=LOADERS, autouse=True)
def loader(request, monkeypatch):
    monkeypatch.setattr(yaml_reader, "LOADER", LOADERS[request.param])


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


def test_fields_have_lines_and_scalars_remain_texts():
    fields = read_fields("# sites\nroots:\n  - a\n  - 2024-13-01\nbudget: ' no '", NAMES)
    assert [(field.name, field.line) for field in fields.values()] == [("roots", 2), ("budget", 5)]
    assert items_of(fields["roots"]) == [Item(3, "a"), Item(4, "2024-13-01")]
    assert item_of(fields["budget"].node) == Item(5, "no")


def test_single_scalar_is_a_list():
    assert items_of(read_fields("roots: a", NAMES)["roots"]) == [Item(1, "a")]


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
        ("", None, "expected fields such as `roots:`"),
        ("a", None, "expected fields such as `roots:`"),
        ("- roots", None, "expected fields such as `roots:`"),
        ("root: 1", 1, "did you mean roots?"),
        ("\nzzz: 1", 2, "choose one of: roots budget"),
        ("? [roots]\n: a", 1, "expected a single value here, not a list or mapping"),
        ("'': a", 1, "missing value"),
        ("budget: 1\nbudget: 1", 2, "duplicate field budget"),
        ("budget:\nbudget:", 2, "duplicate field budget"),
        ("roots: a\n---\nbudget: 1", 2, "a second document begins here"),
    ],
)
def test_a_problem_has_a_line(text, line, sentence):
    with pytest.raises(Problem) as caught:
        read_fields(text, NAMES)
    assert (caught.value.line, sentence in str(caught.value)) == (line, True)
    assert type(caught.value) is Problem


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


def test_items_are_scalars_with_a_text():
    fields = read_fields("roots:\n- a\n- [b]\nbudget: {a:\n  }", NAMES)
    with pytest.raises(Problem, match="expected a single value here") as caught:
        items_of(fields["roots"])
    assert caught.value.line == 3
    with pytest.raises(Problem, match="budget is a mapping, expected a list; write each value after a dash") as caught:
        items_of(fields["budget"])
    assert caught.value.line == 4
    with pytest.raises(Problem, match="missing value"):
        items_of(read_fields("roots: ['', a]", NAMES)["roots"])


def test_anchors_are_ignored():
    assert items_of(read_fields("roots: &a [&a b, &a c]", NAMES)["roots"]) == [Item(1, "b"), Item(1, "c")]


def test_tags_do_not_create_objects():
    fields = read_fields("roots: [!!int 1, !!binary x, !b c]\nbudget: !!python/object/apply:os.abort []", NAMES)
    assert (items_of(fields.pop("roots")), fields) == ([Item(1, "1"), Item(1, "x"), Item(1, "c")], {})


def test_aliases_cannot_expand_a_small_file():
    """Nine lines of aliases would be a billion values."""
    bomb = "roots: &a0 [x]\n" + "".join(f"f{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
    with pytest.raises(Unreadable, match="aliases") as caught:
        read_fields(bomb, NAMES)
    assert caught.value.line == 2


@pytest.mark.parametrize("deep", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_not_read_to_the_end(deep, monkeypatch):
    read = 0

    class Counted(yaml_reader.LOADER):
        def get_event(self):
            nonlocal read
            read += 1
            return super().get_event()

    monkeypatch.setattr(yaml_reader, "LOADER", Counted)
    with pytest.raises(Unreadable, match="more than 100 nested lists or mappings") as caught:
        read_fields(f"\n{deep * 50_000}", NAMES)
    assert caught.value.line == 2
    assert read < 3 * DEEPEST


def test_nesting_up_to_the_limit_is_read():
    depth = DEEPEST - 1
    assert list(read_fields(f"roots: {'[' * depth}{']' * depth}", NAMES)) == ["roots"]
    with pytest.raises(Unreadable):
        read_fields(f"roots: {'[' * DEEPEST}{']' * DEEPEST}", NAMES)


def test_entries_keep_their_order_and_texts():
    text = "# ours\nall:\n  - a.example\n  - {site: b.example, rules: [/x, {regex: /y, weight: 0}]}\n\n  - c: NO\n"
    assert read(text) == [
        (3, "a.example"),
        (4, {"site": "b.example", "rules": ["/x", {"regex": "/y", "weight": "0"}]}),
        (6, {"c": "NO"}),
    ]
    assert read("{all: [a,\n b]}") == [(1, "a"), (2, "b")]
    assert read("{}") == read("all:\n") == read("all: []") == read("all: {}") == []


@pytest.mark.parametrize("fault", ["", "- [\n"])
def test_values_within_an_entry_have_lines(fault):
    (_, first), (_, second), *_ = read_entries(f"all:\n- a: x\n\n- b: 1\n  c: 2\n{fault}", "all", lambda node: node)
    assert [line_of(first), line_of(second.value[1][0])] == ([2, 5] if not fault else [2, 3])


def test_reader_of_an_entry_may_raise_a_problem():
    def read_one(node):
        if value(node) == "b":
            raise Problem(line_of(node), "no b")
        return value(node)

    (_, first), (line, problem), (_, last) = read_entries("all: [a,\n b, c]", "all", read_one)
    assert (first, line, str(problem), last) == ("a", 2, "no b", "c")


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
        ("-\tname: [}", 3, "not valid YAML"),
        ('- "\\x"', 3, "not valid YAML"),
        ("-\n  a\x01b", 4, "not valid YAML"),
        ("- a: &x 1\n  b: *x", 4, "aliases"),
        ("- &x [*x]", 3, "aliases"),
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


def test_each_faulty_entry_has_its_own_problem():
    entries = read("all:\n" + "- a\n- [\n" * 1_000)
    assert [line for line, _ in entries] == list(range(2, 2_002))
    assert {entry for _, entry in entries[::2]} == {"a"}
    assert all("not valid YAML" in entry for _, entry in entries[1::2])


WORDS = "sources: all: roots: site: a.example a é 😀 { } [ ] : , ' \" &a *a # ? | >- %YAML <<: \\UFFFFFFFF \\ud800"
BREAKS = ("\n", "\n- ", "\n  ", "\n---\n", "\n...\n", " ", "\t", "\r", "\u2028", "\x85", "\ufeff", "\x80", "\0")
PIECES = st.sampled_from([*WORDS.split(), *BREAKS])
ANY_TEXT = st.lists(PIECES, max_size=30).map("".join) | st.text()
LISTS = ANY_TEXT.map(lambda text: f"sources:\n- site: b.example\n  name: {text}\n- a.example\n")


def lines(text):
    """Return how many lines editors count."""
    return len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


@given(ANY_TEXT | LISTS)
@example("sources:\n- '\n- b")
def test_any_text_has_sources_or_problems_with_their_lines(text):
    try:
        _, problems = parse_sources(text, "s.yaml")
    except ConfigError as error:
        problems = str(error).split("\n")
        if problems[-1] == "No valid source is left; fix the file.":
            del problems[-1]
        elif problems[0].startswith(("s.yaml: expected `sources:`", "s.yaml: no sources found")):
            return
    for problem in problems:
        origin, line, _ = problem.split(":", 2)
        assert origin == "s.yaml"
        assert 1 <= int(line) <= lines(text)


@given(ANY_TEXT.map(lambda text: f"roots: a.example\nkeywords: {text}") | ANY_TEXT)
def test_any_text_is_a_topic_or_has_a_problem_with_its_line(text):
    try:
        parse_topic(text, "t.yaml")
    except ConfigError as error:
        message = str(error)
        if not message.startswith(("t.yaml: expected fields", "t.yaml: keywords and", "t.yaml: roots is missing")):
            origin, line, _ = message.split(":", 2)
            assert origin == "t.yaml"
            assert 1 <= int(line) <= lines(text)

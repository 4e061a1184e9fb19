"""Fields of a YAML file: scalars stay texts, and everything knows its line."""

from __future__ import annotations

import pytest

from crawlers.inputs.yaml_fields import fields_of, item_of, items_of
from crawlers.inputs.yaml_nodes import Item, Unreadable, Wrong

NAMES = ("roots", "budget")


def test_fields_know_their_lines_and_scalars_stay_texts():
    fields = fields_of("# sites\nroots:\n  - a\n  - 2024-13-01\nbudget: ' no '", NAMES)
    assert [(field.name, field.line) for field in fields.values()] == [("roots", 2), ("budget", 5)]
    assert items_of(fields["roots"]) == [Item(3, "a"), Item(4, "2024-13-01")]
    assert item_of(fields["budget"].value) == Item(5, "no")


def test_a_single_scalar_is_a_list_of_one():
    assert items_of(fields_of("roots: a", NAMES)["roots"]) == [Item(1, "a")]


def test_fields_that_say_nothing_are_left_out():
    assert fields_of("roots:\nbudget: []", NAMES) == {}


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("a", None, "expected fields such as"),
        ("root: 1", 1, "did you mean roots?"),
        ("\nzzz: 1", 2, "write one of: roots budget"),
        ("budget: 1\nbudget: 1", 2, "for the second time"),
        ("roots: [&x a]\nbudget: *x", 2, "aliases"),
        ("roots:\n  a:\n    b: c", 3, "not a list or mapping"),
    ],
)
def test_what_is_wrong_has_a_line(text, line, sentence):
    with pytest.raises(Wrong, match=sentence) as caught:
        fields_of(text, NAMES)
    assert caught.value.line == line


def test_what_is_no_yaml_is_wrong_in_its_line():
    with pytest.raises(Unreadable, match="this is no YAML") as caught:
        fields_of("# sites\nroots: [", NAMES)
    assert caught.value.line == 2


def test_a_file_cannot_make_much_of_little():
    """Nine lines of aliases would be a billion values."""
    bomb = "roots: &a0 [x]\n" + "".join(f"f{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
    with pytest.raises(Wrong, match="aliases"):
        fields_of(bomb, NAMES)

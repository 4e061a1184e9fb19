"""What a YAML file says, with lines; and an early end for what would take long."""

from __future__ import annotations

import pytest
import yaml

from crawlers.inputs.yaml_nodes import DEEPEST, Item, Listing, Mapping, Unreadable, Wrong, events_of, next_node


def node_of(text, deepest=3, before=0):
    events = events_of(text, before)
    assert isinstance(next(events), yaml.StreamStartEvent)
    next(events)
    node = next_node(events, deepest, before)
    assert isinstance(next(events), yaml.DocumentEndEvent), "all events of the node are taken"
    return node


def test_nodes_know_their_lines_and_scalars_are_texts():
    assert node_of("a: [no, ' 1 ']\nb:", before=10) == Mapping(
        11,
        [
            (Item(11, "a"), Listing(11, [Item(11, "no"), Item(11, "1")])),
            (Item(12, "b"), Item(12, "")),
        ],
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("- a\n- &x b\n- *x\n- *x", 3, "aliases"),
        ("[a,\n[[[x], y]], b]", 2, "expected a single value here"),
        ("[" * DEEPEST + "]" * DEEPEST, 1, "expected a single value here"),
    ],
)
def test_what_is_wrong_in_a_node_does_not_end_the_reading(text, line, message):
    wrong = node_of(text)
    assert isinstance(wrong, Wrong)
    assert (wrong.line, message in str(wrong)) == (line, True)


def test_what_is_nested_too_deeply_is_not_read_to_its_end():
    read = []

    def events():
        for event in events_of("[" * 100_000):
            read.append(event)
            yield event

    source = events()
    next(source), next(source)
    with pytest.raises(Unreadable, match="more than 100 lists"):
        next_node(source, 3)
    assert len(read) < 2 * DEEPEST

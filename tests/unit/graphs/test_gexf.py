"""Tests of the GEXF writer: structure, round trips through readers, memory."""

import io
import math

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from crawlers.files.csv_tables import clean
from crawlers.graphs.crawl_map import MemoryGraph
from crawlers.graphs.export import write_gexf
from crawlers.graphs.looks import Look
from crawlers.graphs.model import PAGE_COLUMNS, Column
from crawlers.items import Node
from tests.support.memory import peak_bytes

NS = "{http://gexf.net/1.3}"
VIZ = "{http://gexf.net/1.3/viz}"
GRAPH = MemoryGraph(
    [
        Node(1, "http://a.test/", 0, 200, 'Home & "more"', 2, 1, 0, 0),
        Node(2, "http://a.test/x?a=1&b=<2>", 1, 200, " two\n\tlines\r", 1, 1, 4, 1),
        Node(3, "http://a.test/ü", 1, 200, "", 0, 1, 0, 0),
    ],
    [(1, [(2, 3)]), (2, [(1, 1)]), (3, [(1, 2)])],
    name="a.test:8600",
    description="pages < & >",
)


def gexf(graph, look=None):
    out = io.BytesIO()
    write_gexf(graph, out, io.BytesIO(), look)
    return out.getvalue()


def look(row):
    return Look("#0a80ff", 4.5 * row[0], None if row[0] == 3 else (-1.25, 2.0))


# The part of the GEXF 1.3 schema that the writer uses: the attributes of each element (with a test of the
# value, required first) and its children in order.
INTEGER = str.isdecimal
TYPES = {"integer", "long", "double", "float", "boolean", "string"}  # the schema has more
TEXT = bool  # any, but not empty
ELEMENTS = {
    "gexf": ({"version": "1.3".__eq__}, {}, ["meta?", "graph"]),
    "meta": ({}, {}, ["creator?", "keywords?", "description?"]),
    "creator": ({}, {}, []),
    "keywords": ({}, {}, []),
    "description": ({}, {}, []),
    "graph": ({}, {"defaultedgetype": "directed".__eq__, "mode": "static".__eq__}, ["attributes*", "nodes", "edges"]),
    "attributes": ({"class": {"node", "edge"}.__contains__}, {"mode": "static".__eq__}, ["attribute*"]),
    "attribute": ({"id": TEXT, "title": TEXT, "type": TYPES.__contains__}, {}, []),
    "nodes": ({}, {}, ["node*"]),
    "node": (
        {"id": INTEGER},
        {"label": lambda _: True},
        ["attvalues?", "viz:color?", "viz:position?", "viz:size?"],
    ),
    "viz:color": (dict.fromkeys("rgb", range(256).__contains__), {}, []),
    "viz:position": (dict.fromkeys("xyz", float), {}, []),
    "viz:size": ({"value": float}, {}, []),
    "attvalues": ({}, {}, ["attvalue*"]),
    "attvalue": ({"for": TEXT, "value": lambda _: True}, {}, []),
    "edges": ({}, {}, ["edge*"]),
    "edge": ({"source": INTEGER, "target": INTEGER}, {"weight": float, "id": TEXT}, []),
}
VALUES = {"integer": int, "long": int, "double": float, "boolean": ["true", "false"].index, "string": str}


def short_name(element):
    return element.tag.removeprefix(NS).replace(VIZ, "viz:")


def problems(text):
    """Yield the violations of the schema, and the wrong references, in a GEXF file."""
    root = etree.fromstring(text)
    for element in root.iter():
        name = short_name(element)
        if name == element.tag or name not in ELEMENTS:
            yield f"unknown element {element.tag}"
            continue
        required, optional, children = ELEMENTS[name]
        known = {**optional, **required}
        for missing in required.keys() - element.attrib.keys():
            yield f"{name} without {missing}"
        for key, value in element.attrib.items():
            if key.startswith("{http://www.w3.org/2001/XMLSchema-instance}"):
                continue
            try:
                checked = int(value) if name == "viz:color" else value
                read = known[key](checked) if key in known else False
                is_good = read is not False and read != math.inf
            except ValueError:
                is_good = False
            if not is_good:
                yield f"{name} {key}={value!r}"
        yield from _wrong_children(name, [short_name(child) for child in element], children)
        if children and (element.text or "").strip():
            yield f"text in {name}"
    yield from _wrong_references(root)


def _wrong_children(name, found, wanted):
    place = 0
    for want in wanted:
        count = 0
        while place < len(found) and found[place] == want.rstrip("?*"):
            place, count = place + 1, count + 1
        if (count > 1 and not want.endswith("*")) or (count == 0 and not want.endswith(("?", "*"))):
            yield f"{name} has {count} {want}"
    if place < len(found):
        yield f"{name} has {found[place]} out of place"


def _wrong_references(root):
    types = {element.get("id"): element.get("type") for element in root.iter(f"{NS}attribute")}
    for value in root.iter(f"{NS}attvalue"):
        try:
            VALUES[types[value.get("for")]](value.get("value"))
        except (KeyError, TypeError, ValueError):
            yield f"attvalue {dict(value.attrib)}"
    nodes = [node.get("id") for node in root.iter(f"{NS}node")]
    if len(nodes) != len(set(nodes)):
        yield "an id given twice"
    pairs = [(edge.get("source"), edge.get("target")) for edge in root.iter(f"{NS}edge")]
    if len(pairs) != len(set(pairs)):
        yield "parallel edges"
    yield from (f"edge {pair}" for pair in pairs if not set(pair) <= set(nodes))


@pytest.mark.parametrize(
    "graph",
    [
        GRAPH,
        MemoryGraph([], []),
        MemoryGraph([(1, "", 0.1, True, None)], [(1, [(1, 1)])], (
            Column("rank & < \"", "double"), Column("own", "boolean"), Column("big", "long"),
        )),
        MemoryGraph([(1, "a"), (2, "b")], [(1, [(2, 1)])], ()),
    ],
    ids=["pages", "empty", "other columns", "no columns"],
)  # fmt: skip
def test_file_has_the_structure_of_the_schema(graph):
    assert list(problems(gexf(graph))) == []


def test_file_with_looks_has_the_structure_of_the_schema():
    text = gexf(GRAPH, look=look)
    assert list(problems(text)) == []
    assert text.count(b"<viz:position ") == 2
    network = nx.read_gexf(io.BytesIO(text), node_type=int, version="1.3")
    assert network.nodes[1]["viz"] == {
        "color": {"r": 10, "g": 128, "b": 255, "a": 1.0},
        "position": {"x": -1.25, "y": 2.0, "z": 0.0},
        "size": 4.5,
    }


def test_networkx_reads_back_every_node_attribute_and_edge():
    network = nx.read_gexf(io.BytesIO(gexf(GRAPH)), node_type=int, version="1.3")
    assert network.is_directed()
    assert not network.is_multigraph()
    for row in GRAPH.rows:
        names = ["label", *(column.name for column in PAGE_COLUMNS)]
        assert dict(network.nodes[row[0]]) == dict(zip(names, row[1:], strict=True))
    assert set(network.edges(data="weight")) == {(1, 2, 3.0), (2, 1, 1.0), (3, 1, 2.0)}


def test_a_row_that_does_not_fit_the_columns_is_refused():
    with pytest.raises(ValueError, match="argument"):
        gexf(MemoryGraph([(1, "a")], [], (Column("x", "string"),)))


@given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
def test_any_text_round_trips_through_lxml_and_networkx(label, title):
    graph = MemoryGraph([(1, label, title)], [], (Column("title", "string"),), name=title, description=label)
    text = gexf(graph)
    root = etree.fromstring(text)
    node = root.find(f".//{NS}node")
    assert node.get("label") == clean(label)
    assert node.find(f".//{NS}attvalue").get("value") == clean(title)
    assert root.findtext(f".//{NS}description") == clean(label)
    read = nx.read_gexf(io.BytesIO(text), version="1.3").nodes["1"]
    assert (read["label"], read["title"]) == (clean(label), clean(title))


class EndlessGraph:
    """A graph that exists only during iteration."""

    name = description = ""
    columns = (Column("title", "string"),)

    def edges(self):
        for source in range(2000):
            yield source, [(target, 1) for target in range(50)]

    def nodes(self):
        return ((number, f"http://a.test/{number}", "title" * 20) for number in range(20_000))


class Counter(io.RawIOBase):
    """Counts the bytes written to it, and discards them."""

    size = 0

    def write(self, text):
        self.size += len(text)
        return len(text)

    def readinto(self, _buffer):
        return 0

    def seek(self, *_place):
        return 0


def test_memory_does_not_grow_with_the_graph():
    out, edges = Counter(), Counter()
    peak = peak_bytes(write_gexf, EndlessGraph(), out, edges)
    assert out.size + edges.size > 8_000_000
    assert peak < 1_000_000 + 2 * (1 << 20)  # two blocks of copying

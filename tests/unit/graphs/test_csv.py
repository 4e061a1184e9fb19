"""Tests of the CSV writer, by reading back with the csv module."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.files.csv_tables import clean
from crawlers.graphs.crawl_map import MemoryGraph
from crawlers.graphs.export import write_csv
from crawlers.graphs.model import Column


def tables(graph):
    nodes, edges = io.BytesIO(), io.BytesIO()
    write_csv(graph, nodes, edges)
    read = [
        list(csv.reader(io.StringIO(table.getvalue().decode(), newline=""), strict=True)) for table in (nodes, edges)
    ]
    return read[0], read[1]


@pytest.mark.parametrize("start", list("=+-@\t\r\n＝＋－＠"))
def test_no_text_begins_like_a_formula(start):
    graph = MemoryGraph([(1, f"{start}1", f"{start}2")], [], (Column("title", "string"),))
    assert tables(graph)[0][1] == ["1", f"'{start}1", f"'{start}2"]


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_round_trips_without_the_guard(title):
    graph = MemoryGraph([(1, title, title)], [], (Column("title", "string"),))
    (row,) = tables(graph)[0][1:]
    assert [text.removeprefix("'") for text in row[1:]] == [clean(title)] * 2
    assert not row[2].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_a_row_that_does_not_fit_the_columns_is_refused():
    with pytest.raises(ValueError, match="shorter"):
        tables(MemoryGraph([(1, "a")], [], (Column("x", "string"),)))

"""Tests of the functions that all graph writers share."""

import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from crawlers.files.csv_tables import cell, clean
from crawlers.graphs.crawl_map import MemoryGraph
from crawlers.graphs.model import EDGES_AT_ONCE, write_edges

CONTROLS = (
    *(*range(9), 11, 12, *range(14, 32), *range(0x7F, 0xA0)),
    *(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),
    *(0xD800, 0xDFFF, 0xFFFE, 0xFFFF),
)


@given(st.text(st.characters(exclude_categories=())))
def test_cleaned_text_is_what_an_xml_parser_accepts(text):
    element = etree.Element("a")
    element.text = clean(text)  # lxml raises ValueError for characters that XML forbids


@pytest.mark.parametrize("code", CONTROLS)
def test_each_character_of_control_leaves_one_visible_mark(code):
    assert clean(f"a{chr(code)}b") == "a\ufffdb"


@given(st.floats())
def test_a_float_reads_back_exactly_or_is_absent(value):
    text = cell(value)
    assert (text is None) if not math.isfinite(value) else (text is not None and float(text) == value)


def test_a_page_with_more_links_than_fit_one_piece_keeps_all_of_them():
    targets = [(number, 1) for number in range(EDGES_AT_ONCE * 2 + 1)]
    out = io.BytesIO()
    graph = MemoryGraph([], [(7, targets), (8, []), (9, [(7, 2)])])
    assert write_edges(graph, out, ("", ">", "*", "\n")) == len(targets) + 1
    lines = out.getvalue().decode().splitlines()
    assert lines == [f"7>{target}*1" for target, _ in targets] + ["9>7*2"]

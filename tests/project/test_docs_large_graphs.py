"""The queries of the guide to large graphs run, and DuckDB and Polars give the same answers."""

import re
from pathlib import Path

import pytest

from crawlers.graphs.dataset import DATASET, TABLES, write_dataset
from tests.support.stored_site import DONE, MOVED, REFUSED, Stored, store

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "how-to" / "large-graphs.md"
REFERENCE = ROOT / "docs" / "reference" / "parquet.md"
SITES = [
    [
        Stored("/", 0, links={1: 1, 2: 2, 3: 1}, external=("http://b.test/1", "http://b.test/2")),
        Stored("/copy/", 2, body="same", links={0: 1}),
        Stored("/page/", 1, DONE, body="same", links={0: 1}),
        Stored("/moved/", 1, MOVED, moved_to=1),
        Stored("/gone/", 1, REFUSED),
    ],
    [Stored("/", 0, links={1: 1}, external=("http://b.test/3",)), Stored("/x/", 1)],
]
EXPECTED = [
    [("http://a.test/", 1), ("http://a.test/page/", 1), ("http://a.test/x/", 1)],
    [("http://b.test", 2, 3)],
    [(0, "done", 1), (1, "done", 1), (1, "moved", 1), (1, "refused", 1), (2, "done", 1)],
]


def queries(tool):
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [block for block in blocks if f"import {tool}" in block]


@pytest.mark.parametrize("tool", ["duckdb", "polars"])
def test_queries_give_the_right_answers(tool, sqlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_dataset(sqlite, [store(sqlite, pages) for pages in SITES], tmp_path / "result" / DATASET)
    answers = []
    for query in queries(tool):
        names = {}
        exec(compile(query, str(GUIDE), "exec"), names)  # noqa: S102 - the code of our own page
        answer = names["answer"]
        answers.append(answer.fetchall() if tool == "duckdb" else answer.rows())
    assert answers == EXPECTED


def test_documented_columns_are_those_of_the_files():
    parts = re.split(r"^## (\w+)$", REFERENCE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    documented = {
        name: re.findall(r"^\| `(\w+)` \| (\w+)\??(?= \|)", text, re.MULTILINE)
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }
    columns = {name: [(column.name, column.type) for column in table.columns] for name, table in TABLES.items()}
    assert documented == columns

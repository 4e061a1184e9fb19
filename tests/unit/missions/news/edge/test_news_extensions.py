"""The documents of a crawl as a Parquet file."""

from datetime import UTC, datetime

import pytest

from crawlers.missions.news.edge import news_extensions
from crawlers.missions.news.edge.news_extensions import COLUMNS, write_documents
from tests.support.missions.news.news_store import SITE, NewsStore

parquet = pytest.importorskip("pyarrow.parquet")


def test_file_has_all_documents_of_the_crawl_with_their_types(sqlite, tmp_path, monkeypatch):
    monkeypatch.setattr(news_extensions, "BATCH_ROWS", 2)  # several batches
    crawl = NewsStore(sqlite)
    NewsStore(sqlite, "other").document("/a", 1.0)
    full = {"authors": '["Ada", "Bob"]', "published_at": 1e9, "published": "2001-09-09T03:46:40+02:00"}
    full |= {"keywords": '["a", "b"]', "modified_at": 1e9 + 60, "modified": "2001-09-09T03:47:40+02:00"}
    full |= {"section": "x", "is_free": False}
    for number in range(5):
        crawl.document(f"/{number}", 100.0 + number, **(full if number == 4 else {}))
    path = tmp_path / "documents.parquet"
    assert write_documents(sqlite, crawl.id, path) == 5
    assert parquet.ParquetFile(path).num_row_groups == 3
    table = parquet.read_table(path)
    assert table.column_names == [column.name for column in COLUMNS]
    rows = table.to_pylist()
    assert [row["url"] for row in rows] == [f"{SITE}/{number}" for number in range(5)]
    assert rows[0] == {
        "url": f"{SITE}/0",
        "canonical_url": None,
        "title": "Title of /0",
        "text": "The text of /0.",
        "published": None,
        "published_at": None,
        "authors": [],
        "section": None,
        "language": "en",
        "image": None,
        "site": SITE,
        "stored_at": datetime.fromtimestamp(100, UTC),
        "changed_at": None,
        "version": 1,
        "extractor": "rule",
        "description": None,
        "keywords": [],
        "modified": None,
        "modified_at": None,
        "is_free": None,
    }
    lists = {"authors": ["Ada", "Bob"], "keywords": ["a", "b"]}
    times = {name: datetime.fromtimestamp(full[name], UTC) for name in ("published_at", "modified_at")}
    of_page = {"url": f"{SITE}/4", "title": "Title of /4", "text": "The text of /4."}
    assert rows[4] == rows[0] | full | lists | times | of_page | {"stored_at": datetime.fromtimestamp(104, UTC)}
    assert [file.name for file in tmp_path.glob("*.parquet*")] == [path.name]

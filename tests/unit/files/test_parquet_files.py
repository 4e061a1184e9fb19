"""Rows are written to Parquet files of bounded size, in row groups."""

import pytest

from crawlers.errors import ConfigError
from crawlers.files.atomic import check_parquet
from crawlers.files.parquet_files import ParquetColumn, PartWriter

parquet = pytest.importorskip("pyarrow.parquet")

COLUMNS = (ParquetColumn("id", "int64", "delta"), ParquetColumn("name", "string", "dictionary"))


def write(folder, rows, group_rows=4, file_rows=8, at_once=3):
    with PartWriter(folder, COLUMNS, group_rows, file_rows) as writer:
        for first in range(0, rows, at_once):
            numbers = range(first, min(first + at_once, rows))
            writer.add([list(numbers), [f"name {number % 2}" for number in numbers]])
    assert writer.rows == rows
    return sorted(folder.iterdir())


def test_row_groups_state_the_least_and_the_greatest_id_and_are_compressed(tmp_path):
    (file,) = write(tmp_path / "table", 8)
    about = parquet.ParquetFile(file).metadata
    ids, names = about.row_group(1).column(0), about.row_group(1).column(1)
    assert (ids.statistics.min, ids.statistics.max) == (4, 7)
    assert "DELTA_BINARY_PACKED" in ids.encodings
    assert "RLE_DICTIONARY" in names.encodings
    assert {ids.compression, names.compression} == {"ZSTD"}
    assert about.row_group(1).sorting_columns[0].column_index == 0


def test_equal_rows_give_equal_files_however_they_are_divided(tmp_path):
    ones, others = (write(tmp_path / f"{at_once}", 21, at_once=at_once) for at_once in (3, 10))
    assert [file.read_bytes() for file in ones] == [file.read_bytes() for file in others]


def test_error_without_pyarrow_says_what_to_install(monkeypatch):
    monkeypatch.setattr("crawlers.files.atomic.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"^DOCUMENTS_PARQUET needs pyarrow.*pip install pyarrow"):
        check_parquet("DOCUMENTS_PARQUET")

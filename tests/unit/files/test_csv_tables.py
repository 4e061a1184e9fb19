"""CSV tables: formulas are escaped, and files are written atomically."""

import pytest

from crawlers.files.csv_tables import write_table


def test_table_has_headings_and_rows_with_crlf_line_ends(tmp_path):
    path = tmp_path / "new" / "table.csv"
    assert write_table(path, ("name", "number"), [("a,b", 1), (None, 0.5)]) == 2
    assert path.read_bytes() == b'name,number\r\n"a,b",1\r\n,0.5\r\n'


def test_failed_write_keeps_the_old_table(tmp_path):
    path = tmp_path / "table.csv"
    write_table(path, ("name",), [("old",)])

    def rows():
        yield ("new",)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_table(path, ("name",), rows())
    assert path.read_bytes() == b"name\r\nold\r\n"
    assert [found.name for found in tmp_path.iterdir()] == ["table.csv"]

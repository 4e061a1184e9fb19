"""A folder is replaced when it is complete, or stays as it is."""

import fcntl
import os

import pytest

from crawlers.errors import ConfigError, StoreError
from crawlers.files.atomic import replacing_folder


def write(target, text, name="a/file"):
    with replacing_folder(target) as part:
        assert list(part.iterdir()) == []
        (part / "a").mkdir()
        (part / name).write_text(text)


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_error_leaves_the_old_folder(tmp_path):
    target = tmp_path / "graph.parquet"
    write(target, "old")
    with pytest.raises(StoreError, match="No such file or directory"):
        write(target, "new", "nowhere/file")
    assert contents(tmp_path) == {"graph.parquet/a/file": "old"}


def test_folder_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="is not a folder; choose another name"), replacing_folder(tmp_path / "file"):
        pass
    with pytest.raises(ConfigError, match="choose another folder"), replacing_folder(tmp_path / "file" / "graph"):
        pass
    full = pytest.raises(StoreError, match=r"not written \(No space left on device\); free some space and repeat")
    with full, replacing_folder(tmp_path / "graph"):
        raise OSError(28, "No space left on device")


def test_what_a_killed_writer_left_is_used_again_and_a_live_writer_is_not_disturbed(tmp_path):
    target = tmp_path / "graph.parquet"
    left = tmp_path / ".graph.parquet.0.part"
    (left / "half").mkdir(parents=True)
    (tmp_path / ".graph.parquet.0.old").mkdir()  # killed between the two steps
    write(target, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["graph.parquet"]
    left.mkdir()
    descriptor = os.open(left, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        write(target, "newer")
        assert left.is_dir()
    finally:
        os.close(descriptor)
    assert contents(target) == {"a/file": "newer"}

"""The two CSV logs: whole lines, also when several processes append to them."""

import csv
import multiprocessing
import os

import pytest

from crawlers.crawl.stats import COLUMNS, CsvLogs
from crawlers.errors import ConfigError, StoreError
from crawlers.items import Page, State
from crawlers.reasons import Reason

LONG = "é" * 3000  # longer than a third of the buffers of a file
PAGE = Page(1, "http://a.test/", 0, State.FAILED, reason=Reason.ERROR.of("Error", LONG))


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def write_many(path, name, number, barrier):
    logs = CsvLogs(path, path)
    barrier.wait()
    for count in range(number):
        logs.write(PAGE, float(count), is_error=False, reason=f"{name}-{count}{LONG}")
        if count % 3 == 0:
            logs.flush()
    logs.flush()


def test_lines_of_several_processes_are_whole(tmp_path):
    path, number = tmp_path / "logs" / "common.csv", 200
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(3)
    writers = [context.Process(target=write_many, args=(path, name, number, barrier)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    first, *rows = rows_of(path)
    assert (tuple(first), {row[1] for row in rows}) == (COLUMNS, {"error"})
    assert sorted(row[5].removesuffix(LONG) for row in rows) == sorted(
        f"{name}-{count}" for name in "abc" for count in range(number)
    )


def test_headings_are_written_once(tmp_path):
    path = tmp_path / "common.csv"
    path.touch()
    for _ in range(2):
        logs = CsvLogs(path, None)
        logs.write(PAGE, 0.0, is_error=False)
        logs.flush()
    assert [row[0] for row in rows_of(path)].count(COLUMNS[0]) == 1
    assert len(rows_of(path)) == 3


def test_file_that_was_moved_is_followed_by_a_new_one(tmp_path):
    path = tmp_path / "common.csv"
    logs = CsvLogs(path, None)
    logs.write(PAGE, 10.0, is_error=False)
    logs.flush()
    path.rename(tmp_path / "old.csv")
    for now in (20.0, 30.0):
        logs.write(PAGE, now, is_error=False)
    logs.flush()
    times = [[row[0] for row in rows_of(one)[1:]] for one in (tmp_path / "old.csv", path)]
    assert [[one[17:23] for one in some] for some in times] == [["10.000"], ["20.000", "30.000"]]


def test_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ConfigError, match=f"ERROR_LOG_FILE={tmp_path}"):
        CsvLogs(None, tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")  # noqa: PTH110
def test_full_disk_is_an_error_of_the_store(tmp_path):
    path = tmp_path / "common.csv"
    logs = CsvLogs(path, None)
    path.unlink()
    path.symlink_to("/dev/full")
    logs.write(PAGE, 10.0, is_error=False)
    with pytest.raises(StoreError, match="No space left on device; free some space"):
        logs.flush()

"""Logs in the browser: bounded, and only those of the crawl."""

from __future__ import annotations

import pytest

from crawlers.web.panel_log import MAX_LINES, end_of_log


@pytest.fixture
def own(tmp_path):
    """The folder of a crawl."""
    folder = tmp_path / "logs/panel/spring"
    folder.mkdir(parents=True)
    return folder


def test_latest_log_is_read(tmp_path, own):
    (own / "2026-01-01.log").write_text("old\n")
    (own / "2026-01-02.log").write_text("new\nlast\n")
    assert end_of_log(tmp_path, "spring") == ("logs/panel/spring/2026-01-02.log", ["new", "last"], False)


def test_long_log_is_cut(tmp_path, own):
    (own / "1.log").write_text("".join(f"line {number}\n" for number in range(100_000)))
    end = end_of_log(tmp_path, "spring")
    assert end.is_cut
    assert (len(end.lines), end.lines[-1]) == (MAX_LINES, "line 99999")


def test_one_endless_line_is_bounded(tmp_path, own):
    (own / "1.log").write_bytes(b"\xff" * 1_000_000)
    assert end_of_log(tmp_path, "spring").lines == []


@pytest.mark.parametrize("name", ["summer", "..", "../panel/spring", "/etc", ""])
def test_crawl_without_a_folder_has_no_log(tmp_path, own, name):
    (own / "1.log").write_text("x")
    assert end_of_log(tmp_path, name) is None


def test_links_to_other_files_are_not_read(tmp_path, own):
    (tmp_path / "secret").write_text("secret")
    (own / "1.log").symlink_to(tmp_path / "secret")
    assert end_of_log(tmp_path, "spring") is None


def test_folder_that_leads_elsewhere_is_not_read(tmp_path):
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "panel"
    elsewhere.mkdir()
    (elsewhere / "1.log").write_text("secret")
    (folder / "logs/panel").mkdir(parents=True)
    (folder / "logs/panel/spring").symlink_to(elsewhere)
    assert end_of_log(folder, "spring") is None

"""Logs in the browser: bounded, and only those of the crawl."""

import pytest

from crawlers.web.starting import MAX_LINES, RECORD, Job, JobRecord, end_of_log


@pytest.fixture
def own(tmp_path):
    """The folder of a crawl."""
    folder = tmp_path / "logs/panel/spring"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def record(tmp_path):
    """Return a function that records a log of a crawl."""

    def recorded(log="logs/panel/spring/1.log", crawl_id=1, name="spring"):
        JobRecord(tmp_path / RECORD).add(Job(name, log, crawl_id=crawl_id))

    return recorded


def test_latest_log_of_the_crawl_is_read_and_not_that_of_another_one_of_its_name(tmp_path, own, record):
    for number, (crawl_id, text) in enumerate([(1, "old\n"), (1, "new\nlast\n"), (9, "other\n"), (None, "refused\n")]):
        log = f"logs/panel/spring/{number}.log"
        (tmp_path / log).write_text(text)
        record(log, crawl_id)
    assert end_of_log(tmp_path, 1) == ("logs/panel/spring/1.log", ["new", "last"], False)
    assert end_of_log(tmp_path, 9).lines == ["other"]
    assert end_of_log(tmp_path, 2) is None


def test_long_log_is_cut(tmp_path, own, record):
    record()
    (own / "1.log").write_text("".join(f"line {number}\n" for number in range(100_000)))
    end = end_of_log(tmp_path, 1)
    assert end.is_cut
    assert (len(end.lines), end.lines[-1]) == (MAX_LINES, "line 99999")


@pytest.mark.parametrize(
    ("name", "log"),
    [
        ("summer", "logs/panel/summer/1.log"),
        ("summer", "logs/panel/spring/1.log"),
        ("..", "logs/panel/../1.log"),
        ("../panel/spring", "logs/panel/spring/1.log"),
        ("spring", "/etc/passwd"),
        ("spring", "logs/panel/spring/../../x.log"),
        ("spring", "logs/panel/spring/hosts.txt"),
        ("spring", "sitegraph/6487ec79947edab326d6db28a2d86511e8247444"),
        ("", "1.log"),
    ],
)
def test_other_files_are_no_logs(tmp_path, own, record, name, log):
    (own / "1.log").write_text("x")
    (own / "hosts.txt").write_text("x")
    (tmp_path / "logs/x.log").write_text("x")
    record(log, name=name)
    assert end_of_log(tmp_path, 1) is None


def test_links_to_other_files_are_not_read(tmp_path, own, record):
    record()
    (tmp_path / "secret").write_text("secret")
    (own / "1.log").symlink_to(tmp_path / "secret")
    assert end_of_log(tmp_path, 1) is None


def test_folder_that_leads_elsewhere_is_not_read(tmp_path):
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "panel"
    elsewhere.mkdir()
    (elsewhere / "1.log").write_text("secret")
    (folder / "logs/panel").mkdir(parents=True)
    (folder / "logs/panel/spring").symlink_to(elsewhere)
    JobRecord(folder / RECORD).add(Job("spring", "logs/panel/spring/1.log", crawl_id=1))
    assert end_of_log(folder, 1) is None

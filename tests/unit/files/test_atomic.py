"""No name of an output can overwrite a store, a list of sites, or code."""

import re
import sqlite3
from contextlib import closing

import pytest

from crawlers.errors import ConfigError
from crawlers.files.atomic import check_file
from crawlers.options import kinds
from crawlers.options.kinds import FEED, RESULT, FileKind

KINDS = {
    name: kind for name, kind in vars(kinds).items() if isinstance(kind, FileKind) and kind is not RESULT
}  # that people name
EXAMPLES = {
    "CSV_LOG": b"time,state,status,level,url,reason\r\n",
    "CSV_TABLE": b"site,pages\r\n",
    "FEED": b"url,status\r\n",
    "HTML": b"<!DOCTYPE html>\n",
    "JSON": b"{\n",
    "LOG": b"2026-05-01 10:00:00 [scrapy] INFO: Begun\n",
    "PARQUET": b"PAR1\x15\x04",
    "PICTURE": b"<?xml version='1.0'?>\n",
    "PROCESS_NUMBER": b"1234\n",
    "PROFILE": b"{(",
    "WARC": b"\x1f\x8b\x08\x00",
}
OTHERS = (
    *("crawl.sqlite", "crawl.sqlite-wal", "crawl.sqlite-shm", "hosts.txt", "topic.yaml", "mine.py", "folder", "."),
    *("scrapy.py", "json.py", "sitecustomize.py", "a.pth", "scrapy.cfg", "crawl.toml", "no/such/json.py", ".."),
)
every_kind = pytest.mark.parametrize("name", KINDS)


@pytest.fixture
def folder(tmp_path):
    """The folder of a crawl, with what must not be lost."""
    with closing(sqlite3.connect(tmp_path / "crawl.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE crawl (id)")
    (tmp_path / "crawl.sqlite-wal").write_bytes(b"\x37\x7f\x06\x82\0\0")
    (tmp_path / "crawl.sqlite-shm").write_bytes(b"\0" * 100)
    (tmp_path / "hosts.txt").write_text("# ours\nexample.org;2\n", "utf-8")
    (tmp_path / "topic.yaml").write_text("keywords: [a]\n", "utf-8")
    (tmp_path / "mine.py").write_text("import json\n", "utf-8")
    (tmp_path / "folder").mkdir()
    return tmp_path


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@every_kind
def test_file_of_its_kind_is_continued_an_empty_one_is_used_and_a_new_one_is_created(tmp_path, name):
    kind = KINDS[name]
    for ending in kind.endings:
        file = tmp_path / f"a{ending}"
        check_file(file, "NAME", kind)
        assert not file.exists()
        file.touch()
        check_file(file, "NAME", kind)
        file.write_bytes(EXAMPLES[name])
        check_file(file, "NAME", kind)
        assert file.read_bytes() == EXAMPLES[name]


@every_kind
def test_file_of_something_else_is_refused_and_nothing_is_changed(folder, name):
    kind = KINDS[name]
    link = folder / f"link{kind.endings[0]}"
    for path in OTHERS:
        link.symlink_to(folder / path)
        before = content(folder)
        for given in (folder / path, link):
            with pytest.raises(ConfigError, match=rf"^NAME={re.escape(str(given))} .*; .*name another"):
                check_file(given, "NAME", kind)
        assert content(folder) == before
        link.unlink()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pages.tsv", b"url\tstatus\n"),
        ("pages.csv", b"url\r\n"),
        ("pages.csv.gz", b"\x1f\x8b\x08\x00"),
        ("pages.json.bz2", b"BZh91AY"),
        ("pages.xml.xz", b"\xfd7zXZ\0"),
        ("pages", b'{"url"'),
    ],
)
def test_feed_may_have_any_ending_and_compression(tmp_path, name, content):
    check_file(tmp_path / name, "-o", FEED)
    (tmp_path / name).write_bytes(content)
    check_file(tmp_path / name, "-o", FEED)


@pytest.mark.parametrize("hosts", ["\n127.0.0.1\nexample.org\n", "localhost\nexample.org\n"])
def test_feed_never_replaces_a_list_of_sites(tmp_path, hosts):
    (tmp_path / "hosts.txt").write_text(hosts)
    with pytest.raises(ConfigError, match="is a file of something else"):
        check_file(tmp_path / "hosts.txt", "-o", FEED)


@every_kind
def test_another_kind_of_content_is_refused_whatever_the_name(folder, name):
    kind = KINDS[name]
    file = folder / f"a{kind.endings[0]}"
    (folder / "crawl.sqlite").rename(file)
    before = content(folder)
    with pytest.raises(ConfigError, match=r"is a file of something else; move it away, or name another one$"):
        check_file(file, "NAME", kind)
    assert content(folder) == before

"""A WARC file has every response, and stays readable if its writer is killed."""

import errno
import gzip
import os
from ipaddress import ip_address

import pytest
from scrapy import Request
from scrapy.http import Response

from crawlers.errors import ConfigError, StoreError
from crawlers.extensions import warc
from crawlers.extensions.warc import WarcFile, check_warc

archive = pytest.importorskip("warcio.archiveiterator")

ABOUT = {"software": "test"}
BODY = os.urandom(300) + b"\x1f\x8b\x08" * 20  # looks like the start of a record


def exchange(number=0):
    answered = {"Content-Type": "text/html", "Content-Encoding": "br", "content-length": "7", "X-A": "1"}
    url = f"http://one.example:8080/{number}?a=b"
    request = Request(url, headers={"Accept": "*/*", "User-Agent": "test"})
    return request, Response(url, headers=answered, body=BODY, ip_address=ip_address("127.0.0.1"), protocol="HTTP/1.1")


def write(path, *exchanges):
    file = WarcFile(path, ABOUT)
    for one in exchanges:
        file.add(*one)
    file.close()


def records(path):
    with path.open("rb") as stream:
        return [
            (one.rec_type, one.rec_headers.get_header, one.http_headers, one.content_stream().read())
            for one in archive.ArchiveIterator(stream, check_digests="raise")
        ]


def urls(path):
    return [header("WARC-Target-URI") for kind, header, *_ in records(path) if kind == "response"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "crawl.warc.gz"


def test_response_is_stored_with_its_request(path):
    write(path, exchange())
    info, (kind, header, http, content), request = records(path)
    assert (info[0], info[3]) == ("warcinfo", b"software: test\r\n")
    about = [header(f"WARC-{name}") for name in ("Target-URI", "IP-Address", "Truncated")]
    assert about == ["http://one.example:8080/0?a=b", "127.0.0.1", None]
    assert (kind, http.get_statuscode(), content) == ("response", "200", BODY)
    assert http.headers == [("Content-Type", "text/html"), ("X-A", "1"), ("Content-Length", str(len(BODY)))]
    assert (request[0], request[2].statusline, request[2].protocol) == ("request", "/0?a=b HTTP/1.1", "GET")
    assert request[2].get_header("Host") == "one.example:8080"
    assert request[1]("WARC-Concurrent-To") == header("WARC-Record-ID")


def test_incomplete_end_of_any_length_is_removed(path):
    write(path, exchange(1))
    first = path.stat().st_size
    write(path, exchange(2))
    whole = path.read_bytes()
    for size in [*range(first + 1, first + 40), *range(first + 40, len(whole), 61), len(whole) - 1]:
        path.write_bytes(whole[:size])
        write(path, exchange(3))
        found = urls(path)  # raises for a broken record
        assert found[0].endswith("/1?a=b")
        assert found[-1].endswith("/3?a=b")


def test_file_with_only_an_incomplete_record_is_emptied(path, monkeypatch):
    monkeypatch.setattr(warc, "LOOK_BYTES", 64)  # a record is larger than the first read
    write(path, exchange(1))
    path.write_bytes(path.read_bytes()[:30])
    for number in (2, 3):
        write(path, exchange(number))
    assert urls(path) == [f"http://one.example:8080/{number}?a=b" for number in (2, 3)]


@pytest.mark.parametrize("content", [b"something else", gzip.compress(b"a text", mtime=0)], ids=["text", "gzip"])
def test_file_of_another_format_is_refused_and_unchanged(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is not a compressed WARC file; name another file"):
        WarcFile(path, ABOUT)
    assert path.read_bytes() == content


def test_second_writer_of_a_file_is_refused(path):
    file = WarcFile(path, ABOUT)
    with pytest.raises(ConfigError, match="is in use by another crawl"):
        WarcFile(path, ABOUT)
    file.close()
    write(path, exchange())


def test_full_disk_leaves_only_complete_records(path, monkeypatch):
    file = WarcFile(path, ABOUT)
    file.add(*exchange(1))
    write_part = os.pwrite

    def full(descriptor, data, offset):
        if len(data) < 300:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_part(descriptor, data[:100], offset)

    with monkeypatch.context() as patch:
        patch.setattr(warc.os, "pwrite", full)
        with pytest.raises(StoreError, match="No space left on device; free some space"):
            file.add(*exchange(2))
    file.add(*exchange(3))
    file.close()
    assert urls(path) == [f"http://one.example:8080/{n}?a=b" for n in (1, 3)]


def test_error_without_warcio_says_what_to_install(monkeypatch):
    monkeypatch.setattr(warc.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"^WARC_FILE needs warcio.*pip install warcio"):
        check_warc("WARC_FILE")

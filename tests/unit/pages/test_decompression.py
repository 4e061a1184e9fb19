"""Bodies are decompressed as browsers do it, within limits of size, layers and parts."""

import gzip
import random
import zlib
from contextlib import suppress
from functools import partial

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from crawlers.errors import BadBody, DamagedBody
from crawlers.pages.decompression import MAX_LAYERS, MAX_PARTS, decompressed
from tests.support.memory import peak_bytes

MEGABYTE = 1 << 20
TEXT = b"<!DOCTYPE html><title>Fine</title>" * 20


def raw_deflate(body):
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(body) + compressor.flush()


COMPRESS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=1),
    "zstd": zstd.compress,
}
ALL = pytest.mark.parametrize(("name", "compress"), [*COMPRESS.items(), ("deflate", raw_deflate)])


@ALL
@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 131_072, 131_500, 1_000_003])
def test_bodies_of_all_sizes_are_restored(name, compress, size):
    for body in (bytes(size), bytes(range(256)) * (size // 256)):
        assert decompressed(compress(body), [name], MEGABYTE) == body
        assert decompressed(compress(body), [name], 0) == body


@given(st.binary(max_size=300), st.sampled_from(sorted(COMPRESS)))
def test_any_body_is_restored(body, name):
    assert decompressed(COMPRESS[name](body), [name.upper() + " "], 300) == body


@given(st.binary(max_size=300), st.sampled_from(sorted(COMPRESS)))
def test_any_bytes_are_decompressed_or_refused(body, name):
    with suppress(BadBody):
        assert len(decompressed(body, [name], 1000)) <= 1000


@pytest.mark.parametrize("encodings", [["gzip, br"], ["gzip", "br"], ["GZIP ,Br"], ["", "gzip", "identity, br"]])
def test_encodings_are_removed_in_reverse_order(encodings):
    assert decompressed(brotli.compress(gzip.compress(TEXT)), encodings, 0) == TEXT


@pytest.mark.parametrize("name", ["gzip", "x-gzip", "zstd"])
def test_plain_text_with_a_wrong_header_stays_as_it_is(name):
    assert decompressed(TEXT, [name], 0) == TEXT


@pytest.mark.parametrize("length", [10, 4_083, 5_000])
def test_header_with_a_checksum_may_be_longer_than_a_piece(length):
    head = b"\x1f\x8b\x08\x0a" + bytes(6) + b"n" * length + b"\0"  # with a name and a checksum (RFC 1952 section 2.3)
    ends = zlib.crc32(TEXT).to_bytes(4, "little") + len(TEXT).to_bytes(4, "little")
    body = head + (zlib.crc32(head) & 0xFFFF).to_bytes(2, "little") + raw_deflate(TEXT) + ends
    assert decompressed(body, ["gzip"], 0) == TEXT


@ALL
@pytest.mark.parametrize("lost", [1, 5, 100, 500_000, MEGABYTE - 10])
def test_truncated_bodies_are_damaged(name, compress, lost):
    body = compress(random.Random(0).randbytes(MEGABYTE))
    with pytest.raises(DamagedBody, match=rf"\Athe content encoding {name} is damaged\Z"):
        decompressed(body[:-lost], [name], 0)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("gzip", b"\x1f\x8b\x08\0\0\0\0\0\0\0\xff\xff\xff"),
        ("gzip", b"\x1f\x8b\x09"),
        ("deflate", TEXT),
        ("deflate", b"\x78\x9c\xff\xff\xff"),
        ("br", TEXT),
        ("zstd", b"\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff"),
    ],
)
def test_bodies_that_are_not_of_their_encoding_are_damaged(name, body):
    with pytest.raises(DamagedBody, match=rf"\Athe content encoding {name} is damaged\Z"):
        decompressed(body, [name], 0)


@ALL
def test_bombs_are_refused_before_they_fill_the_memory(name, compress):
    bomb = compress(bytes(20 * MEGABYTE))

    def refuse():
        with pytest.raises(BadBody, match=r"\Atoo large once decompressed\Z"):
            decompressed(bomb, [name], MEGABYTE)

    assert peak_bytes(refuse) < 4 * MEGABYTE


@pytest.mark.parametrize("depth", range(1, MAX_LAYERS + 1))
def test_nested_bombs_are_refused(depth):
    bomb = bytes(20 * MEGABYTE)
    for _ in range(depth):
        bomb = gzip.compress(bomb)
    with pytest.raises(BadBody, match="too large once decompressed"):
        decompressed(bomb, ["gzip"] * depth, MEGABYTE)


def test_layers_are_limited():
    body = TEXT
    for _ in range(MAX_LAYERS):
        body = gzip.compress(body)
    assert decompressed(body, ["gzip"] * MAX_LAYERS, 0) == TEXT
    for header in (["gzip"] * (MAX_LAYERS + 1), ["gzip," * 100_000]):
        with pytest.raises(BadBody, match="more than 3 content encodings"):
            decompressed(gzip.compress(body), header, 0)


@pytest.mark.parametrize(("name", "compress"), [("gzip", gzip.compress), ("zstd", zstd.compress)])
def test_parts_are_joined_and_limited(name, compress):
    assert decompressed(compress(b"a") * MAX_PARTS, [name], 0) == b"a" * MAX_PARTS
    for part in (b"a", b""):
        with pytest.raises(BadBody, match="more than 1,000 compressed parts"):
            decompressed(compress(part) * (MAX_PARTS + 1), [name], 0)


def test_large_windows_of_zstd_are_refused():
    frame = zstd.compress(bytes(2 * MEGABYTE), options={zstd.CompressionParameter.window_log: 27})
    unsized = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    with pytest.raises(DamagedBody):
        decompressed(unsized.compress(TEXT) + unsized.flush(), ["zstd"], 0)
    assert len(decompressed(frame, ["zstd"], 0)) == 2 * MEGABYTE  # the frame states its size, so its window is smaller

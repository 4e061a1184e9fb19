"""Removes the content encodings of a response (RFC 9110 section 8.4), with limits on memory and time.

A few hundred bytes can stand for gigabytes, for a million empty parts, or for hundreds of layers. Scrapy limits only
the size: 300 layers of uncompressed gzip took 7 seconds of a processor, in which the whole crawl stood still.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

import brotli
from backports import zstd
from zlib_ng import zlib_ng

from crawlers.errors import BadBody, DamagedBody
from crawlers.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_LAYERS = 3  # servers that compress a compressed file send two
MAX_PARTS = 1_000  # gzip members or zstd frames one after the other; block gzip has 256 in 16 MB
ZSTD_WINDOW_LOG = 23  # 8 MB, which RFC 9659 section 3 allows for content encodings
_PIECE = 4_096  # bytes that are decompressed at a time, of which nothing is read if they are damaged
_CHUNK = 65_536  # bytes that result at a time
_GZIP_WINDOW, _ZLIB_WINDOW, _RAW_WINDOW = 31, 15, -15
_ZLIB_ERROR = cast("type[Exception]", zlib_ng.error)  # its type stub takes the class for an exception
_DAMAGED = (_ZLIB_ERROR, brotli.error, zstd.ZstdError, EOFError)


class _Decoder(Protocol):
    """What the decompressors of zlib and zstd have in common."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /, max_length: int) -> bytes: ...


class _Coding(NamedTuple):
    new_decoder: Callable[[], _Decoder]
    magic: bytes  # with which every part begins


def decompressed(body: bytes, encodings: Iterable[str], most: int) -> bytes:
    """Return *body* without its *encodings*, the values of all its Content-Encoding headers.

    At most *most* bytes may result from each layer; 0: no limit. Unknown encodings are ignored, as in browsers, and so
    are those that the first bytes disprove: many servers declare gzip and send plain text.

    Raises `BadBody` beyond a limit, `DamagedBody` for damaged or truncated data: half a page would look whole.

    >>> decompressed(zlib_ng.compress(b"text"), ["deflate"], 1000)
    b'text'
    """
    names = [name.strip().lower() for header in encodings for name in header.split(",")]
    layers = [name for name in names if name in _DECODERS]
    if len(layers) > MAX_LAYERS:
        raise BadBody(Reason.MANY_ENCODINGS.of(MAX_LAYERS))
    for name in reversed(layers):
        if body:
            body = _DECODERS[name](body, most or sys.maxsize, name)
    return body


def _gzip(body: bytes, most: int, name: str) -> bytes:
    magic = b"\x1f\x8b"  # RFC 1952 section 2.3.1
    return _parts(body, _Coding(lambda: zlib_ng.decompressobj(_GZIP_WINDOW), magic), most, name)


def _deflate(body: bytes, most: int, name: str) -> bytes:
    """Decompress zlib data, or raw deflate data, which some servers send instead."""
    is_zlib = body[0] & 15 == 8 and int.from_bytes(body[:2]) % 31 == 0  # RFC 1950 section 2.2
    window = _ZLIB_WINDOW if is_zlib else _RAW_WINDOW
    return _parts(body, _Coding(lambda: zlib_ng.decompressobj(window), b""), most, name)


def _zstd(body: bytes, most: int, name: str) -> bytes:
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG}
    magic = b"\x28\xb5\x2f\xfd"  # RFC 8878 section 3.1.1
    return _parts(body, _Coding(lambda: zstd.ZstdDecompressor(options=options), magic), most, name)


def _parts(body: bytes, coding: _Coding, most: int, name: str) -> bytes:
    """Decompress the parts of *body*; what follows them is ignored. zlib keeps its input, zstd keeps it inside."""
    if not body.startswith(coding.magic):
        return body
    output = _Output(most)
    decoder, parts, at = coding.new_decoder(), 1, 0
    try:
        while at < len(body):
            piece = body[at : at + _PIECE]
            at += len(piece)
            output.add(decoder.decompress(piece, _CHUNK))
            while not decoder.eof and (rest := _rest(decoder)) is not None:
                output.add(decoder.decompress(rest, _CHUNK))
            if decoder.eof:
                at -= len(decoder.unused_data)
                if not coding.magic or not body.startswith(coding.magic, at):
                    break
                parts += 1
                if parts > MAX_PARTS:
                    raise BadBody(Reason.MANY_COMPRESSED_PARTS.of(MAX_PARTS), output.whole())
                decoder = coding.new_decoder()
        if not decoder.eof:
            output.add(decoder.decompress(b"", _CHUNK))  # what zlib has read, but not returned
    except _DAMAGED as error:
        raise output.damage(name) from error
    if not decoder.eof:
        raise output.damage(name)
    return output.whole()


def _rest(decoder: _Decoder) -> bytes | None:
    """Return what must be passed to *decoder* before further input; None if it needs input."""
    if isinstance(decoder, zstd.ZstdDecompressor):
        return None if decoder.needs_input else b""
    tail: bytes = decoder.unconsumed_tail  # type: ignore[attr-defined]
    return tail or None


def _brotli(body: bytes, most: int, name: str) -> bytes:
    output = _Output(most)
    decoder = brotli.Decompressor()
    try:
        for at in range(0, len(body), _CHUNK):
            if decoder.is_finished():
                break
            piece = decoder.process(body[at : at + _CHUNK], output_buffer_limit=_CHUNK)
            while piece:
                output.add(piece)
                piece = decoder.process(b"", output_buffer_limit=_CHUNK)
    except _DAMAGED as error:
        raise output.damage(name) from error
    if not decoder.is_finished():
        raise output.damage(name)
    return output.whole()


class _Output:
    """The decompressed bytes, at most *most*."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, piece: bytes) -> None:
        self._size += len(piece)
        self._pieces.append(piece)
        if self._size > self._most:
            raise BadBody(Reason.TOO_LARGE_DECOMPRESSED, self.whole())

    def whole(self) -> bytes:
        return b"".join(self._pieces)

    def damage(self, name: str) -> DamagedBody:
        return DamagedBody(Reason.DAMAGED_ENCODING.of(name), self.whole())


_DECODERS: dict[str, Callable[[bytes, int, str], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}

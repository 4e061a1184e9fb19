"""Every code of every index of the WHATWG Encoding Standard is decoded as it says."""

import hashlib
from pathlib import Path

import pytest

from crawlers.extraction.charset import _read
from crawlers.extraction.charset_declarations import codec_of

LINES = (Path(__file__).parent / "encoding_indexes.txt").read_text().splitlines()
INDEXES = [line.split() for line in LINES if not line.startswith("#")]


def codes(name):
    """Yield the bytes of each pointer of the index, as the decoder of the encoding computes them."""
    if name in ("euc-jp", "iso-2022-jp"):
        starts = {"euc-jp": (b"", b"\x8f"), "iso-2022-jp": (b"\x1b$B",)}[name]
        lowest = 0xA1 if name == "euc-jp" else 0x21
        for start in starts:
            for pointer in range(94 * 94):
                yield start + bytes((pointer // 94 + lowest, pointer % 94 + lowest))
        kana, low = (b"\x8e", 0xA1) if name == "euc-jp" else (b"\x1b(I", 0x21)
        yield from (kana + bytes((byte,)) for byte in range(low, low + 63))
    elif name == "shift_jis":
        for pointer in range(11280):
            lead, trail = divmod(pointer, 188)
            yield bytes((lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)))
        yield from (bytes((byte,)) for byte in (0x80, 0xA0, *range(0xA1, 0xE0), 0xFD, 0xFE, 0xFF))
    elif name == "big5":
        for pointer in range(19782):
            lead, trail = divmod(pointer, 157)
            yield bytes((lead + 0x81, trail + (0x40 if trail < 0x3F else 0x62)))
    elif name == "euc-kr":
        yield from (bytes((pointer // 190 + 0x81, pointer % 190 + 0x41)) for pointer in range(23940))
    elif name in ("gbk", "gb18030"):
        for pointer in range(23940):
            lead, trail = divmod(pointer, 190)
            yield bytes((lead + 0x81, trail + (0x40 if trail < 0x3F else 0x41)))
        yield from (b"\x80", b"\xff")
        for pointer in (*range(39420), *range(189000, 1237576, 997)):
            rest, fourth = divmod(pointer, 10)
            rest, third = divmod(rest, 126)
            first, second = divmod(rest, 10)
            yield bytes((first + 0x81, second + 0x30, third + 0x81, fourth + 0x30))
    else:
        yield from (bytes((byte,)) for byte in range(0x80, 0x100))


@pytest.mark.parametrize(("name", "number", "sha256"), INDEXES, ids=[index[0] for index in INDEXES])
def test_index(name, number, sha256):
    charset = codec_of(name)
    texts = [f"{_read(code, charset)}\n" for code in codes(name)]
    assert len(texts) == int(number)
    assert hashlib.sha256("".join(texts).encode()).hexdigest() == sha256


@pytest.mark.parametrize(
    ("charset", "code", "text"),
    [
        ("euc-jp", "a9a1a4a2", "\ufffdあ"),  # no such character: both bytes are broken
        ("euc-jp", "8ffefea4a2", "\ufffdあ"),
        ("euc-jp", "ad3c", "\ufffd<"),  # a byte in ASCII is none of the broken ones
        ("euc-jp", "80ffa4", "\ufffd\ufffd\ufffd"),
        ("shift_jis", "81ad82a0", "\ufffdあ"),
        ("shift_jis", "a0", "\ufffd"),
        ("big5", "ffa241", "\ufffd∕"),
        ("gbk", "803530ff30", "€50\ufffd0"),
        ("big5", "a4a2413c", "丐A<"),
        ("iso-2022-jp", "1b244224221b2842", "あ"),
        ("iso-2022-jp", "1b24421b2842", "\ufffd"),  # a set without characters is an error
        ("iso-2022-jp", "411b421b", "A\ufffdB\ufffd"),
        ("iso-2022-jp", "1b244224220a24", "あ\ufffd\ufffd"),
    ],
)
def test_broken_characters_are_replaced_as_the_standard_says(charset, code, text):
    assert _read(bytes.fromhex(code), codec_of(charset) or "") == text

"""Charsets of pages: declared, misdeclared or undeclared."""

import hashlib
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.pages.charset import decode
from crawlers.pages.charset_names import codec_of
from crawlers.pages.charset_texts import read

RUSSIAN = (
    "Эта страница написана по-русски и нигде не говорит, в какой кодировке она сохранена. "
    "Раньше таких страниц было много, и читатель сам выбирал кодировку в меню браузера."
)
JAPANESE = (
    "このページは日本語で書かれていますが、文字コードをどこにも宣言していません。"
    "昔はそのようなページがたくさんあり、読者が自分で文字コードを選んでいました。"
)


def page(text, charset, declared=""):
    meta = f'<meta charset="{declared}">' if declared else ""
    return f"<html><head>{meta}<title>{text}</title></head><body><p>{text}</p></body></html>".encode(charset)


WRITTEN = [(RUSSIAN, "koi8-r"), (RUSSIAN, "cp1251"), (JAPANESE, "euc_jp"), (JAPANESE, "cp932")]


@pytest.mark.parametrize(
    ("text", "charset"),
    [*WRITTEN, (JAPANESE, "iso2022_jp"), (RUSSIAN, "utf-16-le"), (RUSSIAN, "utf-16-be")],
)
@pytest.mark.parametrize("length", [60, 10_000])
def test_undeclared_page_is_detected(text, charset, length):
    text = (text * 200)[:length]
    utf8, found = decode(page(text, charset), None)
    assert found == charset
    assert text in utf8.decode()


@pytest.mark.parametrize(("text", "charset"), WRITTEN)
@pytest.mark.parametrize(("header", "meta"), [("utf-8", ""), ("", "utf-8"), ("utf-8", "utf-8")])
def test_false_declaration_of_utf8_is_ignored(text, charset, header, meta):
    utf8, found = decode(page(text, charset, meta), f"text/html; charset={header}" if header else None)
    assert found == charset
    assert text in utf8.decode()


def test_meta_takes_precedence_over_a_false_header():
    body = page("Ёжик", "koi8-r", "koi8-r")
    assert decode(body, "text/html; charset=utf-8")[1] == "koi8-r"
    assert decode(body, "text/html; charset=ISO-8859-1")[1] == "koi8-r"


def test_bom_takes_precedence_and_is_removed():
    for charset in ("utf-8", "utf-16-le", "utf-16-be"):
        body = "\ufeff<p>Ёж</p>".encode(charset)
        assert decode(body, "text/html; charset=koi8-r") == ("<p>Ёж</p>".encode(), charset)


@pytest.mark.parametrize("label", ["nonsense", "rot13", "zlib", "punycode", "utf-7", "undefined", '"', ""])
def test_unknown_label_falls_back_to_the_next_source(label):
    assert decode(page("Ёж", "koi8-r", "koi8-r"), f"text/html; charset={label}")[1] == "koi8-r"


def test_ascii_is_in_the_charset_that_it_declares_for_the_queries_of_its_links():
    body = page("plain", "ascii", "euc-jp")
    assert decode(body, None) == (body, "euc_jp")
    assert decode(body, "text/html; charset=koi8-r") == (body, "koi8-r")
    assert decode(page("plain", "ascii"), "text/html") == (page("plain", "ascii"), "utf-8")


def test_utf8_with_few_broken_bytes_is_kept():
    body = page(RUSSIAN, "utf-8")[:-40] + b"\xff\xd0"
    assert decode(body, "text/html; charset=utf-8") == (body, "utf-8")
    assert decode(body, None) == (body, "utf-8")


def test_accented_text_is_not_detected_as_russian_or_japanese():
    text = "Les élèves français étaient à la fête près du château où l’été s’achève, naguère très fréquenté."
    assert decode(page(text * 3, "cp1252"), None)[1] not in {"cp1251", "koi8-r", "euc_jp", "cp932"}


@pytest.mark.parametrize(
    "body",
    [
        b"a" * 600_000 + b"\xe9",
        b"<" * 200_000 + b"\xff" * 9,
        b"<meta charset=" * 50_000 + b"\xe9",
        b"\xe9" * 600_000,
        b"\xa9\xa1<" * 200_000,
        b"\x1b(B" * 200_000,
    ],
    ids=["text", "brackets", "metas", "high", "missing", "shifts"],
)
@pytest.mark.parametrize("charset", ["utf-8", "euc-jp", "big5", "iso-2022-jp"])
def test_large_garbage_takes_linear_time(body, charset):
    start = time.process_time()
    decode(body, f"text/html; charset={charset}")
    assert time.process_time() - start < 2  # it is 0.01 s; quadratic would be minutes


@given(
    st.binary(max_size=400) | st.text().map(lambda text: text.encode("utf-16")),
    st.none() | st.text(max_size=30) | st.sampled_from(["utf-16", "iso-2022-jp", "hz", "gb18030", "utf-32"]),
    st.binary(max_size=12),
)
def test_bytes_never_raise(body, label, prefix):
    utf8, charset = decode(prefix + body, None if label is None else f"text/html; charset={label}")
    assert isinstance(utf8, bytes)
    assert charset
    if charset != "utf-8":
        utf8.decode()


# The indexes of the WHATWG Encoding Standard


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
    texts = [f"{read(code, charset)}\n" for code in codes(name)]
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
    assert read(bytes.fromhex(code), codec_of(charset) or "") == text

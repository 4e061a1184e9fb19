"""Every label of the standard's table is understood, wherever it is declared."""

from pathlib import Path

import pytest

from crawlers.pages.charset import decode
from crawlers.pages.charset_names import codec_of, of_body, of_header

# The encodings in which each text can be written, and Python's names of those that it calls otherwise.
TEXTS_OF = {
    "Привет, мир": "utf-8 ibm866 iso-8859-5 koi8-r windows-1251 x-mac-cyrillic utf-16be utf-16le",
    "Привіт, світ": "koi8-u",
    "äöü": "iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 macintosh "
    "windows-1250 windows-1252 windows-1254 windows-1257 windows-1258",
    "مرحبا": "iso-8859-6 windows-1256",
    "Καλημέρα": "iso-8859-7 windows-1253",
    "שלום עולם": "iso-8859-8 iso-8859-8-i windows-1255",
    "สวัสดี": "windows-874",
    "简体中文测试㐀": "gbk gb18030",
    "繁體中文測試㗎": "big5",
    "日本語テスト": "euc-jp iso-2022-jp",
    "日本語テスト①": "shift_jis",
    "한국어 시험뷁": "euc-kr",
}
CODECS = {
    "macintosh": "mac_roman", "windows-874": "cp874", "x-mac-cyrillic": "mac_cyrillic", "gbk": "gb18030",
    "big5": "big5hkscs", "shift_jis": "cp932", "euc-kr": "cp949", "iso-8859-8-i": "iso-8859-8",
}  # fmt: skip
TEXTS = {name: (text, CODECS.get(name, name)) for text, names in TEXTS_OF.items() for name in names.split()}
LINES = (Path(__file__).parent / "encoding_labels.txt").read_text().splitlines()
TABLE = {
    label: name for line in LINES if line[:1].isalnum() for name, _, of_it in [line.partition(": ")]
    for label in of_it.split()
}  # fmt: skip
READABLE = sorted(label for label, name in TABLE.items() if name in TEXTS)
IN_ASCII = [label for label in READABLE if not TABLE[label].startswith("utf-16")]


def written(text, codec, head=""):
    return f"<html><head>{head}<title>{text}</title></head></html>".encode(codec)


@pytest.mark.parametrize("label", READABLE)
def test_label_in_the_header_is_understood(label):
    text, codec = TEXTS[TABLE[label]]
    body = written(text, codec)
    for spelled in (label, label.upper(), f'"{label}"', f"'{label}'"):
        assert text in decode(body, f"text/html; charset={spelled}")[0].decode()


@pytest.mark.parametrize("label", IN_ASCII)
def test_label_on_the_page_is_understood(label):
    text, codec = TEXTS[TABLE[label]]
    for head in (
        f'<meta charset="{label}">',
        f"<META CHARSET={label.upper()} />",
        f'<meta http-equiv="Content-Type" content="text/html; charset={label}">',
        f"""<meta http-equiv=Content-Type content='text/html; charset="{label}"'>""",
        f'<meta http-equiv=Content-Type content="text/html; charset=&quot;{label}&quot;">',
    ):
        assert text in decode(written(text, codec, head), None)[0].decode()
    assert text in decode(f'<?xml version="1.0" encoding="{label}"?>'.encode() + written(text, codec), None)[0].decode()


@pytest.mark.parametrize("label", [label for label, name in TABLE.items() if name.startswith("utf-16")])
def test_utf_16_on_a_page_that_reads_as_ascii_means_utf_8(label):
    assert of_body(f"<meta charset={label}>".encode()) == "utf-8"
    assert of_body(f"<?xml version='1.0' encoding='{label}'?>".encode()) == "utf-8"


def test_user_defined_bytes_are_private_characters_by_the_header_and_windows_1252_by_meta():
    body = b"<p>\x80\xff</p>"
    assert decode(body, "text/html; charset=x-user-defined") == ("<p>\uf780\uf7ff</p>".encode(), "x-user-defined")
    assert decode(b"<meta charset=x-user-defined>" + body, None)[0].endswith("<p>€ÿ</p>".encode())


@pytest.mark.parametrize("label", [label for label, name in TABLE.items() if name == "replacement"])
def test_pages_in_charsets_that_browsers_replace_keep_their_links(label):
    codec = codec_of(label)
    assert codec in ("iso2022_kr", "hz", None)
    text = "한국어 시험" if codec == "iso2022_kr" else "plain"
    body = f"<a href=/x>{text}</a>".encode(codec or "ascii")
    utf8 = decode(body, f"text/html; charset={label}")[0]
    assert utf8.startswith(b"<a href=/x>")
    assert text in utf8.decode()


@pytest.mark.parametrize(
    "before",
    [
        b"<!-- " + b"x" * 5000 + b" -->",
        b"<meta charset=nonsense>",
        b"<meta http-equiv=content-type content='text/html; charset=nonsense'>" * 2,
        b"<meta name=description content='charset=utf-16'>",
        b"<!-- <meta charset=windows-1251> -->",
        b"<!--><script>'<meta charset=windows-1251>'</script >",
        b"<a title='<meta charset=windows-1251>'>",
        b"<style>" + b"a{}" * 3000 + b"</style>",
        b"<script>'</scripts>'; '<meta charset=windows-1251>'</script>",
        b"<style media='</style'><meta charset=windows-1251></style>",
        b"<iframe><meta charset=windows-1251></iframe>",
        b"<!-- --!>",
        b"<![CDATA[<meta charset=windows-1251>]]>",
        b"<body>" + b"<p class='a>b'>x</p>" * 1000,
        b"<meta charset=''><meta charset><meta content='charset=windows-1251'>",
        b"<?xml version='1.0' encoding='windows-1251'?>",
    ],
    ids=range(16),
)
def test_first_known_declaration_counts_wherever_it_stands(before):
    assert of_body(before + b"<meta charset='koi8-r'><meta charset=windows-1251><p>") == "koi8-r"


@pytest.mark.parametrize(
    ("header", "charset"),
    [
        ("text/html", None),
        ("text/html; charset=nonsense; charset=koi8-r", "koi8-r"),
        ("text/html;charset='koi8-r'", "koi8-r"),
        ('text/html; a="; charset=utf-8"; charset=iso_8859-5:1988', "iso8859-5"),
        ("charset=koi8-r", "koi8-r"),
        ("text/html; charset=\x00", None),
        ("text/html; charset=\ud800", None),
    ],
)
def test_header(header, charset):
    assert of_header(header) == charset


UNDECLARED = b"", b"charset=koi8-r", b"<p charset=koi8-r>", b"<meta name=charset content=koi8-r>", b"<meta charset"


@pytest.mark.parametrize("body", UNDECLARED)
def test_undeclared_page_has_no_charset(body):
    assert of_body(body) is None

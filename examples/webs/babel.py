"""The site of encodings: Russian, Japanese and others, declared by header, by meta, not at all, or falsely.

`TEXTS` gives encoding and declaration of each page; `true_title` its title.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, NamedTuple

from examples.webs.pages import document, link, links, missing, page, typed
from examples.webs.prose import rng_of, words

if TYPE_CHECKING:
    from examples.webs.pages import Web, WebResponse

_WORDS = {
    "ru": words("река мост башня корабль осень письмо лодка берег мельница зима песня фонарь дорога яблоко"),
    "ja": words("川 橋 塔 船 秋 手紙 岸 水車 冬 歌 灯台 道 林檎 雨"),
    "zh": words("河流 桥梁 高塔 船 秋天 信 岸边 水车 冬天 歌 灯塔 道路 苹果 雨"),
    "de": words("Brücke Straße Fluß Mühle Lärche Öl Äpfel Übung Schlüssel Gärten"),
}


class Text(NamedTuple):
    """The encoding and the declarations of one page; "" means undeclared."""

    lang: str
    codec: str  # Python's name of the actual encoding
    header: str = ""  # charset of the Content-Type header
    meta: str = ""  # charset of a meta element


def _texts() -> dict[str, Text]:
    found = {}
    charsets = (
        ("ru", "koi8-r"),
        ("ru", "windows-1251"),
        ("ja", "euc-jp"),
        ("ja", "shift_jis"),
        ("ja", "iso-2022-jp"),
        ("zh", "gb18030"),
        ("de", "iso-8859-1"),
        ("ru", "utf-8"),
    )
    for lang, charset in charsets:
        found[f"/{charset}-header.html"] = Text(lang, charset, header=charset)
        found[f"/{charset}-meta.html"] = Text(lang, charset, meta=charset)
        found[f"/{charset}-silent.html"] = Text(lang, charset)
    found |= {
        "/utf-16-bom.html": Text("ru", "utf-16-le"),
        "/utf-16-bom-be.html": Text("ja", "utf-16-be"),
        "/utf-8-bom.html": Text("ja", "utf-8-sig"),
        # False declarations. A header takes precedence over a meta element, a byte order mark over both (HTML
        # standard, 13.2.3.2 "Determining the character encoding").
        "/false-meta.html": Text("ru", "koi8-r", header="koi8-r", meta="utf-8"),
        "/false-header.html": Text("ru", "windows-1251", header="utf-8", meta="windows-1251"),
        "/false-both.html": Text("ja", "euc-jp", header="utf-8", meta="utf-8"),
        "/false-cousin.html": Text("ru", "koi8-r", header="windows-1251"),
        "/false-bom.html": Text("ru", "utf-8-sig", header="koi8-r", meta="koi8-r"),
        "/false-latin.html": Text("ru", "utf-8", header="iso-8859-1"),
        "/false-utf-16-meta.html": Text("ja", "utf-8", meta="utf-16"),  # a meta of utf-16 means utf-8
    }
    return found


TEXTS = _texts()
_BOMS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}

# Content-Type, and whether the body is a page: missing, unusual and misleading types.
TYPES: dict[str, tuple[str, bool]] = {
    "/type/none.html": ("", True),
    "/type/none": ("", True),
    "/type/none-binary": ("", False),
    "/type/plain.html": ("text/plain", True),
    "/type/plain.txt": ("text/plain; charset=utf-8", True),
    "/type/xhtml.html": ("application/xhtml+xml", True),
    "/type/octet.html": ("application/octet-stream", True),
    "/type/octet": ("application/octet-stream", False),
    "/type/report.pdf": ("application/pdf", False),
    "/type/report": ("application/pdf", False),
    "/type/really-html.pdf": ("text/html; charset=utf-8", True),
    "/type/image.html": ("text/html; charset=utf-8", False),
    "/type/upper.html": ("TEXT/HTML;CHARSET=UTF-8", True),
    "/type/nonsense.html": ("nonsense", True),
}
_PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n\x00\x01\x02\x03"

# Non-ASCII paths: linked from a koi8-r page as they are, requested as percent-encoded UTF-8.
FOREIGN = {"/%D1%80%D0%B5%D0%BA%D0%B0.html": "/река.html", "/%E6%A9%8B.html": "/橋.html"}


def _phrase(lang: str, seed: str, words: int) -> str:
    rng = rng_of(f"babel {seed}")
    gap = "" if lang in ("ja", "zh") else " "
    return gap.join(rng.choice(_WORDS[lang]) for _ in range(words))


def true_title(path: str) -> str:
    """Return the title of a page of `TEXTS`, as readers see it."""
    return _phrase(TEXTS[path].lang, path, 4)


def _text(web: Web, path: str) -> WebResponse:
    text = TEXTS[path]
    head = f'<meta http-equiv="content-type" content="text/html; charset={text.meta}">' if text.meta else ""
    prose = "".join(f"<p>{_phrase(text.lang, f'{path} {n}', 30)}.</p>" for n in range(3))
    prose += links(FOREIGN.values()) if path == "/koi8-r-header.html" else ""
    whole = document(web, "babel", path, true_title(path), prose, head=head)
    body = _BOMS.get(text.codec, b"") + whole.encode(text.codec, "xmlcharrefreplace")
    return typed("text/html" + (f"; charset={text.header}" if text.header else ""), body)


def _of_type(web: Web, path: str) -> WebResponse:
    content_type, is_page = TYPES[path]
    if not is_page:
        return typed(content_type, _PDF + path.encode())
    whole = document(web, "babel", path, f"Type: {path}", link("/type/behind.html", "behind"))
    if "xhtml" in content_type:
        whole = whole.replace("<html", '<html xmlns="http://www.w3.org/1999/xhtml"')
    return typed(content_type, whole.encode())


def respond(web: Web, path: str, query: str) -> WebResponse:
    """Return babel's response; the query is ignored."""
    if path in TEXTS:
        return _text(web, path)
    if path in TYPES:
        return _of_type(web, path)
    if path == "/":
        return page(web, "babel", path, "Babel", links([*TEXTS, *TYPES]))
    if path in FOREIGN or path == "/type/behind.html":
        return page(web, "babel", path, FOREIGN.get(path, "Behind the types"), link("/", "home"))
    return missing()

"""Joining links, the whole normal form, sites and variants."""

from __future__ import annotations

import urllib.parse
from contextlib import suppress

import can_ada
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.errors import BadUrl
from crawlers.reports.histories.url_history import STANDARD, FormStep, form_steps
from crawlers.urls.link_resolver import LinkResolver
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import (
    MAX_URL,
    join,
    normalize,
    resolve,
    site_of,
    variant_rank,
    without_credentials,
)

BASE = "http://example.com/a/b?c=d"

# Pieces with a meaning to a URL parser, so that random URLs reach its corner cases.
WORDS = r"""
    http: HTTPS:// // / . .. %2e %2E%2e ? # & = ; \ @ : :80 :443 [::1] 127.0.0.1 h Ex.COM é я % %3a %C3%a9
    x.html mailto: javascript: data: utm_x=1 jsessionid=2 a=1 b= sid=0123456789abcdef 😀 + ' < | ^ ` { "
"""
PIECES = [*WORDS.split(), "a b", "\t", "\n", " ", "\x00", "\x1f", "\ud800", "\udfff", "\ufeff"]
TEXTS = st.one_of(
    st.text(st.characters(codec=None), max_size=30),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
)
HTTP_URLS = st.builds("http://{}/{}".format, st.sampled_from(["h", "Ex.com:80", "u@h:81", "[::1]"]), TEXTS)
NAMES = [name for name in Normalization.__dataclass_fields__ if name[0] != "_" and name.count("_") in (1, 2)]
STEPS = [name for name in NAMES if name not in ("ip_names", "ignored_parameters")]
OPTIONS = st.dictionaries(st.sampled_from(STEPS), st.booleans()).map(lambda chosen: Normalization(**chosen))


@given(st.one_of(TEXTS, HTTP_URLS), OPTIONS)
def test_normalization_is_idempotent(url, options):
    try:
        once = normalize(url, options)
    except BadUrl:
        return
    assert once.isascii()
    assert normalize(once, options) == once


@given(st.binary(min_size=1, max_size=20))
def test_escapes_keep_their_meaning(raw):
    path = "".join(f"%{byte:02x}" if byte % 2 else f"%{byte:02X}" for byte in raw if byte not in b"./")
    key = normalize(f"http://h/{path}.html")
    wanted = bytes(byte for byte in raw if byte not in b"./") + b".html"
    assert urllib.parse.unquote_to_bytes(key.removeprefix("http://h/")) == wanted
    assert key == normalize(f"http://h/{path.lower()}.html") == normalize(f"http://h/{path.upper()}.html")


@given(
    st.one_of(TEXTS, HTTP_URLS),
    TEXTS,
    st.sampled_from([None, "utf-8", "cp1251", "shift_jis", "iso2022_jp", "idna"]),
)
def test_no_link_raises_anything_but_bad_url(base, href, encoding):
    try:
        url = join(base, href, encoding)
        target = resolve(base, href, encoding=encoding)
    except BadUrl:
        return
    assert "#" not in url
    assert target.url == url
    assert target.site == site_of(target.normalized)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "//h/", "http://", "mailto:a@h", "http://h:99999/", "http://a b/"),
        *("\x00" * 100_000, "http://h/" + "a" * 100_000, "\ud800" * 9_000, "http://" + "é" * 9_000),
        *("http://" + "ab." * 2_600 + "/" * 9_000, "http://h/" + "é" * 5_000),
    ],
    ids=range(13),
)
def test_text_that_is_not_a_web_url_is_a_bad_url(text):
    with pytest.raises(BadUrl):
        normalize(text)


def test_longest_url_is_accepted_and_one_more_is_not():
    url = "http://h/" + "a" * (MAX_URL - 14) + ".html"
    assert normalize(url) == url
    with pytest.raises(BadUrl, match="longer than 8,192 characters"):
        normalize("http://h/" + "a" * (MAX_URL - 13) + ".html")
    with pytest.raises(BadUrl, match="longer than 8,192 characters"):
        normalize("http://h/" + "a" * (MAX_URL - 9))  # the slash is one too many


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("", "http://example.com/a/b?c=d"),
        ("#x", "http://example.com/a/b?c=d"),
        ("c #d", "http://example.com/a/c%20"),
        ("//пример.рф", "http://xn--e1afmkfd.xn--p1ai/"),
        ("mailto:a@example.com#x", "mailto:a@example.com"),
        ("/x^y/^?^=^", "http://example.com/x%5Ey/%5E?^=^"),
        ("^", "http://example.com/a/%5E"),
        ("mailto:^@example.com", "mailto:^@example.com"),
        ("//FA\u1e9e.de/\u1e9e", "http://xn--fa-hia.de/%E1%BA%9E"),
        ("/?u=//fa\u1e9e.de", "http://example.com/?u=//fa%E1%BA%9E.de"),
        ("//fa\xdf.de/%E1%BA%9E", "http://xn--fa-hia.de/%E1%BA%9E"),
        ("\ud800", "http://example.com/a/%EF%BF%BD"),
    ],
)
def test_links_are_joined_as_browsers_do(href, url):
    assert join(BASE, href) == url


@pytest.mark.parametrize("host", ["a^b.example", "a%5Eb.example", "xn--0.pt", "xn--a.example", "xn--a-\xe4.example"])
def test_hosts_that_the_parser_does_not_know_are_refused_with_a_reason(host):
    for href in (f"http://{host}/", f"//{host}"):
        with pytest.raises(BadUrl, match=r"\Anot a URL\Z"):
            join(BASE, href)


def test_query_is_sent_in_the_charset_of_the_page_and_path_in_utf_8():
    assert join(BASE, "/я?я=ж&a=b#я", "windows-1251") == "http://example.com/%D1%8F?%FF=%E6&a=b"
    assert join(BASE, "? я \n", "windows-1251") == "http://example.com/a/b?%20%FF"
    assert join(BASE, "HTTPS://other.example/?я", "windows-1251") == "https://other.example/?%FF"
    assert join(BASE, "?é", "iso-8859-1") == "http://example.com/a/b?%E9"
    assert join(BASE, "?é", "utf-16-le") == join(BASE, "?é", "no such charset") == "http://example.com/a/b?%C3%A9"


def test_lone_surrogate_becomes_the_replacement_character():
    assert normalize("http://example.com/\ud800.html") == "http://example.com/%EF%BF%BD.html"
    assert join(BASE, "?\ud800\udfff", "iso-8859-1") == "http://example.com/a/b?%26%2365533%3B%26%2365533%3B"


def test_bytes_of_multibyte_charsets_never_start_a_fragment():
    assert join(BASE, "?ソ", "shift_jis") == "http://example.com/a/b?%83\\"  # as in Chromium and Firefox
    url = join(BASE, "?" + "".join(map(chr, range(0x3040, 0x3090))), "iso2022_jp")
    assert "#" not in url
    assert url.count("%23") > 1


@pytest.mark.parametrize(
    ("href", "reason"),
    [
        ("mailto:a@example.com", "scheme mailto"),
        ("JavaScript:void(0)", "scheme javascript"),
        ("data:text/plain," + "x" * 100_000, "scheme data"),
        ("javascript://[", "scheme javascript"),
        ("http://[", "not a URL"),
        ("x" * 9_000, "longer than 8,192 characters"),
    ],
)
def test_reasons_are_short_and_plain(href, reason):
    with pytest.raises(BadUrl) as caught:
        resolve(BASE, href)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("http://u:p@h/x", "http://h/x"),
        ("//u:p@h/x", "http://h/x"),
        ("https:u:p@h/x", "https://h/x"),
        ("\\\\u:p@h\\x", "http://h/x"),
        ("http://u:p@q:r@h/", "http://h/"),
        ("http://@h/", "http://h/"),
        ("http://u%40:p%2F@h/a@b", "http://h/a@b"),
        ("http://h/a//b@c?d@e//f@g", "http://h/a//b@c?d@e//f@g"),
        ("/@user/x@y", "http://h/@user/x@y"),
        ("http://h?a//u:p@i/", "http://h/?a//u:p@i/"),
    ],
)
def test_urls_have_no_credentials(href, url):
    target = resolve("http://w:secret@h/", href)
    assert target.url == url
    assert "@" not in target.site
    assert LinkResolver().directory("http://w:secret@h/")[href] == target


@given(st.text("ab:@/?#\\ [.", max_size=20))
def test_no_url_has_credentials(text):
    with suppress(BadUrl):
        assert not can_ada.parse(resolve("http://h/", text).url).has_credentials()
    with suppress(BadUrl):
        assert not can_ada.parse(resolve("http://h/", f"http://{text}").url).has_credentials()


def test_credentials_are_removed_from_what_is_no_url():
    assert [without_credentials(raw) for raw in ("http://u:p@[::1", "")] == ["http://[::1", ""]


@pytest.mark.parametrize(
    ("href", "rank"),
    [
        ("/f/", 0),
        ("/f", 1),
        ("/f//", 2),
        ("/f?", 2),
        ("/f?b=1&a=1", 2),
        ("/f/?", 2),
    ],
)
def test_variant_rank_prefers_the_normal_form(href, rank):
    assert variant_rank(resolve(BASE, href)) == rank


DEFAULT = Normalization()


@pytest.mark.parametrize(
    ("url", "options", "steps"),
    [
        ("http://a.test/x/?a=1", DEFAULT, []),
        ("http://a.test/x", DEFAULT, [("add_trailing_slash", "http://a.test/x/")]),
        (
            "HTTP://A.test:80/%7eb//c?utm_source=1&q=",
            DEFAULT,
            [
                ("lower_case_host", "http://a.test:80/%7eb//c?utm_source=1&q="),
                ("drop_default_port", "http://a.test/%7eb//c?utm_source=1&q="),
                ("upper_case_escapes", "http://a.test/%7Eb//c?utm_source=1&q="),
                ("decode_unreserved", "http://a.test/~b//c?utm_source=1&q="),
                ("add_trailing_slash", "http://a.test/~b//c/?utm_source=1&q="),
                ("merge_slashes", "http://a.test/~b/c/?utm_source=1&q="),
                ("sort_parameters", "http://a.test/~b/c/?q=&utm_source=1"),
                ("drop_empty_parameters", "http://a.test/~b/c/?utm_source=1"),
                ("ignored_parameters", "http://a.test/~b/c/"),
            ],
        ),
        ("http://a.test/ü.html", DEFAULT, [(STANDARD, "http://a.test/%C3%BC.html")]),
        (
            "http://[::1]/x.html",
            Normalization(ip_names={"[::1]": "a.test"}),
            [("ip_names", "http://a.test/x.html")],
        ),
        ("http://a.test/x", Normalization(drop_final_slash=True), []),  # added and dropped again
    ],
)
def test_steps_are_those_that_changed_the_url(url, options, steps):
    assert form_steps(url, options) == [FormStep(*step) for step in steps]


@given(
    st.text(alphabet="aB/.%7e?&=;#:ü0 ", max_size=30),
    st.fixed_dictionaries({name: st.booleans() for name in ("merge_slashes", "add_trailing_slash", "lower_case")}),
)
def test_last_step_has_the_normal_form(rest, switched):
    url, options = f"http://a.test/{rest}", Normalization(**switched)
    form = normalize(url, options)
    steps = form_steps(url, options)
    assert (steps[-1].url if steps else url) == form
    assert len({step.name for step in steps}) == len(steps)


def test_text_that_is_not_a_url_of_the_web_is_refused():
    with pytest.raises(BadUrl, match="scheme mailto"):
        form_steps("mailto:a@b.test", DEFAULT)

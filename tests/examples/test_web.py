"""The demo web as documented: pure responses, known sizes, endless traps, true encodings."""

import codecs
import re
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from examples.webs import SITES, Web, babel, mirror, respond
from examples.webs.pages import LANDMARKS
from examples.webs.prose import words

PARTS = words("/ . x deep records 1 7.html article list %D1 ok calendar 2024-05")
PATHS = st.lists(st.sampled_from(PARTS), max_size=9)


def hrefs(body):
    return [unescape(href) for href in re.findall(r'<a href="([^"]*)"', body.decode())]


@settings(derandomize=True, deadline=None, database=None)
@given(
    st.sampled_from(SITES),
    st.one_of(st.text(), PATHS.map("".join)).map("/".__add__),
    st.one_of(st.text(), st.sampled_from(["a=1&b=2", "desk=3&reader=x", "n=5", "\udcff=\udcff"])),
)
@example("mirror", "*", "")
@example("library", "/" + "9" * 10_000, "")
def test_every_request_has_a_constant_response(site, path, query):
    response = respond(site, path, query)
    assert 200 <= response.status < 600
    assert respond(site, path, query) == response


@pytest.mark.parametrize("site", SITES)
def test_every_home_page_links_to_every_other_site(site):
    web = Web()
    response = respond(site, "/", "", web)
    assert response.status == 200
    assert {web.origins[name] + "/" for name in SITES if name != site} <= set(hrefs(response.body))


@pytest.mark.parametrize("scale", [1, 3])
def test_landmarks_exist_at_every_scale(scale):
    statuses = {
        (site, path): respond(site, *path.partition("?")[::2], Web(scale)).status
        for site, paths in LANDMARKS.items()
        for path in paths
    }
    wrong = {place for place, status in statuses.items() if status != 200}
    assert wrong == {("faculty", "/go/5"), ("grumpy", "/missing")}


# mirror


def test_all_variants_of_a_key_give_the_same_bytes():
    variants = [mirror._variant(Web(), "/", 7, which) for which in range(7)]
    parts = [urlsplit(urljoin("http://mirror.test/", variant)) for variant in variants]
    assert len({(part.path, part.query) for part in parts}) == 7
    assert len({respond("mirror", part.path, part.query) for part in parts}) == 1
    assert respond("mirror", "/list", "b=2&a=1") == respond("mirror", "//list/", "a=1&c=&b=2&utm_x=1")
    assert respond("mirror", "/list", "a=1&b=2") != respond("mirror", "/list", "a=2&b=1")


# archive


@pytest.mark.parametrize(
    ("start", "which"),
    [("/calendar/2024-05/", 0), ("/calendar/2024-05/", 1), ("/deep/", 0), ("/room?desk=1", 0)],
)
def test_trap_is_endless(start, which):
    url, seen = "http://archive.test" + start, set()
    for _ in range(400):
        assert url not in seen
        seen.add(url)
        parts = urlsplit(url)
        response = respond("archive", parts.path, parts.query)
        assert response.status == 200, url
        own = [href for href in hrefs(response.body) if re.match(r"/calendar|x/|/room", href)]
        url = urljoin(url, own[which])


# babel


@pytest.mark.parametrize("path", babel.TEXTS)
def test_text_is_in_the_encoding_of_the_table(path):
    text, response = babel.TEXTS[path], respond("babel", path)
    bare = response.body.removeprefix(codecs.BOM_UTF16_LE).removeprefix(codecs.BOM_UTF16_BE)
    decoded = bare.decode(text.codec)
    assert unescape(decoded.split("<title>")[1].split("</title>")[0]) == babel.true_title(path)
    assert response.header("content-type") == "text/html" + (f"; charset={text.header}" if text.header else "")
    assert (f"charset={text.meta}" in decoded) if text.meta else ("charset" not in decoded)

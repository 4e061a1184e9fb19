"""The resolver's cache gives the same results as `resolve`, and stays small."""

import gc

from hypothesis import given
from hypothesis import strategies as st

from crawlers.errors import BadUrl
from crawlers.urls.link_resolver import MAX_HREF, LinkResolver
from crawlers.urls.resolution import resolve

BASES = st.sampled_from(
    [
        "http://h/",
        "http://h/a",
        "http://h/a/",
        "http://h/a/b?x",
        "http://h/a/b?y#z",
        "http://h/a/c/?q=/../",
        "https://h/a/b",
        "http://u:p@h/a/b",
        "http://h:81/a/b",
        "http://h",
    ]
)
WORDS = r"http: HTTPS:// // / . .. %2e ? # & = ; \ @ : :80 h Ex.COM я % x.html mailto: data: a=1 http://h/ /a/ #t"
PIECES = [*WORDS.split(), "a b", "\t", "\n", " ", "\x00", "\x1f", "\ud800"]
HREFS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=4).map("".join),
    st.text(st.characters(codec=None), max_size=10),
    st.sampled_from(["", "#", "?q#x", "HTTP:#", "x", "/x", "h\nttp:?z", "x #y", "http:x", "x\t?y", "?я", "/?я"]),
)


def uncached(base, href, encoding=None):
    try:
        return resolve(base, href, encoding=encoding)
    except BadUrl as error:
        return str(error)


def plain(found):
    return str(found) if isinstance(found, BadUrl) else found


@given(
    st.lists(st.tuples(BASES, st.lists(HREFS, max_size=8), st.sampled_from([None, "cp1251"])), max_size=6),
    st.sampled_from([0, 5, 1000]),
)
def test_cached_links_equal_newly_resolved_ones(pages, size):
    resolver = LinkResolver(cache_size=size)
    opened = []
    for base, hrefs, encoding in pages:
        opened.append((base, encoding, resolver.directory(base, encoding)))
        # all open pages resolve it again, so that a leak between pages would show
        for href in hrefs:
            for page, charset, links in opened:
                assert plain(links[href]) == uncached(page, href, charset)


def test_same_link_of_two_pages_is_resolved_once():
    resolver = LinkResolver()
    for href in ("b.html", "/b", "http://other.example/", "mailto:x"):
        assert resolver.directory("http://h/a/1")[href] is resolver.directory("http://h/a/2")[href]
    assert resolver.directory("http://h/a/1")["/b"] is resolver.directory("http://h/z/")["/b"]


def test_cached_errors_hold_no_frames():
    found = LinkResolver().directory("http://h/")["http://["]
    assert (type(found), found.__traceback__, found.__context__) == (BadUrl, None, None)


def test_long_links_are_not_cached():
    resolver = LinkResolver()
    links = resolver.directory("http://h/")
    href = "data:" + "x" * MAX_HREF
    assert str(links[href]) == "scheme data"
    assert not links
    assert not any(resolver._shared.values())


def test_memory_is_bounded():
    resolver = LinkResolver(cache_size=100)
    for page in range(200):
        links = resolver.directory(f"http://h/{page}/")
        for number in range(10):
            assert links[f"{number}.html"].url == f"http://h/{page}/{number}.html"
    assert sum(map(len, resolver._shared.values())) + len(resolver._shared) <= 100 + 12


def test_evicted_directory_still_resolves_links_and_is_freed():
    resolver = LinkResolver(cache_size=2)
    links = resolver.directory("http://h/a/")
    assert links["x"].url == "http://h/a/x"
    for page in range(9):
        resolver.directory(f"http://h/{page}/")["y"]
    assert links["z"].url == "http://h/a/z"
    del links
    gc.collect()
    assert resolver.entries == sum(map(len, resolver._shared.values()))

"""Hosts that belong to one site."""

import pytest

from crawlers.urls.domains import (
    domain_group,
    is_same_domain,
    owner_domain,
    suffix_list,
    suffixes_in_use,
    use_suffixes,
    version_in_use,
)

END = "\n// ===END PRIVATE DOMAINS===\n"


@pytest.mark.parametrize(
    "authority",
    ["127.0.0.1:8600", "[::1]:8600", "localhost", "a.test:8600", "ru", "co.uk", "..", "=1+1"],
)
def test_addresses_and_hosts_without_a_suffix_stay_as_they_are(authority):
    assert domain_group(f"http://{authority}") == authority


# Of the list's own test vectors (tests/test_psl.txt of publicsuffix/list, public domain) those whose suffix is listed.
@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("com", None),
        ("www.example.com", "example.com"),
        ("biz", None),
        ("a.b.domain.biz", "domain.biz"),
        ("uk.com", None),
        ("a.b.example.uk.com", "example.uk.com"),
        ("test.ac", "test.ac"),
        ("mm", None),
        ("c.mm", None),
        ("a.b.c.mm", "b.c.mm"),
        ("ac.jp", None),
        ("www.test.ac.jp", "test.ac.jp"),
        ("kyoto.jp", None),
        ("ide.kyoto.jp", None),
        ("a.b.ide.kyoto.jp", "b.ide.kyoto.jp"),
        ("c.kobe.jp", None),
        ("a.b.c.kobe.jp", "b.c.kobe.jp"),
        ("www.city.kobe.jp", "city.kobe.jp"),
        ("test.ck", None),
        ("a.b.test.ck", "b.test.ck"),
        ("www.www.ck", "www.ck"),
        ("www.test.k12.ak.us", "test.k12.ak.us"),
        ("xn--85x722f.com.cn", "xn--85x722f.com.cn"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("xn--55qx5d.cn", None),
        ("shishi.xn--fiqs8s", "shishi.xn--fiqs8s"),
    ],
)
def test_registered_domain_is_that_of_the_public_suffix_list(host, domain):
    assert domain_group(f"http://{host}:81") == (domain or f"{host}:81")
    assert is_same_domain(f"http://{host}", f"http://other.{host}") == (domain is not None)


def test_list_of_the_project_is_of_august_2026():
    assert suffixes_in_use().version == version_in_use() == "2026-08-19_19-18-36_UTC"
    assert len(suffixes_in_use().rules) == 10_248
    assert {"claudeusercontent.com", "*.aivencloud.com"} <= suffixes_in_use().rules


def test_list_of_a_user_holds_in_the_process():
    try:
        use_suffixes(suffix_list(f"// VERSION: 1\ntest\nÄ.test // umlaut\n*.wild\n!own.wild{END}"))
        assert suffixes_in_use().version == version_in_use() == "1"
        assert domain_group("http://a.b.xn--4ca.test") == "b.xn--4ca.test"
        assert domain_group("http://www.example.com") == "www.example.com"
        assert owner_domain("http://a.b.own.wild") == "own.wild"
        assert owner_domain("http://a.b.c.wild") == "b.c.wild"
    finally:
        use_suffixes(None)
    assert domain_group("http://www.example.com") == "example.com"


@pytest.mark.parametrize("text", ["", "com\nuk\n", "<!doctype html>"])
def test_incomplete_list_is_refused(text):
    with pytest.raises(ValueError, match="not a complete Public Suffix List"):
        suffix_list(text)

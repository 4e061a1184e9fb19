"""hosts.txt: all faults are reported at once, each with its line and the remedy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.errors import ConfigError
from crawlers.inputs.hosts_file import parse_host_list, parse_hosts
from crawlers.inputs.text_file import PROBLEMS_SHOWN
from crawlers.items import SiteLimits
from crawlers.storage.files.names import file_stem


def problems(text):
    with pytest.raises(ConfigError) as caught:
        parse_hosts(text, "hosts.txt")
    return str(caught.value)


def test_fields_are_read_with_their_units():
    text = "\ufeff# my sites\r\n\r\nHTTPS://Example.com:443/ ; 4 ; 10 ; 500 # slowly\r\n"
    text += "b.example;;0\r\nc.example:8600;;;250;\r\n"
    assert parse_hosts(text, "hosts.txt") == [
        SiteLimits("https://example.com", 4, 10, 0.5),
        SiteLimits("http://b.example", None, 0, None),
        SiteLimits("http://c.example:8600", None, None, 0.25),
    ]


@pytest.mark.parametrize(
    ("text", "site"),
    [
        ("пример.рф", "http://xn--e1afmkfd.xn--p1ai"),
        ("127.0.0.1:8600", "http://127.0.0.1:8600"),
        ("https://[::1]:8600", "https://[::1]:8600"),
        ("[::1]", "http://[::1]"),
        ("localhost", "http://localhost"),
        ("my_host.example.", "http://my_host.example."),
    ],
)
def test_hosts_of_all_kinds_are_parsed(text, site):
    assert [limits.site for limits in parse_hosts(text, "hosts.txt")] == [site]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("ftp://a.example", "unsupported protocol 'ftp'; expected http or https"),
        ("://a.example", "unsupported protocol ''; expected http or https"),
        ("http://a.example/dir", "a site must not have a path"),
        ("a.example?x", "a site must not have a path"),
        ("http://a.example, http://b.example", "a line has one site; write each site on a line of its own"),
        ("a.example,b.example;2", "a line has one site"),
        ("http:/a.example", "a site must not have a path"),
        ("http://;1", "the host is missing"),
        (";1", "the host is missing"),
        ("user:secret@a.example", "user names are not supported"),
        ("a b.example", "must not contain spaces"),
        ("a\tb.example", "must not contain spaces"),
        ("a.example:99999", "invalid host name or port"),
        ("a'b.example", "only letters, digits, dots and hyphens"),
        ("..", "only letters, digits, dots and hyphens"),
        ("300", "browsers read it as 0.0.1.44"),
        ("a.example;0", "maxDownloadsAtTime is '0', expected a whole number from 1 to 1000"),
        ("a.example;1001", "maxDownloadsAtTime"),
        ("a.example;1;-1", "maxCrawlLevel is '-1'"),
        ("a.example;1;10001", "from 0 to 10000"),
        ("a.example;1;1;0.5", "crawlDelay is '0.5', expected a whole number from 0 to 86400000"),
        ("a.example;1;1;86400001", "crawlDelay"),
        ("a.example;" + "9" * 10_000, "maxDownloadsAtTime is '99999999999999999999'"),
        ("a.example;²", "maxDownloadsAtTime"),
        ("a.example;1;1;1;1", "5 fields, expected at most 4"),
    ],
)
def test_fault_is_reported_with_line_text_and_remedy(line, what):
    message = problems(f"good.example\n{line}\n")
    assert message.startswith("hosts.txt:2: ")
    assert repr(line)[1:20] in message
    assert what in message
    assert message.endswith("protocol://host[:port];maxDownloadsAtTime;maxCrawlLevel;crawlDelay.")
    assert len(message) < 400


def test_all_faults_are_reported_at_once():
    message = problems("ftp://a\nok.example\nb.example;x\n" + "c.example/d\n")
    assert [line.split(": ")[0] for line in message.splitlines()[:-1]] == [
        "hosts.txt:1",
        "hosts.txt:3",
        "hosts.txt:4",
    ]


def test_binary_file_gives_a_bounded_message():
    message = problems("\x00\x01 \ud800/\n" * 10_000)
    assert f"… and {10_000 - PROBLEMS_SHOWN} more" in message
    assert len(message) < 10_000


def test_duplicate_site_is_reported_with_both_lines():
    message = problems("a.example\n\nhttp://A.example:80/;4\n")
    assert "hosts.txt:3" in message
    assert "http://a.example is already listed at hosts.txt:1" in message


def test_file_without_a_site_is_an_error():
    for text in ("", "# nothing\n\n", "\ufeff"):
        assert problems(text).startswith("hosts.txt: no sites found.")


def test_list_on_the_command_line_is_parsed_like_a_file():
    assert parse_host_list("a.example, https://b.example;4;3;500,") == [
        SiteLimits("http://a.example"),
        SiteLimits("https://b.example", 4, 3, 0.5),
    ]
    with pytest.raises(ConfigError, match="hosts, item 2: 'ftp://b'"):
        parse_host_list("a.example,ftp://b")


@given(st.text(st.characters(codec=None)))
def test_any_text_gives_sites_or_a_config_error(text):
    try:
        sites = parse_hosts(text, "hosts.txt")
    except ConfigError:
        return
    assert all(limits.site.startswith(("http://", "https://")) for limits in sites)


@pytest.mark.parametrize(
    ("site", "stem"),
    [
        ("http://apache2.test:8600", "apache2.test_8600"),
        ("http://example.com", "example.com"),
        ("https://example.com", "example.com"),
        ("http://[::1]:8600", "ipv6_--1_8600"),
        ("http://[2001:db8::1]", "ipv6_2001-db8--1"),
        ("http://my_host:81", "my__host_81"),
    ],
)
def test_file_is_named_after_the_host(site, stem):
    assert file_stem(site) == stem


def test_no_two_sites_share_a_file_name():
    hosts = [
        "a",
        "a_",
        "a_8600",
        "a__8600",
        "a_https",
        "ipv6",
        "ipv6_",
        "[::1]",
        "[::8600]",
        "h" * 300,
        "h" * 301,
    ]
    sites = [f"{scheme}://{host}{port}" for scheme in ("http", "https") for host in hosts for port in ("", ":8600")]
    stems = {file_stem(site, sites) for site in sites}
    assert len(stems) == len(sites)
    assert all(len(stem) <= 210 and not set(stem) & set('/\\:*?"<>|[]') for stem in stems)

"""hosts.txt: parsing, round trips, and error messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.errors import ConfigError
from crawlers.files.atomic import file_stem
from crawlers.items import SiteLimits
from crawlers.sites.hosts_file import parse_host_list, parse_hosts
from crawlers.web.pages.start_pages import hosts_line


def problems(text):
    with pytest.raises(ConfigError) as caught:
        parse_hosts(text, "hosts.txt")
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("ftp://a.example", "unsupported protocol 'ftp'; expected http or https"),
        ("a.example;=www.a.example/dir", "has a path; an alias is a whole host"),
        ("a.example;=", "the host of an alias is missing; write =host"),
        ("a.example;=http://a.example", "is the site itself; remove it"),
        ("a.example;" + ";".join(f"=b{n}.example" for n in range(51)), "102 aliases, expected at most 100"),
        ("http://a.example, http://b.example", "a line has one site; write each site on a line of its own"),
        ("http:/a.example", "http: is not a host; write http://host"),
        ("HTTPS//a b", "HTTPS is not a host; write https://host"),
        ("https://http://a.example", "http: is not a host; write http://host"),
        ("a.example;=http:", "the alias 'http:': http: is not a host; write http://host"),
        ("http://;1", "the host is missing; write http://host"),
        ("user:secret@a.example", "user names are not supported"),
        ("a b.example", "must not contain spaces"),
        ("a.example:99999", "invalid host name or port"),
        ("a'b.example", "only letters, digits, dots and hyphens"),
        ("300", "browsers read it as 0.0.1.44"),
        ("a.example;0", "maxDownloadsAtTime is '0', expected a whole number from 1 to 1000"),
        ("a.example;" + "9" * 10_000, "maxDownloadsAtTime is '99999999999999999999'"),
    ],
)
def test_fault_is_reported_with_line_text_and_remedy(line, what):
    message = problems(f"good.example\n{line}\n")
    assert message.startswith("hosts.txt:2: ")
    assert repr(line.replace("secret", "***"))[1:20] in message
    assert what in message
    assert message.endswith("; all but the host may be left out.")
    assert len(message) < 400


@pytest.mark.parametrize(
    ("line", "aliases"),
    [
        ("https://a.example;;;;=https://www.a.example", ("https://www.a.example",)),
        ("a.example;=http://B.example:80;=https://a.example", ("http://b.example", "https://a.example")),
        ("a.example;=http://a.example:8080/", ("http://a.example:8080",)),
        ("a.example;=http://b.example;=http://b.example", ("http://b.example",)),
    ],
)
def test_alias_is_an_address_or_a_host_with_both_protocols(line, aliases):
    (limits,) = parse_hosts(line, "hosts.txt")
    assert limits.aliases == aliases


@pytest.mark.parametrize(
    ("address", "start_url", "folder"),
    [
        ("https://a.example/", None, ""),
        ("https://a.example/docs/", "https://a.example/docs/", "/docs/"),
        ("a.example/docs", "http://a.example/docs", "/docs/"),
        ("https://a.example/Дом/", "https://a.example/%D0%94%D0%BE%D0%BC/", "/%D0%94%D0%BE%D0%BC/"),
    ],
)
def test_path_is_the_start_page_in_its_folder(address, start_url, folder):
    assert parse_hosts(f"{address};2", "hosts.txt") == [
        SiteLimits(parse_hosts(address, "")[0].site, 2, start_url=start_url, folder=folder)
    ]


def test_two_folders_of_one_host_are_an_error_that_names_the_remedy():
    message = problems("a.example/docs/\na.example/blog/")
    assert "hosts.txt:2" in message
    assert "http://a.example is already listed at hosts.txt:1, with another folder" in message
    assert "URL_INCLUDE" in message


def test_list_on_the_command_line_is_parsed_like_a_file():
    assert parse_host_list("a.example, https://b.example;4;3;500,") == [
        SiteLimits("http://a.example"),
        SiteLimits("https://b.example", 4, 3, 0.5),
    ]
    with pytest.raises(ConfigError, match="hosts, item 2: 'ftp://b'"):
        parse_host_list("a.example,ftp://b")


FAULTY_FIELDS = {
    "maxDownloadsAtTime is 'many'": "many",
    "maxCrawlLevel is '-1'": "-1",
    "crawlDelay is '1h'": "1h",
    "5 fields, expected at most 4": "9",
    "the alias 'b\"c': a host name may contain only letters": '=b"c',
    "the alias 'd.example/x' has a path": "=d.example/x",
    "render is 'selenium', expected one of": "render=selenium",
    "render is given twice": "render=none",
    "unknown field 'colour=red'": "colour=red",
    "http://good.example is already a site or an alias at hosts.txt:1": "=http://good.example",
}


@pytest.mark.parametrize(
    ("address", "faults"),
    [("a.example", []), ("ftp://a.example", ["unsupported protocol"]), ("a.example/ x", ["a path must not contain"])],
)
def test_every_faulty_field_of_a_line_is_named(address, faults):
    line = ";".join([address, *FAULTY_FIELDS.values()])
    first, *found, remedy = problems(f"good.example;=\n{line}\n").splitlines()
    assert first.startswith("hosts.txt:1: 'good.example;=': ")
    assert all(one.startswith(f"hosts.txt:2: '{address};many;") for one in found)
    assert [sum(what in one for one in found) for what in (*faults, *FAULTY_FIELDS)] == [1] * len(found)
    assert remedy.endswith(";crawlDelay;=furtherHost;render=playwright; all but the host may be left out.")


@pytest.mark.parametrize("fault", [";many", ";=b..example", ";colour=red"])
def test_faulty_line_is_listed_twice_as_well(fault):
    message = problems(f"a.example{fault};=http://c.example\nhttp://a.example\nhttp://c.example")
    assert "hosts.txt:1: 'a.example;" in message
    assert "hosts.txt:2: 'http://a.example': http://a.example is already listed at hosts.txt:1; keep one" in message
    assert "hosts.txt:3: 'http://c.example': http://c.example is already a site or an alias at hosts.txt:1" in message


@given(st.text(st.characters(codec=None)))
def test_any_text_gives_sites_or_a_config_error(text):
    try:
        sites = parse_hosts(text, "hosts.txt")
    except ConfigError:
        return
    assert all(limits.site.startswith(("http://", "https://")) for limits in sites)


def test_no_two_sites_share_a_file_name():
    hosts = ["a", "a_", "a_8600", "a__8600", "a_https", "ipv6", "ipv6_", "[::1]", "[::8600]", "h" * 300, "h" * 301]
    sites = [f"{scheme}://{host}{port}" for scheme in ("http", "https") for host in hosts for port in ("", ":8600")]
    stems = {file_stem(site, sites) for site in sites}
    assert len(stems) == len(sites)
    assert all(len(stem) <= 210 and not set(stem) & set('/\\:*?"<>|[]') for stem in stems)


@pytest.mark.parametrize("line", ["http://a.test", "http://a.test/index.html;1", "http://a.test/?lang=en"])
def test_line_of_a_site_says_all_of_it(line):
    (limits,) = parse_hosts(line, "hosts.txt")
    assert hosts_line(limits) == line


@pytest.mark.parametrize("path", ["/ru/", "/@me.html", "/a.html;2"])
def test_start_page_that_no_line_can_say_is_a_comment(path):
    line = hosts_line(SiteLimits("http://a.test", 2, start_url=f"http://a.test{path}", aliases=("http://b.test",)))
    assert line == f"http://a.test;2;=http://b.test  # begins at http://a.test{path}"
    assert parse_hosts(line, "hosts.txt") == [SiteLimits("http://a.test", 2, aliases=("http://b.test",))]


def test_home_page_of_a_seed_is_not_said():
    assert hosts_line(SiteLimits("http://a.test", start_url="http://a.test/")) == "http://a.test"

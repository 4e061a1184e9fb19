"""The list of seeds: parsing, round trips, and error messages.

A name finds exactly one seed, or raises an error.
"""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.errors import ConfigError
from crawlers.files.atomic import file_stem
from crawlers.items import Seed, SiteLimits
from crawlers.sites.seed_list import (
    LIMITS,
    find_seed,
    format_seeds,
    hosts_line,
    parse_host_list,
    parse_hosts,
    parse_seeds,
    seed_limit,
    tidy_name,
)


@pytest.mark.parametrize("name", LIMITS)
def test_limits_are_the_same_as_in_hosts_txt(name):
    place = list(LIMITS).index(name)
    least, most = LIMITS[name]
    for value in (least, most):
        assert seed_limit(str(value), name) == value
        parse_hosts(f"a.example;{';' * place}{value}", "hosts.txt")
    for value in (least - 1, most + 1):
        with pytest.raises(ConfigError, match=name):
            seed_limit(str(value), name)
        with pytest.raises(ConfigError):
            parse_hosts(f"a.example;{';' * place}{value}", "hosts.txt")


def test_columns_may_be_in_any_order_and_omitted():
    text = "\ufeffStart URL;Short name;Full name\r\n\r\nhttp://a.example/ru/;A;The A; with a semicolon\r\n"
    with pytest.raises(ConfigError, match="row 3: 4 cells, expected 3"):
        parse_seeds(text, "seeds.csv")
    assert parse_seeds(text.replace("The A; with a semicolon", '"The A; with a semicolon"'), "seeds.csv") == [
        {
            "site": "http://a.example",
            "start_url": "http://a.example/ru/",
            "short_name": "A",
            "name": "The A; with a semicolon",
            "enabled": True,
        }
    ]


def test_text_without_a_header_is_a_hosts_file():
    assert parse_seeds("# my sites\nhttps://a.example;4;;500\n", "hosts.txt") == [
        {"site": "https://a.example", "enabled": True, "parallel": 4, "max_level": None, "delay_s": 0.5}
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("start_url,nmae\na.example,A\n", "unknown column 'nmae'; the columns are number, full_name"),
        ("start_url,start_url\na.example,b.example\n", "duplicate column start_url"),
        ("number,full_name\n1,A\n", "the column start_url is missing"),
        ("start_url\n", "no sites found"),
        ("start_url,number\na.example,0\n", "row 2: number is '0'"),
        ("start_url,enabled\na.example,perhaps\n", "row 2: enabled is 'perhaps', expected yes or no"),
        ("start_url\nhttp://a.example/\na.example/x\n", "row 3: http://a.example is already listed in row 2"),
        ('start_url,full_name\na.example,"A\n', "not a CSV file"),
    ],
)
def test_fault_in_a_table_is_reported(text, message):
    with pytest.raises(ConfigError) as raised:
        parse_seeds(text, "seeds.csv")
    assert str(raised.value).startswith("seeds.csv")
    assert message in str(raised.value)


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).map(tidy_name).filter(bool)


@given(
    st.lists(
        st.builds(
            lambda host, path, name, short, enabled, limits: Seed(
                1, f"http://{host}.example", f"http://{host}.example/{path}", name, short, enabled, *limits
            ),
            st.from_regex("[a-z0-9]{1,5}", fullmatch=True),
            st.from_regex("[a-z0-9/,;]{0,5}", fullmatch=True),
            st.none() | TEXTS,
            st.none() | TEXTS,
            st.booleans(),
            st.tuples(
                st.none() | st.integers(1, 1000),
                st.none() | st.integers(0, 10_000),
                st.none() | st.integers(0, 86_400_000).map(lambda delay_ms: delay_ms / 1000),
            ),
        ),
        min_size=1,
        unique_by=lambda seed: seed.site,
    )
)
def test_formatted_seeds_are_parsed_back(seeds):
    changes = parse_seeds(format_seeds(seeds), "seeds.csv")
    assert [{**change, "is_found": False} for change in changes] == [asdict(seed) for seed in seeds]


def test_line_of_a_hosts_file_with_a_folder_or_an_alias_is_no_seed():
    with pytest.raises(ConfigError) as raised:
        parse_seeds("a.example/docs/\nb.example\nc.example;=www.c.example", "hosts.txt")
    first, second, remedy = str(raised.value).splitlines()
    assert "hosts.txt: the site http://a.example: a seed has no folder, aliases" in first
    assert "hosts.txt: the site http://c.example: a seed has no folder, aliases" in second
    assert "crawl the file itself with -a hosts=" in remedy
    (change,) = parse_seeds("a.example/index.html", "hosts.txt")
    assert change["start_url"] == "http://a.example/index.html"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("start_url\nhttp//a.test", "Row 2: http is not a host; write http://host"),
        ("start_url;x\n", "Unknown column 'x'; the columns are"),
        ("a.test\na b", "Line 2: 'a b': a host name must not contain spaces"),
        ("a.test/docs/", "The site http://a.test: a seed has no folder"),
        ('start_url\n"a', "Line 2: not a CSV file"),
        ("", "No sites found."),
    ],
)
def test_text_without_a_name_has_lines_only(text, message):
    with pytest.raises(ConfigError) as wrong:
        parse_seeds(text, "")
    assert str(wrong.value).startswith(message)


ZIN = Seed(1, "http://zin.example", "http://zin.example/ru/", "Zoological Institute", "ZIN", True, 2, 5, 0.5)
BIN = Seed(2, "https://bin.example", "https://bin.example/", None, "bin.example:8080", False)
OTHER = Seed(3, "http://bin.example", "http://bin.example/")
SEEDS = [ZIN, BIN, OTHER]


FOUND = {
    **dict.fromkeys(["1", "zin", "zin.example", "http://zin.example/any/page.html"], ZIN),
    **dict.fromkeys(["https://bin.example", "bin.example:8080"], BIN),  # a short name comes before a host
    "http://bin.example": OTHER,
}


@pytest.mark.parametrize(("text", "seed"), FOUND.items())
def test_a_seed_is_found_by_number_short_name_host_or_url(text, seed):
    assert find_seed(SEEDS, text) == seed


@pytest.mark.parametrize("text", ["https://ZIN.example/", "4", ""])
def test_text_that_matches_no_seed_raises_an_error(text):
    with pytest.raises(ConfigError, match="matches no seed"):
        find_seed(SEEDS, text)


def test_host_of_two_seeds_raises_an_error_with_their_numbers():
    with pytest.raises(ConfigError, match=r"'bin.example' matches several seeds: 2 \(https.*, 3 \(http"):
        find_seed(SEEDS, "bin.example")


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

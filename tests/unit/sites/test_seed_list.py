"""The list of seeds: parsing, round trips, and error messages.

A name finds exactly one seed, or raises an error.
"""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.errors import ConfigError
from crawlers.sites.seed_list import find_seed, format_seeds, parse_seeds, tidy_name
from crawlers.store.sites.seeds import Seed


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

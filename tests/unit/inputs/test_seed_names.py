"""A name finds exactly one seed, or raises an error."""

from __future__ import annotations

import pytest

from crawlers.errors import ConfigError
from crawlers.inputs.seed_names import find_seed
from crawlers.items import Seed

ZIN = Seed(1, "http://zin.example", "http://zin.example/ru/", "Zoological Institute", "ZIN", True, 2, 5, 0.5)
BIN = Seed(2, "https://bin.example", "https://bin.example/", None, "bin.example:8080", False)
OTHER = Seed(3, "http://bin.example", "http://bin.example/")
SEEDS = [ZIN, BIN, OTHER]


@pytest.mark.parametrize(
    ("text", "seed"),
    [
        ("1", ZIN),
        ("zin", ZIN),
        ("zin.example", ZIN),
        ("https://ZIN.example/", None),
        ("http://zin.example/any/page.html", ZIN),
        ("https://bin.example", BIN),
        ("bin.example:8080", BIN),  # a short name comes before a host
        ("http://bin.example", OTHER),
        ("4", None),
        ("", None),
    ],
)
def test_a_seed_is_found_by_number_short_name_host_or_url(text, seed):
    if seed:
        assert find_seed(SEEDS, text) == seed
    else:
        with pytest.raises(ConfigError, match="matches no seed"):
            find_seed(SEEDS, text)


def test_host_of_two_seeds_raises_an_error_with_their_numbers():
    with pytest.raises(ConfigError, match=r"'bin.example' matches several seeds: 2 \(https.*, 3 \(http"):
        find_seed(SEEDS, "bin.example")


def discovered(number, site, **more):
    """A host discovered by a crawl."""
    return Seed(number, site, f"{site}/", **{"enabled": False, "is_found": True, **more})


def named(number, site, **more):
    return Seed(number, site, f"{site}/", **more)


def test_domain_of_two_named_seeds_raises_an_error_with_their_numbers():
    seeds = [named(1, "http://paper.example"), named(2, "https://www.paper.example", enabled=False)]
    with pytest.raises(ConfigError, match=r"several seeds: 1 \(http://paper.example\), 2 \(https://www.p.*; give"):
        find_seed(seeds, "paper.example")
    assert (
        find_seed([seeds[0], discovered(2, "https://www.paper.example", enabled=True)][1:], "paper.example").number == 2
    )

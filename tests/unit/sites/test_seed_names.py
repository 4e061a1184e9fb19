"""A name finds exactly one seed, or raises an error."""

import pytest

from crawlers.errors import ConfigError
from crawlers.items import Seed
from crawlers.sites.seed_list import find_seed

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

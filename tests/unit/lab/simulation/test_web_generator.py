"""The synthetic webs have the sizes and means that their formulas promise."""

import dataclasses
import math

import numpy as np
import pytest

from crawlers.lab.simulation.web_generator import Shape, pinned, scenario, site, stationary

PLAIN = Shape(0.5, 1.0, 0.0, 50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # Heaps' law and nothing else


def rng(*seed):
    return np.random.default_rng(seed)


def test_links_grow_as_heaps_law_says():
    found = np.cumsum(np.mean([site(400, 200.0, PLAIN, rng(1, number)) for number in range(400)], axis=0))
    for pages in (25, 100, 400):
        assert found[pages - 1] == pytest.approx(200 * math.sqrt(pages / 400), rel=0.03)


def test_empty_head_delays_links_without_losing_any():
    heads = []
    late = dataclasses.replace(PLAIN, empty_head_p=1.0, empty_head_pages=100.0)
    for number in range(200):
        shifted = site(400, 2000.0, late, rng(3, number))
        heads.append(next(page for page, links in enumerate(shifted) if links))
        assert sum(shifted[heads[-1] :][:100]) == pytest.approx(1000, rel=0.2)
    assert np.mean(heads) == pytest.approx(50, abs=5)


def test_webs_are_those_of_the_published_measurements():
    webs = [pinned(profile, rng(5)) for profile in ("sample", "institutes")]
    webs += scenario(3, "sample", rng(5)), stationary("sample", rng(5))
    assert [[sum(pages) for pages in web] for web in webs] == [
        [166, 490, 152, 1126, 1052, 11, 90, 32, 3131, 153],
        [3, 22, 29, 2891, 26, 551, 116, 5, 2269, 490],
        [106, 403, 2376, 141, 95, 270, 60, 73, 37, 11],
        [1090, 7036, 14826, 2999, 3882, 2447, 2966, 851, 637, 8452],
    ]

"""The synthetic webs have the sizes and means that their formulas promise."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from crawlers.lab.simulation.web_generator import (
    PINNED,
    PROFILES,
    STEADY,
    Shape,
    pinned,
    scenario,
    scenarios,
    site,
    stationary,
)

PLAIN = Shape(0.5, 1.0, 0.0, 50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # Heaps' law and nothing else


def rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def mean_site(shape: Shape, pages: int = 400, links: float = 200.0, sites: int = 400) -> np.ndarray:
    return np.mean([site(pages, links, shape, rng(1, number)) for number in range(sites)], axis=0)


def changed(**of: float) -> Shape:
    return dataclasses.replace(PLAIN, **of)


def test_links_grow_as_heaps_law_says():
    found = np.cumsum(mean_site(PLAIN))
    for pages in (25, 100, 400):
        assert found[pages - 1] == pytest.approx(200 * math.sqrt(pages / 400), rel=0.03)


@pytest.mark.parametrize(
    "shape", [changed(burst_links=4.0, burst_sd=0.5), changed(burst_links=20.0, burst_sd=1.0), changed(section_sd=0.5)]
)
def test_bursts_and_sections_do_not_change_the_mean(shape):
    assert mean_site(shape).sum() == pytest.approx(200, rel=0.08)


def test_bursts_have_the_requested_mean():
    sizes = [links for number in range(100) for links in site(5000, 50.0, changed(burst_links=8.0), rng(2, number))]
    assert np.mean([links for links in sizes if links]) == pytest.approx(8, rel=0.05)


def test_empty_head_delays_links_without_losing_any():
    heads = []
    for number in range(200):
        shifted = site(400, 2000.0, changed(empty_head_p=1.0, empty_head_pages=100.0), rng(3, number))
        heads.append(next(page for page, links in enumerate(shifted) if links))
        assert sum(shifted[heads[-1] :][:100]) == pytest.approx(1000, rel=0.2)
    assert np.mean(heads) == pytest.approx(50, abs=5)


def test_page_full_of_links_is_among_the_first():
    shape = changed(links_page_p=0.5, links_page_mu=math.log(500), links_page_sd=0.1)
    largest = [np.array(site(400, 1.0, shape, rng(4, number))) for number in range(400)]
    full = [pages for pages in largest if pages.max() > 100]
    assert len(full) == pytest.approx(200, abs=30)
    assert max(int(pages.argmax()) for pages in full) < 60
    assert np.mean([pages.max() for pages in full]) == pytest.approx(500, rel=0.05)


@pytest.mark.parametrize("profile", PROFILES)
def test_webs_have_ten_sites_and_are_functions_of_the_seed(profile):
    makers = (pinned, lambda *of: scenario(3, *of), stationary)
    for make in makers:
        web = make(profile, rng(5))
        assert len(web) == 10
        assert all(links >= 0 for pages in web for links in pages)
        assert web == make(profile, rng(5))
        assert web != make(profile, rng(6))


def test_webs_are_those_of_the_published_measurements():
    webs = [
        pinned("sample", rng(5)),
        pinned("institutes", rng(5)),
        scenario(3, "sample", rng(5)),
        stationary("sample", rng(5)),
    ]
    assert [[sum(pages) for pages in web] for web in webs] == [
        [166, 490, 152, 1126, 1052, 11, 90, 32, 3131, 153],
        [3, 22, 29, 2891, 26, 551, 116, 5, 2269, 490],
        [106, 403, 2376, 141, 95, 270, 60, 73, 37, 11],
        [1090, 7036, 14826, 2999, 3882, 2447, 2966, 851, 637, 8452],
    ]


def test_named_sites_have_the_numbers_of_pages_of_the_table():
    assert [len(pages) for pages in pinned("sample", rng(7))] == [
        431, 1766, 1471, 12935, 7253, 1298, 1100, 2411, 39292, 3523,
    ]  # fmt: skip
    assert [len(pages) for pages in pinned("institutes", rng(7))][:5] == [1298, 1100, 2411, 39292, 3523]
    assert all(300 <= len(pages) <= 9000 for pages in pinned("institutes", rng(7))[5:])


def test_drawn_sites_have_300_to_9000_pages_however_extreme_the_draw():
    extreme = dataclasses.replace(PINNED, pages_sd=50.0)
    pages = [extreme.draw(rng(10, number))[0] for number in range(50)]
    assert (min(pages), max(pages)) == (300, 9000)


def test_there_are_sixteen_fits_and_they_differ():
    assert scenarios() == 16
    assert len({str(scenario(number, "sample", rng(8))) for number in range(16)}) == 16


def test_stationary_sites_are_as_rich_at_the_end_as_at_the_beginning():
    assert STEADY["universities"].growth == 1.0
    halves = np.zeros(2)
    for number in range(20):
        for pages in stationary("universities", rng(9, number)):
            half = len(pages) // 2
            halves += sum(pages[:half]), sum(pages[half : 2 * half])
    assert halves[0] == pytest.approx(halves[1], rel=0.01)

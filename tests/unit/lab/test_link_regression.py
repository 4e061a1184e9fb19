"""The weights with which learning begins, made from pages that were read."""

import math
import random

import pytest

from crawlers.lab.learn import by_kind, explained, largest, regression

NEWS, OLD, RARE = ("url", "news"), ("url", "old"), ("anchor", "acme")


def site(seed, base, pages=50):
    """Pages with e^base new links, twice as many behind links with news, half as many behind old ones."""
    rng = random.Random(seed)
    found = []
    for _ in range(pages):
        names = [name for name in (NEWS, OLD) if rng.random() < 0.5]
        effect = math.log(2) * ((NEWS in names) - (OLD in names))
        found.append((names, math.expm1(base + effect + rng.gauss(0, 0.2))))
    return found


def test_words_have_their_effect_whatever_a_site_brings():
    found = regression([site(seed, base, pages=400) for seed, base in enumerate((2.0, 4.0, 6.0))])
    assert found[NEWS] == pytest.approx(math.log(2), abs=0.1)
    assert found[OLD] == pytest.approx(-math.log(2), abs=0.1)


def test_features_on_few_sites_are_left_out():
    sites = [site(n, 2.0) for n in range(3)]
    sites[0].append(([RARE], 1000.0))
    assert RARE not in regression(sites)
    assert RARE in regression(sites, min_sites=1)
    assert regression(sites[:2]) == {}


def test_weights_explain_pages_of_other_sites_if_words_mean_the_same():
    sites = [site(n, 3.0) for n in range(6)]
    assert explained(sites) > 0.8
    rng = random.Random(5)
    noise = [[(names, float(rng.randrange(9))) for names, _ in one] for one in sites]
    assert explained(noise) < 0.05
    assert explained([[([NEWS], 1.0)]] * 5) == 0.0


def test_the_largest_weights_are_kept_within_the_range_of_predictions():
    weights = {NEWS: 0.1, OLD: -30.0, ("level", "1"): 0.1, RARE: 0.05}
    assert largest(weights, 3) == {("level", "1"): 0.1, NEWS: 0.1, OLD: -8.0}
    assert by_kind(largest(weights, 3).items()) == {"level": {"1": 0.1}, "url": {"news": 0.1, "old": -8.0}}

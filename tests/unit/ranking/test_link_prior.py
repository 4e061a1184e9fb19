"""The weights with which learning begins."""

from crawlers.items import LinkPlace
from crawlers.ranking.link_features import FEATURES, TABLE_SIZE, link_features
from crawlers.ranking.link_prior import KINDS, OF_LINKS, prior_of, shipped_weights


def test_shipped_weights_are_few_and_moderate():
    weights = prior_of(shipped_weights(OF_LINKS))
    assert 100 <= len(weights) <= 200
    assert all(0 < feature < TABLE_SIZE for feature in weights)
    assert all(abs(weight) < 3.0 for weight in weights.values())


def test_weights_are_those_of_features_of_all_sites():
    row = link_features("http://a.test", "http://a.test/news/x", 3, 1, LinkPlace("ul/li", "ul/li", "All the news"))
    prior = prior_of({"anchor": {"news": 0.5}, "url": {"news": 0.25}, "level": {"3": 1.0}})
    assert KINDS == ("anchor", "url", "anchor length", "level")
    kinds = [feature.kind for feature, one in zip(FEATURES, row, strict=True) if one in prior]
    assert kinds == ["anchor", "url", "level"]

"""The prior tells which URLs are probably articles, and adapts to each site."""

import random

import pytest

from bench.news.url_rules import COMMON, UNSEEN, drawn
from crawlers.missions.news.urls import url_prior as module
from crawlers.missions.news.urls.url_prior import MAX_CHARS, OF_URLS, UrlPrior, features_of
from crawlers.ranking.link_features import shipped_weights


def shipped():
    return UrlPrior(shipped_weights(OF_URLS))


@pytest.mark.parametrize(
    "target",
    [
        "/tag/storm",
        "/thema/der-neue-sturm",
        "/politics/",
        "/comments/20018771",
        "/impressum",
        "/search?q=storm",
        "/login?next=storm",
    ],
)
def test_lists_and_other_pages_probably_are_not(target):
    assert shipped().probability(target) < 0.4


def test_prior_is_better_than_a_rule_of_a_person_on_hosts_that_were_set_aside():
    rng, prior = random.Random(1), shipped()
    right = wrong = missed = 0
    for articles, others in UNSEEN.values():
        found = [prior.probability(url) >= 0.5 for url in drawn(articles, 50, rng)]
        right, missed = right + sum(found), missed + 50 - sum(found)
        wrong += sum(prior.probability(url) >= 0.5 for url in drawn(others + COMMON[1:], 50, rng))
    assert right / (right + wrong) > 0.85
    assert right / (right + missed) > 0.85


def test_site_that_is_different_is_learnt_from_a_few_labels():
    prior = shipped()
    assert prior.probability("/kx/storm") < 0.3
    for word in ("fire", "cup", "train", "mayor"):
        prior.label(f"/kx/{word}", True)
        prior.label(f"/{word}", False)
    assert prior.probability("/kx/storm") > 0.6
    assert prior.probability("/storm") < 0.3


def test_same_labels_give_the_same_model():
    one, other = shipped(), shipped()
    for prior in (one, other):
        for number in range(100):
            prior.label(f"/{'news' if number % 3 else 'tag'}/storm-{number}", bool(number % 3))
    assert one.probability("/news/fire-7") == other.probability("/news/fire-7")


def test_features_are_bounded():
    assert len(features_of("/" + "a/" * 10_000)) < 60
    assert len(features_of("/?" + "&".join(f"p{n}=1" for n in range(1000)))) < 60
    assert features_of("/" + "a" * MAX_CHARS) == features_of("/" + "a" * MAX_CHARS * 2)


def test_features_that_are_learnt_are_bounded(monkeypatch):
    monkeypatch.setattr(module, "MAX_OWN", 50)
    prior = shipped()
    for number in range(100):
        prior.label("/" + "/".join(f"{'abcdefghij'[number % 10]}{'klmnopqrst'[n]}" for n in range(8)), number % 2 == 0)
    assert len(prior._own) == 50
    assert prior.probability("/ak/al/am/an/ao/ap/aq/ar") > 0.5 > prior.probability("/bk/bl/bm/bn/bo/bp/bq/br")


def test_words_for_kinds_of_pages_are_known_in_many_languages():
    for target in ("/tag/x", "/etiquetas/x", "/etiket/x", "/thema/x", "/tema/x", "/sujet/x"):
        assert "dg:tag" in features_of(target)
    assert "lg:print|last" in features_of("/news/the-storm-print")
    assert "qg:page" in features_of("/news?seite=3")

"""The features of links, and their ids."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from crawlers.items import LinkPlace
from crawlers.ranking.link_features import (
    FEATURES,
    KINDS,
    NONE,
    OF_LINKS,
    OPTIMISTIC,
    TABLE_SIZE,
    WIDTH,
    feature_id,
    link_feature_names,
    link_features,
    prior_of,
    shipped_weights,
)

SITE = "http://a.test"
PLACE = LinkPlace("ul/li.toc", "div#main/ul/li.toc", "Release notes, 2024")

hostile = st.one_of(
    st.text(),
    st.text(st.characters(codec=None, categories=["Cs", "Cc", "Nd", "Lo"])),
    st.text("%?/:#.&=_-\0\n\ud800İß", max_size=40),
    st.integers(1, 3).map(lambda power: "aB1/" * 10**power),
)
places = st.builds(LinkPlace, hostile, hostile, hostile)


def columns(kind):
    return [at for at, feature in enumerate(FEATURES) if feature.kind == kind]


def named(kind, url=f"{SITE}/x", level=1, source=1, place=PLACE):
    names = link_feature_names(SITE, url, level, source, place)
    return [names[at] for at in columns(kind) if names[at]]


@given(hostile, hostile, st.integers(0, 10**6), st.integers(0, 2**63), places)
@example("", "", 0, 0, LinkPlace("", "", ""))
@example(SITE, "http://[::1]?%FF%", 1, 1, PLACE)
def test_any_link_has_ids_within_the_table(site, url, level, source, place):
    row = link_features(site, url, level, source, place)
    assert (row.typecode, len(row)) == ("I", WIDTH)
    assert 0 <= min(row) <= max(row) < TABLE_SIZE
    ids = [one for one in row if one != NONE]
    assert len(ids) == len(set(ids)), "a feature counts once"
    assert row == link_features(site, url, level, source, place)


@given(hostile, hostile, st.integers(0, 20), st.integers(0, 9), places)
def test_names_are_those_of_the_ids(site, url, level, source, place):
    names = link_feature_names(site, url, level, source, place)
    for feature, name, number in zip(FEATURES, names, link_features(site, url, level, source, place), strict=True):
        if not name:
            assert number == NONE
        elif number != NONE:
            assert number == feature_id(feature.kind, site if feature.is_of_site else "", name)
    assert sum(map(len, names)) < 10_000, "texts are bounded"


def test_features_of_all_sites_are_the_same_on_every_site():
    here = link_features(SITE, f"{SITE}/news/index.html", 2, 5, PLACE)
    there = link_features("http://b.test", "http://b.test/news/index.html", 2, 5, PLACE)
    for feature, one, other in zip(FEATURES, here, there, strict=True):
        if NONE not in (one, other):
            assert (one == other) is not feature.is_of_site, feature.kind


def test_uncertainty_counts_for_all_links_their_site_and_their_group():
    assert [feature.kind for feature in FEATURES[OPTIMISTIC]] == ["all links", "site", "group"]


def test_words_are_without_case_numbers_stop_words_and_repetition():
    anchor = "The whatsNew of 3.11: NEW in a_module, and new again"
    assert named("anchor", place=PLACE._replace(anchor=anchor)) == ["whats", "new", "modul", "again"]
    assert named("anchor on site", place=PLACE._replace(anchor=anchor)) == ["whats", "new", "modul", "again"]


def test_words_count_by_their_first_letters():
    texts = ["Changes", "changelog", "all that was changed", "Изменения", "изменениях"]
    found = [named("anchor", place=PLACE._replace(anchor=text)) for text in texts]
    assert found == [["chang"], ["chang"], ["all", "was", "chang"], ["измен"], ["измен"]]
    several = PLACE._replace(anchor="changed changes in the changelog, and four further words")
    assert named("anchor", place=several) == ["chang", "four", "furth", "words"], "each stem once"


def test_words_of_a_url_are_those_of_its_name_and_query_then_of_its_directories():
    url = f"{SITE}/docs/howto/%C3%A4ltere-fassung_eins.html?show=all"
    assert named("url", url) == ["älter", "fassu", "eins", "docs"]
    found = [named("url", f"{SITE}{path}") for path in ("/docs/library/", "/?show=all", "")]
    assert found == [["docs", "libra"], ["show", "all"], []]


def test_lengths_of_anchors_are_in_classes():
    texts = ["", "one", "one two", "one two three", "1 2 3 4", "1 2 3 4 5 6 7", "1 2 3 4 5 6 7 8", "a " * 100]
    found = [one for text in texts for one in named("anchor length", place=PLACE._replace(anchor=text))]
    assert found == ["no words", "1 word", *["2 to 3 words"] * 2, *["4 to 7 words"] * 2, *["8 or more words"] * 2]


def test_deep_pages_are_alike():
    assert named("level", level=8) == named("level", level=90) == ["8"]
    assert named("level", level=0) == ["0"]


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

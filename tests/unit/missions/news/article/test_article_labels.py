"""Evidence adds up to labels; weak evidence gives none."""

from dataclasses import replace

import pytest

from crawlers.missions.news.article.article_evidence import IN_FEED, Evidence, is_list, label, log_odds


@pytest.mark.parametrize(
    ("evidence", "odds"),
    [
        (Evidence(), 0.0),
        (Evidence(structured=True, og_article=True), 5.0),
        (Evidence(has_date=True, is_texty=True), 3.0),
        (Evidence(link_density=0.6), 0.0),
        (Evidence(link_density=0.61, og_website=True, has_pagination=True), -5.0),
        (Evidence(is_prefix_of=4), 0.0),
        (Evidence(is_prefix_of=5), -2.0),
    ],
)
def test_weights_add_up(evidence, odds):
    assert log_odds(evidence) == odds


def test_content_is_a_list_unless_anything_speaks_for_an_article():
    teasers = Evidence(link_density=0.9)
    assert is_list(log_odds(teasers))
    assert not is_list(log_odds(replace(teasers, has_date=True)))  # a short article among many links
    assert not is_list(log_odds(Evidence()))


def test_item_of_a_feed_is_an_article_unless_its_page_has_contrary_evidence():
    assert label(IN_FEED) is True
    assert label(IN_FEED + log_odds(Evidence(link_density=0.9))) is None

"""URL rules that are tried on what the store has."""

import pytest

from crawlers.items import State
from crawlers.missions.news.reports.url_rule_trial import SAMPLE, decision, probability_at, trial
from crawlers.missions.news.stored.news_tables import PageLabelRow
from crawlers.missions.news.urls.rule_learner import LEARNT, MAX_LABELS, UrlRule
from crawlers.missions.news.urls.stored_rules import add_rule, replace_rules
from crawlers.store.schema.tables import SettingRow
from crawlers.urls.url_expressions import UrlExpressions
from tests.support.missions.news.news_store import SITE, NewsStore
from tests.support.stored_rows import read

NEVER = lambda: False  # noqa: E731


@pytest.fixture
def news(database):
    return NewsStore(database, sites=(SITE, "http://sport.one.example"))


def add(news, regex, weight):
    return add_rule(news.database, "one.example", regex, weight).number


def decided(news, url):
    found = read(decision, news.database, url)
    return [one.number for one in found.matching], found.deciding and found.deciding.number


def test_rule_of_the_highest_weight_decides_unless_one_forbids(news):
    low, high = add(news, "/news/.*", 0.5), add(news, "/news/[0-9]+", 0.9)
    assert decided(news, f"{SITE}/news/7") == ([high, low], high)
    assert decided(news, f"{SITE}/news/x") == ([low], low)
    assert decided(news, f"{SITE}/") == ([], None)
    forbids = add(news, ".*/7", 0.0)
    assert decided(news, f"{SITE}/news/7") == ([high, low, forbids], forbids)
    assert decided(news, "http://www.one.example:8080/news/x") == ([low], low)
    assert decided(news, "http://none.test/news/7") == ([], None)


def tried(news, rule, most=100, is_over=NEVER):
    return read(trial, news.database, [news.sites[SITE]], UrlExpressions([rule]), most, is_over)


@pytest.mark.both_stores
def test_precision_and_recall_are_those_of_pages_that_were_read(news):
    for number in range(4):
        news.document(f"/news/{number}", 1.0)
    news.document("/other", 1.0)
    news.page("/news/none", 1.0)
    news.page("/news/waits", 1.0, state=State.WAITING)
    news.page("/news/earlier", 1.0, state=State.REJECTED, reason="stored_earlier 7")
    news.page("/about", 1.0)
    found = tried(news, "/news/.*")
    assert (found.tested, found.matched.number, found.matched.documents, found.matched.others) == (9, 7, 5, 1)
    assert (found.missed.number, found.missed.documents, found.is_cut) == (2, 1, False)
    assert found.precision == 5 / 6
    assert dict(found.matched.first)[f"{SITE}/news/waits"] is None


def test_nothing_is_said_of_a_rule_while_most_of_what_it_matches_was_not_read(news):
    news.document("/news/read", 1.0)
    assert tried(news, "/news/.*").is_good
    news.page("/news/waits", 1.0, state=State.WAITING)
    assert tried(news, "/news/.*").is_good is None
    news.page("/news/none", 1.0)
    news.page("/news/neither", 1.0)
    assert tried(news, "/news/.*").is_good is False


def test_samples_and_trials_are_bounded(news):
    for number in range(SAMPLE + 5):
        news.page(f"/{number}", 1.0)
    found = tried(news, "/.*")
    assert (len(found.matched.first), found.matched.number, found.is_cut) == (SAMPLE, SAMPLE + 5, False)
    assert (tried(news, "/.*", SAMPLE + 5).is_cut, tried(news, "/.*", SAMPLE + 4).tested) == (False, SAMPLE + 4)
    over = iter([False, False, True])
    found = tried(news, "/.*", is_over=lambda: next(over))
    assert (found.tested, found.is_cut) == (2, True)


@pytest.fixture
def learning(news):
    """A crawl that learns rules."""
    news.write(SettingRow(news.id, "NEWS_RULES", "learnt"))
    return news


def probability(news, url=f"{SITE}/kx/storm"):
    return read(lambda connection: probability_at(connection, news.id, url, decision(connection, url)), news.database)


def teach(news, odds, *paths, site=SITE):
    for path in paths:
        news.write(PageLabelRow(news.page(path, 1.0, site=site), news.sites[site], odds, 1.0))


KNOWN = ("/kx/fire", "/kx/cup", "/kx/train", "/kx/mayor")


@pytest.mark.both_stores
def test_probability_knows_the_labels_of_the_domain_after_any_number_of_uncertain_ones(learning):
    before = probability(learning)
    assert 0.0 < before < 0.4
    teach(learning, 1.0, *(f"/u/{number}" for number in range(MAX_LABELS)))
    assert probability(learning) == before
    teach(learning, 3.0, *KNOWN)
    of_site = probability(learning)
    assert of_site > before + 0.2
    assert probability(learning, "https://www.one.example/kx/storm") == of_site
    assert probability(learning, "http://sport.one.example/kx/storm") == before


def test_crawl_that_learns_nothing_has_no_probability(learning):
    learning.write(SettingRow(learning.id, "NEWS_RULES", "manual"))
    assert probability(learning) is None


def test_learnt_rules_count_with_the_labels_and_those_of_people_alone(learning):
    def learn(regex):
        with learning.database.write() as connection:
            replace_rules(connection, LEARNT, {"one.example": [UrlRule(regex, 0.9, LEARNT)]})

    teach(learning, 3.0, *KNOWN)
    without = probability(learning)
    learn("/other/.*")
    assert probability(learning) < without
    learn("/kx/.*")
    assert probability(learning) > without
    assert 0.0 < probability(learning, f"{SITE}/kx/?page=2") < 0.5
    assert probability(learning, f"{SITE}/x/?page=2") == 0.0
    add(learning, "/kx/s.*", 1.0)
    assert probability(learning) is None

"""Pictures of pulls, with figures worked out by hand."""

import pytest

from crawlers.bandits.index_rule import UCB1
from crawlers.reports.pictures import pull_pictures
from crawlers.reports.pictures.pull_pictures import Indices, LinksFound, Pulls
from crawlers.store.schema.tables import PullRow
from tests.support.stored_rows import begin, write_rows

pytestmark = pytest.mark.usefixtures("plain_missions")
A, _, C = SITES = ("http://a.test", "http://b.test", "http://c.test")
PULLS = [(0, 3.0), (1, 0.0), (0, 2.0), (2, 0.5), (0, 0.0)]  # site, reward


def crawl(database, name, mission="harvest", **settings):
    begun = begin(database, *SITES, name=name, mission=mission, RULE="ucb1", **settings)
    return begun.id, [one.id for one in begun.sites]


def pulled(database, *crawls, pulls=PULLS):
    """Store the pulls of several crawls, which ran at the same time: pull n ended at second n."""
    for at, (place, reward) in enumerate(pulls, 1):
        write_rows(database, *(PullRow(sites[place], at, reward, float(at)) for _, sites in crawls))


@pytest.fixture
def mine(database):
    """A crawl with pulls, in a store where another one has as many."""
    own = crawl(database, "mine")
    pulled(database, crawl(database, "other", mission="wide"), own)
    return own[0]


def test_times_never_decrease_when_workers_store_late_pulls(database, draw):
    number, sites = crawl(database, "two workers")
    write_rows(database, *(PullRow(sites[0], at, 0.0, float(at)) for at in (3, 1, 5)))
    assert draw(Pulls(), number).points == (3.0, 3.0, 5.0)


def test_sites_beyond_the_busiest_are_counted_in_a_note(draw, mine, monkeypatch):
    monkeypatch.setattr(pull_pictures, "SHOWN", 1)
    drawing = draw(Pulls(), mine)
    assert [one.title for one in drawing.series] == [A]
    assert drawing.notes[0].parts["others"].number == 2


@pytest.mark.both_stores
def test_indices_are_those_of_the_rule_after_the_same_pulls(curves, mine):
    found = curves(Indices(), mine, {"RULE": "ucb1", "UCB1_INITIAL_PAGES": "1"}, axis="pages")
    rule = UCB1(1)
    expected = {site: [] for site in SITES}
    for site in SITES:
        rule.sleep(site)
    for place, reward in PULLS:
        rule.record_pull(SITES[place])
        rule.record_reward(SITES[place], reward)
        for number, site in enumerate(SITES):
            was_read = any(one == number for one, _ in PULLS[: len(expected[site]) + 1])
            expected[site].append(rule.index(site) if was_read else None)
    assert found == expected
    assert found[C][:3] == [None, None, None]
    assert found[A][0] == 1.0  # after one pull: its share of the largest reward; no confidence term, because ln 1 = 0


def test_indices_after_the_last_pull_are_drawn(draw, mine, monkeypatch):
    monkeypatch.setattr(pull_pictures, "POINTS", len(PULLS) - 1)
    drawing = draw(Indices(), mine, {"RULE": "ucb1"}, axis="pages")
    assert len(PULLS) % 2
    assert drawing.points == (*range(2, len(PULLS), 2), len(PULLS))
    assert {len(one.values) for one in drawing.series} == {len(drawing.points)}


def test_indices_of_many_pulls_end_before_all_were_replayed(draw, mine, monkeypatch):
    monkeypatch.setattr(pull_pictures, "POINTS", 2)
    monkeypatch.setattr(pull_pictures, "MAX_REPLAYED", 4)
    drawing = draw(Indices(), mine, {"RULE": "ucb1"}, axis="pages")
    assert drawing.points == (2, 4)
    assert drawing.notes[-1].parts == {"pages": 4}


@pytest.mark.both_stores
def test_compared_crawls_are_summed_at_the_same_numbers_of_pages(database, draw, monkeypatch):
    monkeypatch.setattr(pull_pictures, "POINTS", 2)
    first, mine = crawl(database, "first", REWARD="new_hosts"), crawl(database, "mine", REWARD="new_hosts")
    pulled(database, first, pulls=PULLS[:4])
    pulled(database, mine)
    drawing = draw(LinksFound(), mine[0])
    assert drawing.points == (0, 3, 4, 5)
    assert [one.values for one in drawing.series] == [(0.0, 5.0, None, 5.5), (0.0, 5.0, 5.5, None)]
    assert drawing.y.title == "different external hosts found"

"""The decision that chose a page, and how the sites stood then."""

import pytest
from sqlalchemy import select, update

from crawlers.bandits.index_rule import UCB1
from crawlers.items import State
from crawlers.reports.crawl_manifest import crawl_rules
from crawlers.reports.histories.decisions import Decision, decision_events, replayed
from crawlers.reports.histories.history import fact_lines
from crawlers.store.schema.tables import PullRow, page, pull, site
from tests.support.stored_pages import add_page
from tests.support.stored_rows import begin, execute, write_rows

SITES = ("http://a.test", "http://b.test", "http://c.test")
INITIAL = 2  # pages of each site


class Pulled:
    """A crawl whose pages were pulled one after another: (site, reward, chosen at, ended at)."""

    def __init__(self, database, pulls, name="mine", sites=SITES):
        self.database = database
        begun = begin(database, *sites, name=name, mission="extlinks")
        self.id, self.sites = begun.id, [one.id for one in begun.sites]
        self.rules = crawl_rules({"RULE": "ucb1", "UCB1_INITIAL_PAGES": str(INITIAL)})
        for number, (place, reward, chosen_at, ended_at) in enumerate(pulls, 1 + 100 * begun.id):
            add_page(database, number, self.sites[place], f"{SITES[place]}/{number}", fetched_at=chosen_at)
            write_rows(database, PullRow(self.sites[place], number, reward, ended_at))

    def rows(self):
        pulls = self.database.rows(select(pull).order_by(pull.c.id))
        return [one for one in pulls if one.site_id in self.sites]

    def replayed(self, place, chosen_at, rule, *, is_over=False):
        with self.database.read() as connection:
            return replayed(connection, self.id, self.rows()[place], chosen_at, rule, lambda: is_over)

    def lines(self, place, rules=None, *, is_over=False):
        with self.database.read() as connection:
            row = connection.execute(select(page).where(page.c.id == self.rows()[place].page_id)).one()
            events = decision_events(connection, self.id, row, rules or self.rules, lambda: is_over)
        return fact_lines([event._replace(at=None) for event in events])


# Two pages of each site, then a page of the best one.
ONE_BY_ONE = [(n % 3, float(n % 3), float(n), n + 0.5) for n in range(6)] + [(2, 7.0, 6.0, 6.5)]


def test_rule_stands_as_after_the_pulls_before(database):
    # Another crawl comes before, in the same table.
    Pulled(database, ONE_BY_ONE, "other")
    crawl = Pulled(database, ONE_BY_ONE)
    made = crawl.replayed(6, 6.0, UCB1(INITIAL))
    rule = UCB1(INITIAL)
    for place, reward, *_ in ONE_BY_ONE[:6]:
        rule.record_pull(place)
        rule.record_reward(place, reward)
    assert isinstance(made, Decision)
    assert (made.number, made.in_flight) == (7, 0)
    assert [(one.site, one.promise, one.pulls, one.reward) for one in made.sites] == [
        (SITES[place], rule.index(place), 2, 2.0 * place) for place in (2, 1, 0)
    ]


def test_pulls_in_flight_count_without_reward(database):
    # The third ended after the choice; so did the last one, which was chosen before and is stored later.
    pulls = [(0, 1.0, 0.0, 0.5), (1, 1.0, 1.0, 1.5), (1, 9.0, 2.0, 5.5), (0, 1.0, 4.0, 6.0), (2, 9.0, 3.0, 9.0)]
    made = Pulled(database, pulls).replayed(3, 4.0, UCB1(1))
    assert isinstance(made, Decision)
    assert (made.number, made.in_flight) == (4, 2)
    stands = {one.site: (one.pulls, one.reward) for one in made.sites}
    assert stands == dict(zip(SITES, [(1, 1.0), (2, 1.0), (1, 0.0)], strict=True))


def test_replay_that_takes_too_long_is_given_up(database):
    crawl = Pulled(database, ONE_BY_ONE)
    assert crawl.replayed(6, 6.0, UCB1(INITIAL), is_over=True) is None
    assert crawl.lines(6, is_over=True)[0].endswith("because replaying the rule took too long; ask again later")


def test_replay_is_given_up_within_the_pulls_of_another_crawl(database, monkeypatch):
    monkeypatch.setattr("crawlers.reports.histories.decisions.ROWS_AT_ONCE", 3)
    first, _ = Pulled(database, ONE_BY_ONE[:1]), Pulled(database, ONE_BY_ONE, "other")
    add_page(database, 500, first.sites[0], f"{SITES[0]}/500", fetched_at=9.0)
    write_rows(database, PullRow(first.sites[0], 500, 0.0, 9.5))
    asked = iter((False, True))  # before the replay, and in it
    with database.read() as connection:
        assert replayed(connection, first.id, first.rows()[-1], 9.0, None, lambda: next(asked)) is None


@pytest.mark.both_stores
def test_decision_names_the_best_sites_and_the_reward(database):
    crawl = Pulled(database, ONE_BY_ONE)
    lines = crawl.lines(6)
    assert lines[0] == "  chosen by the rule ucb1, as download 7 of the crawl, with 0 others in flight"
    assert lines[1].startswith("    chosen: http://c.test/, index ")
    assert lines[1].endswith(", reward 4 of 2 pages")
    assert lines[2].startswith("    http://b.test/: index ")
    assert lines[4:] == ["  its reward for the rule: 7"]


def test_site_that_is_closed_by_its_robots_txt_is_no_rival(database):
    crawl = Pulled(database, ONE_BY_ONE, sites=(*SITES, "http://closed.test", "http://mute.test", "http://open.test"))
    closed, mute, waiting = crawl.sites[3:]
    refused = {"state": int(State.REJECTED), "reason": "robots_disallows", "fetched_at": None}
    add_page(database, 901, closed, "http://closed.test/", **refused)
    waits = {"state": int(State.WAITING), "fetched_at": None}
    add_page(database, 902, mute, "http://mute.test/", **waits)
    add_page(database, 903, waiting, "http://open.test/", **waits)
    execute(database, update(site).where(site.c.id == mute).values(robots_status=0, robots_text="timeout"))
    shown = "\n".join(crawl.lines(6))
    assert "http://open.test/: its first pages are read before indices count" in shown
    assert "closed.test" not in shown
    assert "mute.test" not in shown


def test_site_that_was_not_the_best_was_available(database):
    crawl = Pulled(database, [*ONE_BY_ONE[:6], (0, 7.0, 6.0, 6.5)])
    lines = crawl.lines(6)
    assert lines[3].startswith("    chosen: http://a.test/, index ")
    assert lines[4] == "    sites with a higher index had nothing to fetch, or rested between two requests"


@pytest.mark.parametrize(
    ("rule", "how"),
    [("roundrobin", "it takes sites in turns"), ("best", "it takes the site whose next page has the best score")],
)
def test_rule_without_an_index_says_how_it_chooses(database, rule, how):
    crawl = Pulled(database, ONE_BY_ONE)
    assert crawl.lines(6, crawl_rules({"RULE": rule}))[1] == f"    this rule has no index: {how}"

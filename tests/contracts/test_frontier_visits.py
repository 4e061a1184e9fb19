"""The frontier's contract: revisits of a page, and links between sites."""

import pytest

from crawlers.items import State
from tests.contracts.scored_crawl import ScoredCrawl, Way, name_of, target_of
from tests.contracts.site import Site, acknowledge
from tests.support.orders import order


class Visits:
    """A home page with links to two others, which can be requested any number of times."""

    def __init__(self, engine):
        self.crawl = ScoredCrawl(engine, Way(lambda: order("aopic"), sites=1, accidents=False))
        self.site = self.crawl.sites[0]
        self.lease = self.next()
        self.crawl.read(self.lease, self.links(1, 2, 2))
        for _ in range(2):
            self.crawl.acknowledge(self.next(), State.REFUSED, status=404, reason="status 404")

    def links(self, *numbers):
        return {(self.site, number): numbers.count(number) for number in numbers}

    def next(self):
        (lease,) = self.crawl.frontier.lease(self.crawl.now, 1)
        return lease

    def visit(self, state, status, *links, **more):
        """Request the home page again; return the time."""
        crawl = self.crawl
        crawl.now += 10.0
        lease = self.next()
        assert (lease.id, lease.is_revisit) == (self.lease.id, True)
        crawl.now += 1.0
        found = [(target_of(name), count) for name, count in self.links(*links).items()]
        crawl.acknowledge(lease, state, status=status, links=found, **more)
        return crawl.now

    @property
    def hash(self):
        """The content hash of the home page at its first visit."""
        return repr(((self.site, 0), 1)).encode()

    @property
    def row(self):
        return self.crawl.rows()[self.site, 0]

    @property
    def numbers(self):
        return {row["id"]: name[1] for name, row in self.crawl.rows().items()}

    def stored(self, table):
        """Return the rows of a table of changes, without the page; targets by their number on the site."""
        rows = []
        for row in sorted(self.crawl.engine.stored(table), key=lambda row: row["changed_at"]):
            assert row.pop("page_id" if table == "page_change" else "source_id") == self.lease.id
            rows.append(tuple(self.numbers[value] if key == "target_id" else value for key, value in row.items()))
        return rows

    @property
    def targets(self):
        return {self.numbers[target]: count for (_, target), count in self.crawl.engine.links().items()}


@pytest.fixture
def visits(engine):
    return Visits(engine)


@pytest.mark.parametrize("answer", ["status 304", "same content"])
def test_unchanged_page_is_only_marked_as_seen_again(visits, answer):
    before = visits.row
    more = {"is_unchanged": True} if answer == "status 304" else {"content_hash": visits.hash}
    at = visits.visit(State.DONE, 304 if answer == "status 304" else 200, **more)
    assert visits.row == before | {"fetched_at": at - 1.0, "reason": None}
    assert visits.stored("page_change") == visits.stored("link_change") == []
    assert visits.targets == {1: 1, 2: 2}
    assert visits.next().is_revisit, "it is due again"


def test_changed_page_keeps_its_previous_version(visits):
    seen = visits.row["fetched_at"]
    at = visits.visit(State.DONE, 200, 2, 3, 3, content_hash=b"new", title="New", etag="v2")
    assert visits.stored("page_change") == [(at, seen, State.DONE, 200, visits.hash.hex())]
    assert sorted(visits.stored("link_change")) == [(1, at, seen, 1), (2, at, seen, 2), (3, at, None, 0)]
    assert visits.targets == {2: 1, 3: 2}
    changed = {"state": State.DONE, "title": "New", "etag": "v2", "content_hash": b"new".hex(), "fetched_at": at - 1.0}
    assert visits.row.items() >= changed.items()


def test_previous_version_lasts_until_the_page_was_last_seen_unchanged(visits):
    seen = visits.visit(State.DONE, 304, is_unchanged=True) - 1.0
    at = visits.visit(State.DONE, 200, content_hash=b"new")
    assert visits.stored("page_change") == [(at, seen, State.DONE, 200, visits.hash.hex())]
    assert sorted(visits.stored("link_change")) == [(1, at, seen, 1), (2, at, seen, 2)]


def test_two_visits_in_one_batch_are_recorded_separately(visits):
    visits.crawl.engine.held.flush()
    seen = visits.row["fetched_at"]
    first = visits.visit(State.DONE, 200, 2, content_hash=b"second")
    second = visits.visit(State.DONE, 200, 1, 1, content_hash=b"third")
    assert visits.stored("page_change") == [
        (first, seen, State.DONE, 200, visits.hash.hex()),
        (second, first - 1.0, State.DONE, 200, b"second".hex()),
    ]
    assert sorted(visits.stored("link_change")) == [
        (1, first, seen, 1),
        (1, second, None, 0),
        (2, first, seen, 2),
        (2, second, first - 1.0, 1),
    ]
    assert visits.targets == {1: 2}


def test_missing_page_is_refused_and_revisited_until_it_returns(visits):
    seen = visits.row["fetched_at"]
    gone = visits.visit(State.REFUSED, 404, reason="status 404")
    assert (visits.row["state"], visits.row["reason"]) == (State.REFUSED, "status 404")
    assert visits.stored("page_change") == [(gone, seen, State.DONE, 200, visits.hash.hex())]
    assert sorted(visits.stored("link_change")) == [(1, gone, seen, 1), (2, gone, seen, 2)]
    assert visits.targets == {}
    visits.crawl.check_cash()

    still = visits.visit(State.REFUSED, 404, reason="status 404")
    assert len(visits.stored("page_change")) == 1
    visits.crawl.reopen()
    visits.crawl.check_cash()
    back = visits.visit(State.DONE, 200, 1, content_hash=visits.hash)
    assert visits.row["state"] == State.DONE
    change = visits.stored("page_change")[1]
    assert change[:1] + change[2:] == (back, State.REFUSED, 404, None)
    assert change[1] <= still
    assert visits.stored("link_change")[2:] == [(1, back, None, 0)]
    assert visits.targets == {1: 1}


def test_target_of_a_page_that_moved_is_fetched_as_a_new_page(visits):
    at = visits.visit(State.MOVED, 301, moved_to=target_of((visits.site, 7)))
    lease = visits.next()
    assert (name_of(lease.url)[1], lease.is_revisit) == (7, False)
    assert (visits.row["state"], visits.row["moved_to"]) == (State.MOVED, lease.id)
    assert [row[0] for row in visits.stored("page_change")] == [at]


@pytest.mark.parametrize("reason", ["no answer", "redirect_to_itself"])
def test_unavailable_page_is_kept_and_revisited(visits, reason):
    before = visits.row
    if reason == "no answer":
        visits.visit(State.FAILED, 0, reason=reason)
    else:
        visits.visit(State.MOVED, 301, moved_to=target_of((visits.site, 0)))
    assert visits.row == before | {"reason": reason}
    assert visits.stored("page_change") == visits.stored("link_change") == []
    assert visits.targets == {1: 1, 2: 2}
    visits.visit(State.DONE, 200, content_hash=visits.hash)
    assert visits.row["reason"] is None


def test_page_that_became_forbidden_is_kept_and_not_revisited(visits):
    visits.visit(State.REJECTED, 0, reason="robots_disallows")
    assert (visits.row["state"], visits.targets) == (State.DONE, {1: 1, 2: 2})
    assert visits.crawl.frontier.lease(visits.crawl.now + 9, 1) == []
    visits.crawl.reopen()
    assert visits.crawl.frontier.lease(visits.crawl.now + 9, 1) == []
    assert visits.crawl.cash() == pytest.approx(1.0, abs=1e-9)


def test_retried_visit_leaves_the_page_unchanged(visits):
    before = visits.row
    lease = visits.next()
    visits.crawl.frontier.release(lease, visits.crawl.now + 5, "no answer", failed=True)
    assert visits.row == before
    visits.crawl.now += 5
    again = visits.next()
    assert (again.id, again.is_revisit, again.attempts) == (lease.id, True, 1)


@pytest.mark.parametrize("is_redirect", [False, True])
def test_link_and_redirect_to_another_site_wake_it_under_orders_without_scores(engine, is_redirect):
    home = Site(engine)
    other = Site(engine, home.frontier)
    home.add("/")
    target = other.target("/a/")
    more = {"moved_to": target} if is_redirect else {"cross_site_links": [(target, 1)]}
    acknowledge(home.frontier, home.one(), State.MOVED if is_redirect else State.DONE, **more)
    assert home.frontier.has_pending
    assert other.paths(other.lease()) == ["/a/"]


def test_page_that_is_announced_while_in_flight_is_fetched_whole_next_time_despite_a_kill(visits):
    crawl = visits.crawl
    visits.visit(State.DONE, 200, content_hash=b"new", etag="v2")
    crawl.now += 10.0
    lease = visits.next()
    assert (lease.previous.etag, visits.row["etag"]) == ("v2", "v2")
    crawl.frontier.fetch_again(target_of((visits.site, 0)).site, [(lease.id, None, lease.leased_at)], crawl.now)
    assert visits.row["etag"] is None
    crawl.acknowledge(lease, State.DONE, status=304, is_unchanged=True, etag="v2")
    assert visits.row["etag"] is None
    assert visits.next().previous.etag is None

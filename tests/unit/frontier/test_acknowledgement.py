"""An acknowledged page decides whether its site is available, and which texts of links are stored."""

from functools import partial

import pytest

from crawlers.frontier.values import Candidate, Decision, LinkFacts
from crawlers.items import LinkText, Page, State
from crawlers.store.schema.tables import LinkAnchorRow, LinkContextRow, LinkTextRow, NewPage, SiteAvailability, SiteRest
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.resolution import resolve
from tests.support.frontier_engine import Engine, HeldWriter
from tests.support.of_missions import needs
from tests.support.orders import order

SITE, NOW = "http://a.test", 1000.0


class Recorder(HeldWriter):
    """Records all rows of a run."""

    def __init__(self, database):
        super().__init__(database)
        self.changes = ChangeSet()

    def submit(self, changes):
        self.changes.extend(changes)
        super().submit(changes)


class Crawl:
    """A crawl of one site with *roots*, whose pages are revisited."""

    def __init__(self, database, *roots, order="aopic", **limits):
        self.engine = Engine(database)
        self.store = self.engine.held = Recorder(database)
        self.order, self.limits = order, limits
        assert self.engine.new_site() == 1
        self.now = NOW
        self.open()
        self.frontier.add([Candidate(1, resolve(SITE, root)) for root in roots], NOW)

    def open(self):
        """Open the frontier like a further run."""
        self.store.changes = ChangeSet()
        self.frontier = self.engine.frontier(order(self.order), **self.limits)
        self.frontier.open_site(SiteRow(1, SITE, 9, None, 0.0), self.now)

    @property
    def availability(self):
        return self.store.changes[SiteAvailability]

    def leases(self):
        self.now += 1.0
        return {lease.url.removeprefix(SITE): lease for lease in self.frontier.lease(self.now, 9)}

    def end(self, lease, state, reason="", moved_to="", link=""):
        page = Page(
            lease.id,
            lease.url,
            lease.level,
            state,
            reason=reason,
            content_hash=f"{self.now}".encode(),
            moved_to=resolve(SITE, moved_to) if moved_to else None,
            links=[(resolve(SITE, link), 1)] if link else [],
        )
        self.frontier.acknowledge(lease, Decision(page), self.now)


@pytest.fixture
def begin(database):
    return partial(Crawl, database)


@pytest.mark.parametrize("state", [State.FAILED, State.REFUSED, State.REJECTED])
def test_site_whose_root_cannot_be_read_is_not_available(begin, state):
    crawl = begin("/")
    crawl.end(crawl.leases()["/"], state, "why")
    assert crawl.availability == [(1, "why")]


def test_site_is_available_once_one_of_its_roots_was_read(begin):
    crawl = begin("/", "/b", "/c")
    leases = crawl.leases()
    crawl.end(leases["/"], State.FAILED, "timeout")
    crawl.end(leases["/b"], State.DONE)
    crawl.end(leases["/c"], State.FAILED, "timeout")
    assert crawl.availability == [(1, "timeout"), (1, None)]


def test_redirect_of_a_root_decides_nothing_before_its_target_is_read(begin):
    crawl = begin("/")
    crawl.end(crawl.leases()["/"], State.MOVED, moved_to="/en")
    assert crawl.availability == []
    crawl.end(crawl.leases()["/en"], State.REFUSED, "status 404")
    assert crawl.availability == [(1, "status 404")]


def test_failed_attempt_to_read_a_root_is_told_with_the_time_of_the_next_until_one_was_read(begin):
    crawl = begin("/", "/b")
    leases = crawl.leases()
    crawl.frontier.release(leases["/"], crawl.now + 5.0, "timeout", failed=True)
    assert crawl.availability == [(1, "timeout")]
    assert [row.rest_until for row in crawl.store.changes[SiteRest]] == [crawl.now + 5.0]
    crawl.end(leases["/b"], State.DONE)
    crawl.now += 5.0
    crawl.frontier.release(crawl.leases()["/"], crawl.now + 9.0, "timeout", failed=True)
    assert crawl.availability == [(1, "timeout"), (1, None)]


def test_failed_attempt_does_not_shorten_the_rest_that_the_host_wishes(begin):
    crawl = begin("/", "/b")
    leases = crawl.leases()
    wished = crawl.frontier.site(1).gate.back_off(crawl.now, 600.0)
    crawl.frontier.release(leases["/"], wished, "status 503", failed=True)
    crawl.frontier.release(leases["/b"], crawl.now + 5.0, "timeout", failed=True)
    assert [row.rest_until for row in crawl.store.changes[SiteRest]] == [wished, wished]


def test_texts_of_links_that_the_page_has_are_stored(begin):
    crawl = begin("/")
    lease = crawl.leases()["/"]
    linked, added, removed = (resolve(SITE, path) for path in ("/a", "/added", "/removed"))  # by a user's pipeline
    page = Page(
        *(lease.id, lease.url, lease.level, State.DONE),
        links=[(linked, 1), (added, 1)],
        anchors={linked.key: "to a", removed.key: "to another"},
    )
    crawl.frontier.acknowledge(lease, Decision(page), crawl.now)
    assert crawl.store.changes[LinkAnchorRow] == [(lease.id, crawl.leases()["/a"].id, "to a")]


def test_site_whose_root_is_not_admitted_is_not_available(begin):
    crawl = begin(reason_against=lambda target: "feed_removed")
    crawl.frontier.add([Candidate(1, resolve(SITE, "/below"), level=1)], NOW)
    assert crawl.availability == []
    crawl.frontier.add([Candidate(1, resolve(SITE, "/"))], NOW)
    assert crawl.availability == [(1, "feed_removed")]


def test_revisit_of_a_root_in_the_next_run_makes_its_site_available_if_it_is_read(begin):
    crawl = begin("/")
    crawl.end(crawl.leases()["/"], State.DONE, link="/x")
    crawl.end(crawl.leases()["/x"], State.DONE, link="/")
    for state, availability in ((State.REFUSED, []), (State.DONE, [(1, None)])):
        crawl.open()
        lease = crawl.leases()["/"]
        assert lease.is_revisit
        crawl.end(lease, state, link="/x")
        assert crawl.availability == availability


@needs("topic")
def test_values_and_texts_of_links_are_those_of_the_linked_pages(begin):
    crawl = begin("/", order="topic")
    lease = crawl.leases()["/"]
    poor, rich = resolve(SITE, "/poor"), resolve(SITE, "/rich")
    texts = [LinkText(target.key, target.url, "", "", "", "a") for target in (poor, rich)]
    page = Page(lease.id, lease.url, 0, State.DONE, links=[(poor, 1), (rich, 1)])
    known = LinkFacts(values={poor.key: 0.1, rich.key: 0.9}, texts=texts)
    crawl.frontier.acknowledge(lease, Decision(page, links=known), NOW)
    url_of = {row.id: row.url for row in crawl.store.changes[NewPage]}
    anchor_of = {row.id: row.anchor for row in crawl.store.changes[LinkContextRow]}
    found = [(url_of[row.target_id], anchor_of[row.context_id]) for row in crawl.store.changes[LinkTextRow]]
    assert found == [(poor.url, poor.url), (rich.url, rich.url)]
    assert [lease.url for lease in crawl.frontier.lease(NOW + 1, 1)] == [rich.url]

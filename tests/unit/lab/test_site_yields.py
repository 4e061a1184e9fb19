"""The reward of each download of a stored crawl, in the order of the downloads."""

import pytest

from crawlers.algorithms.bandits.reward_kinds import REWARDS
from crawlers.algorithms.urls.keys import page_key
from crawlers.items import ExternalLink, Page, State
from crawlers.lab.site_yields import site_yields
from crawlers.storage import crawls
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.page_rows import add_page_rows
from crawlers.storage.schema.tables import NewPage, PullRow
from crawlers.storage.site_rows import SiteRow
from tests.support.stored_rows import write_changes_of


class Stored:
    """One crawl with the site `http://a.test`; pages are given by number and external links."""

    def __init__(self, database, name="one", parallel=1, sites=("http://a.test",)):
        self.database = database
        rows = [SiteRow(0, site, parallel, None, 0.0) for site in sites]
        self.crawl = crawls.begin(database, name, "extlinks", rows, {}, 0.0)
        self.site_id = self.crawl.sites[0].id

    def page(self, number, *urls, state=State.DONE, attempts=1, priority=0.0, site_id=None, **more):
        """Add a page; *urls* are its external links, host and path."""
        site_id = site_id or self.site_id
        url = f"http://a.test/{number}"
        new = NewPage(number, site_id, number, url, 0, 0, 0, priority, 0, None, None, None, 0.0, 0.0)
        self.write(ChangeSet(new))
        found = []
        for n, target in enumerate(urls):
            full = f"http://{target}"
            link = ExternalLink(full, page_key(full), full.rpartition("/")[0], f"link {n}", "", "", "", "a")
            found.append((link, 1))
        page = Page(number, url, 0, State.REFUSED if state is State.WAITING else state, external=found)
        if state is not State.WAITING:
            changes = ChangeSet()
            add_page_rows(changes, page, attempts=attempts, fetched_at=0.0, now=0.0, moved_to=None)
            self.write(changes)

    def pulls(self, *numbers, site_id=None):
        self.write(ChangeSet(*(PullRow(site_id or self.site_id, number, 0.0, 0.0) for number in numbers)))

    def write(self, changes):
        write_changes_of(self.database, changes)

    def yields(self, reward="new_links"):
        return site_yields(self.database, self.crawl.id, REWARDS[reward])


@pytest.fixture
def stored(database):
    return Stored(database)


def test_without_pulls_downloads_follow_the_page_order(stored):
    stored.page(4, "x.test/1", priority=0.0)
    stored.page(2, "x.test/1", "x.test/2", "x.test/3", priority=21.0)
    stored.page(3, "x.test/4", "x.test/3", priority=1.0)
    stored.page(1, priority=21.0)
    stored.page(5, priority=42.0, state=State.WAITING)
    stored.page(6, priority=0.0, state=State.REJECTED, attempts=0)
    (site,) = stored.yields()
    assert (site.site, site.parallel) == ("http://a.test", 1)
    assert site.page_ids == [4, 3, 1, 2]
    assert site.yields == [1, 2, 0, 1]


@pytest.mark.both_stores
def test_recorded_pulls_define_the_order(stored):
    stored.page(1, "x.test/1", priority=0.0)
    stored.page(2, "x.test/1", "x.test/2", priority=1.0)
    stored.page(3, "x.test/3", priority=2.0)
    stored.page(4, priority=3.0, attempts=1)
    stored.pulls(2, 1)
    stored.pulls(3)
    (site,) = stored.yields()
    assert (site.page_ids, site.yields) == ([2, 1, 3], [2, 0, 1])


@pytest.mark.both_stores
@pytest.mark.parametrize("pulls", [(), (1, 2, 1, 3, 1)])
def test_repeated_downloads_all_count_and_only_the_last_is_rewarded(stored, pulls):
    stored.page(1, "x.test/1", "x.test/2", attempts=3)
    stored.page(2, "x.test/2", priority=1.0)
    stored.page(3, "x.test/2", "x.test/3", priority=2.0)
    stored.pulls(*pulls)
    (site,) = stored.yields()
    assert site.page_ids == list(pulls or (1, 1, 1, 2, 3))
    assert site.yields == ([0, 1, 0, 1, 1] if pulls else [0, 0, 2, 0, 1])


@pytest.mark.parametrize("state", [State.FAILED, State.REFUSED, State.MOVED])
def test_download_that_is_not_a_page_counts_but_is_not_rewarded(stored, state):
    stored.page(1, "x.test/1", state=state)  # a redirect to another site is a link, but not of a page
    stored.page(2, "x.test/1", priority=1.0)
    (site,) = stored.yields()
    assert (site.page_ids, site.yields) == ([1, 2], [0, 1])


def test_deleted_duplicates_are_counted(stored):
    stored.page(1, "x.test/1")
    with stored.database.write() as connection:
        connection.exec_driver_sql("UPDATE page SET duplicates = 3")
    assert stored.yields()[0].deleted == 3

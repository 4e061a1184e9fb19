"""The reward of each download of a stored crawl, in the order of the downloads."""

import pytest
from sqlalchemy import text

from crawlers.bandits.reward_kinds import REWARDS
from crawlers.items import ExternalLink, Page, State
from crawlers.lab.site_yields import site_yields
from crawlers.store.schema.tables import PullRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.page_rows import add_page_rows
from crawlers.urls.keys import page_key
from tests.support.stored_rows import begin, execute, new_page, write_changes_of, write_rows


class Stored:
    """One crawl with the site `http://a.test`; pages are given by number and external links."""

    def __init__(self, database):
        self.database = database
        self.crawl = begin(database, "http://a.test", mission="extlinks")
        self.site_id = self.crawl.sites[0].id

    def page(self, number, *urls, state=State.DONE, attempts=1, priority=0.0):
        """Add a page; *urls* are its external links, host and path."""
        url = f"http://a.test/{number}"
        changes = ChangeSet(new_page(number, self.site_id, priority=priority))
        links = [ExternalLink(f"http://{to}", page_key(to), "http://x.test", "", "", "", "", "a") for to in urls]
        if state is not State.WAITING:
            page = Page(number, url, 0, state, external=[(link, 1) for link in links])
            add_page_rows(changes, page, attempts=attempts, fetched_at=0.0, now=0.0, moved_to=None)
        write_changes_of(self.database, changes)

    def yields(self):
        return site_yields(self.database, self.crawl.id, REWARDS["new_links"])


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
    assert (site.site, site.parallel, site.page_ids) == ("http://a.test", 1, [4, 3, 1, 2])
    assert site.yields == [1, 2, 0, 1]


@pytest.mark.both_stores
@pytest.mark.parametrize("pulls", [(), (1, 2, 1, 3, 1)])
def test_repeated_downloads_all_count_and_only_the_last_is_rewarded(stored, pulls):
    stored.page(1, "x.test/1", "x.test/2", attempts=3)
    stored.page(2, "x.test/2", priority=1.0)
    stored.page(3, "x.test/2", "x.test/3", priority=2.0)
    write_rows(stored.database, *(PullRow(stored.site_id, number, 0.0, 0.0) for number in pulls))
    (site,) = stored.yields()
    assert site.page_ids == list(pulls or (1, 1, 1, 2, 3))
    assert site.yields == ([0, 1, 0, 1, 1] if pulls else [0, 0, 2, 0, 1])


def test_deleted_duplicates_are_counted(stored):
    stored.page(1, "x.test/1")
    execute(stored.database, text("UPDATE page SET duplicates = 3"))
    assert stored.yields()[0].deleted == 3

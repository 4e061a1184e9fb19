"""Sites are added to crawls with their seeds, and opened again."""

from sqlalchemy import text

from crawlers.items import State
from crawlers.store.reading import crawls
from crawlers.store.schema.tables import SiteAvailability
from tests.support.stored_rows import begin, new_page, write_rows


def test_unavailable_site_is_retried_after_a_stop_but_not_after_a_kill(database):
    crawl = begin(database, "http://a.test")
    home = new_page(1, crawl.sites[0].id, State.FAILED, reason="timeout")
    write_rows(database, home, SiteAvailability(crawl.sites[0].id, "timeout"))

    def states():
        state = database.scalar(text("SELECT state FROM page"))
        return state, database.scalar(text("SELECT availability FROM site"))

    begin(database, "http://a.test")
    assert states() == (State.FAILED, "timeout"), "a kill must not change the result"
    crawls.end(database, crawl.id, finished=False, reason="page_budget", now=2.0)
    begin(database, "http://a.test")
    assert states() == (State.WAITING, None)

"""Sites are added to crawls with their seeds, and opened again."""

from sqlalchemy import text

from crawlers.items import State
from crawlers.storage import crawls
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.schema.tables import NewPage, SiteAvailability
from crawlers.storage.site_rows import SiteRow


def begin(database, *sites, name="daily"):
    return crawls.begin(database, name, "sitegraph", sites, {}, 5.0)


def test_unavailable_site_is_retried_after_a_stop_but_not_after_a_kill(database):
    row = SiteRow(0, "http://a.test", 1, None, 0.0)
    crawl = crawls.begin(database, "c", "m", [row], {}, 0.0)
    with database.write() as connection:
        place = (1, crawl.sites[0].id, 1, "http://a.test/", 0, 0, 0, 0.0)
        home = NewPage(*place, int(State.FAILED), "timeout", None, None, 0.0, 0.0)
        write_changes(connection, ChangeSet(home, SiteAvailability(crawl.sites[0].id, "timeout")))

    def states():
        with database.read() as connection:
            state = connection.execute(text("SELECT state FROM page")).scalar()
            return state, connection.execute(text("SELECT availability FROM site")).scalar()

    crawls.begin(database, "c", "m", [row], {}, 1.0)
    assert states() == (State.FAILED, "timeout"), "a kill must not change the result"
    crawls.end(database, crawl.id, finished=False, reason="page_budget", now=2.0)
    crawls.begin(database, "c", "m", [row], {}, 3.0)
    assert states() == (State.WAITING, None)

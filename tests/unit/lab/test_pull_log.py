"""The pulls of a crawl for reports."""

from itertools import product

from crawlers.items import State
from crawlers.lab.report import pull_log
from crawlers.storage import crawls
from crawlers.storage.schema.tables import PullRow
from crawlers.storage.site_rows import SiteRow
from tests.support.stored_rows import write_rows
from tests.support.topic_store import add_page


def begin(database, name, *sites):
    rows = [SiteRow(0, site, 1, None, 0.0) for site in sites]
    return crawls.begin(database, name, "extlinks", rows, {"settings": {}}, 0.0)


def test_pulls_are_in_order_of_completion_and_sites_in_that_of_the_list(database):
    crawl = begin(database, "one", "http://z.test", "http://a.test")
    z, a = (site.id for site in crawl.sites)
    write_rows(database, PullRow(a, 9, 2.0, 5.0), PullRow(z, 4, 0.0, 1.0))
    write_rows(database, PullRow(a, 9, 1.5, 0.5))
    log = pull_log(database, crawl.id)
    assert [(site.id, site.name) for site in log.sites] == [(z, "http://z.test"), (a, "http://a.test")]
    assert log.pulls == [(a, 2.0), (z, 0.0), (a, 1.5)]


def test_site_of_which_nothing_waits_has_no_work(database):
    crawl = begin(database, "one", "http://a.test", "http://b.test", "http://new.test")
    (a, b, _), pages = (site.id for site in crawl.sites), ("/", "/x")
    for number, (of, path) in enumerate(product((a, b), pages), 1):
        add_page(database, number, of, path, state=State.WAITING if (of, path) == (b, "/x") else State.DONE)
    assert [site.has_work for site in pull_log(database, crawl.id).sites] == [False, True, True]

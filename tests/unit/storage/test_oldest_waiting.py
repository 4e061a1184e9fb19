"""The oldest waiting URL is found without a look at all of them."""

import random

import pytest

from crawlers.items import State
from crawlers.storage import crawls
from crawlers.storage.queries import oldest_waiting
from crawlers.storage.schema.tables import NewPage
from crawlers.storage.site_rows import SiteRow
from tests.support.stored_rows import write_rows

pytestmark = pytest.mark.both_stores


def page(number, site_id, state=State.WAITING, level=0):
    """Return a page that was found at the time of its number."""
    fields = (f"http://a.test/{number}", 0, level, 0, float(level), int(state), None, None, None)
    return NewPage(number, site_id, number, *fields, float(number), float(number))


def test_oldest_url_is_that_of_the_crawl_and_still_waits(database):
    sites = [SiteRow(0, f"http://{name}.test", 1, None, 0.0) for name in "abc"]
    one, two = (crawls.begin(database, name, "sitegraph", sites, {}, 0.0) for name in ("one", "two"))
    assert oldest_waiting(database, one.id) is None
    rng = random.Random(1)
    rows = [
        page(number, rng.choice(run.sites).id, rng.choice([State.WAITING, State.DONE]), rng.randrange(4))
        for number, run in ((number, rng.choice([one, two])) for number in range(5, 300))
    ]
    write_rows(database, *rows)
    for run in (one, two):
        ids = {row.id for row in run.sites}
        assert oldest_waiting(database, run.id) == min(
            row.found_at for row in rows if row.site_id in ids and row.state == State.WAITING
        )

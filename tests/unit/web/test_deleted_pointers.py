"""What pointed to the pages of a deleted site says so, or nothing, and never fails."""

import pytest
from sqlalchemy import insert, select, update

from crawlers.items import State
from crawlers.store.schema.tables import crawl, link, page, site
from crawlers.store.sites.seeds import remove_site
from tests.support.stored_rows import execute
from tests.unit.web.test_texts import visited


@pytest.fixture
def numbers(sqlite, crawl_id):
    """The numbers of the pages of a site that was deleted, to some of which pages of the other site redirect."""
    with sqlite.write() as connection:
        connection.execute(update(crawl).values(mission="broad"))
        gone = connection.execute(select(page.c.id).where(page.c.site_id == 1)).scalars().all()
        others = connection.execute(select(page.c.id).where(page.c.site_id == 2).order_by(page.c.id)).scalars().all()
        moved = {"state": int(State.MOVED), "status": 301, "moved_to": gone[0], "found_on": gone[1]}
        connection.execute(update(page).where(page.c.id.in_(others[:3])).values(**moved))
        connection.execute(update(page).where(page.c.id == others[4]).values(found_on=gone[2]))
        connection.execute(update(site).where(site.c.id == 2).values(source_id=1))
        connection.execute(insert(link), {"source_id": others[4], "target_id": others[0], "count": 1})
    remove_site(sqlite, "http://a.test")
    return gone


@pytest.mark.parametrize("mission", ["broad", "news"])
def test_all_pages_of_the_panel_show_what_is_left(sqlite, browser, crawl_id, numbers, mission):
    execute(sqlite, update(crawl).values(mission=mission))
    explained = f"/crawls/{crawl_id}/explain?url={sqlite.scalar(select(page.c.url).order_by(page.c.id))}"
    assert f"page {numbers[0]}" in browser.get(explained).text
    seen = visited(browser, explained)
    assert [one.url for answers in seen.values() for one in answers if one.status_code >= 500] == []
    assert len(seen) > 20

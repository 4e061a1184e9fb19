"""Stored pages of a resumed crawl are selected anew."""

import pytest
from sqlalchemy import select, text

from crawlers.items import State
from crawlers.reasons import Reason
from crawlers.store.reading import crawls
from crawlers.store.reading.run_command import Command
from crawlers.store.schema.tables import site
from crawlers.store.sites import page_selection
from crawlers.store.sites.site_opening import SiteList, SiteRow
from tests.support.stored_rows import new_page, write_rows

pytestmark = pytest.mark.both_stores


class Letters:
    """Selects the URLs that contain one of the *letters*."""

    def __init__(self, letters):
        self.letters = letters
        self.judged = []

    def fingerprint(self, row):
        return self.letters

    def reason_against(self, row, url, level):
        self.judged.append(url[-1])
        return None if level == 0 or url[-1] in self.letters else Reason.EXCLUDED.of(url[-1])


def test_resumed_crawl_selects_its_waiting_pages_anew_if_the_selection_changed(database, monkeypatch):
    monkeypatch.setattr(page_selection, "RESELECTED", 2)

    def run(letters, max_level=None):
        selection = Letters(letters)
        row = SiteRow(0, "http://a.test", 2, max_level, 1.0)
        command = Command("daily", "sitegraph", {}, SiteList([row], selection=selection))
        begun = crawls.begin(database, command, 5.0)
        return selection.judged, begun.has_grown

    def states():
        rows = database.rows(text("SELECT url, state, reason FROM page ORDER BY id"))
        return {url[-1]: (State(state), reason) for url, state, reason in rows}

    assert run("") == ([], False)
    site_id = database.scalar(select(site.c.id))
    found = {"a": (0, 0, None), "b": (1, 0, None), "c": (9, 0, None), "d": (1, 1, None), "e": (1, 5, "extension e")}
    for n, (name, (level, state, reason)) in enumerate(found.items(), 1):
        write_rows(database, new_page(n, site_id, state, url=f"http://a.test/{name}", level=level, reason=reason))
    assert run("") == ([], False)  # nothing changed
    waits, done = (State.WAITING, None), (State.DONE, None)
    assert run("x") == (["a", "b", "c"], False)
    no = {name: (State.REJECTED, f"excluded {name}") for name in "bc"}
    assert states() == {"a": waits, **no, "d": done, "e": (State.REJECTED, "extension e")}
    assert run("bc", max_level=3) == (["a", "b", "c"], True)
    assert (states()["b"], states()["c"]) == (waits, (State.REJECTED, "too_deep 9 3"))
    assert run("bc", max_level=3) == ([], True)  # remembered until the crawl ends

"""A page is found changed while another worker takes up the messages of its previous visit."""

from itertools import count

import pytest
from sqlalchemy import select

from crawlers.store.database import Database
from crawlers.store.schema.message_rows import Message, ReceivedLink, TakenMessage
from crawlers.store.schema.tables import ChangedLinks, PageLinks, link, message
from crawlers.store.writing.bulk_writer import write_changes
from crawlers.store.writing.change_set import ChangeSet
from tests.support.interleaving import interleaved
from tests.support.stored_rows import begin, committed

pytestmark = pytest.mark.both_stores

HOME, ITS, KNOWN, NEW, GONE = range(1, 6)  # pages: the home page has links to the others, or had
THERE = "http://b.test"


class Links:
    """The home page had links to KNOWN and GONE of another site, and has links to KNOWN and NEW now."""

    def __init__(self, database):
        self.database = database
        crawl_id = begin(database, THERE, mission="broad").id
        self.of_site = (crawl_id, THERE, HOME)
        self.write(database, PageLinks(HOME, {ITS: 1}), *(self.message(key, 1) for key in (KNOWN, GONE)))
        self.messages = dict(database.rows(select(message.c.key, message.c.id)))

    def message(self, key, number):
        return Message(*self.of_site, None, key, f"{THERE}/{key}", 1, 0, number, 0.0, 0.0, 0.0, None)

    def write(self, database, *rows):
        committed(write_changes, database, ChangeSet(*rows))

    def take_up(self, database):
        for key, number in self.messages.items():
            self.write(database, ReceivedLink(HOME, key, number), TakenMessage(number))

    def take_up_at_once(self, database):
        received = (ReceivedLink(HOME, key, number) for key, number in self.messages.items())
        self.write(database, *received, *(TakenMessage(number) for number in self.messages.values()))

    def change(self, database):
        """Store a visit that knows the numbers of all targets, and no link but the first one of the previous visit."""
        self.write(database, ChangedLinks(HOME, [ITS]), PageLinks(HOME, {KNOWN: 2, NEW: 1}))

    def stored(self):
        return dict(self.database.rows(select(link.c.target_id, link.c.count)))


NOW = {ITS: 1, KNOWN: 2, NEW: 1}


@pytest.mark.parametrize("order", [("change", "take_up"), ("take_up", "change"), ("take_up_at_once", "change")])
def test_links_are_those_of_the_last_visit_in_whichever_order_they_are_stored(database, order):
    links = Links(database)
    for what in order:
        getattr(links, what)(database)
    assert links.stored() == NOW
    assert database.rows(select(message.c.id)) == []


@pytest.mark.parametrize("order", [("change", "take_up_at_once"), ("take_up_at_once", "change")])
def test_links_are_those_of_the_last_visit_if_both_are_stored_at_once(postgresql_store, order):
    for statement in count(1):
        postgresql_store.clear()
        database = Database(postgresql_store.url)
        links = Links(database)
        ended = interleaved(postgresql_store.url, statement, *(getattr(links, what) for what in order))
        assert links.stored() == NOW
        database.close()
        if not ended.was_stopped:
            break
    assert statement > 3

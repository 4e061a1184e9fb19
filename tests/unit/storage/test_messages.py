"""Messages are read by whoever holds the site of their target."""

import pytest
from sqlalchemy import update

from crawlers.storage import messages
from crawlers.storage.schema.message_tables import Message
from crawlers.storage.schema.tables import site
from tests.support.stored_rows import begin, write_rows

A, B, C = "http://a.test", "http://b.test", "http://c.test"


class Mail:
    """Messages to the sites A, B and C of a crawl, whose only worker holds them until it gives them up."""

    def __init__(self, database, name="one"):
        self.database = database
        begun = begin(database, A, B, C, name=name)
        self.crawl_id, self.worker_id = begun.id, begun.worker_id

    def send(self, to, key):
        details = '{"anchor": "x"}'
        write_rows(
            self.database,
            Message(self.crawl_id, to, 5, 9, key, f"{to}/{key}", 2, 1, 3, 0.5, 0.25, 8.0, details),
        )

    def hold(self, worker_id, *names):
        of_crawl = update(site).where(site.c.crawl_id == self.crawl_id, site.c.site.in_(names))
        with self.database.write() as connection:
            connection.execute(of_crawl.values(worker_id=worker_id))

    def of(self, worker_id, limit=100):
        with self.database.read() as connection:
            return messages.of_worker(connection, self.crawl_id, worker_id, limit)

    def keys(self, worker_id, limit=100):
        return [one.key for one in self.of(worker_id, limit)]


@pytest.fixture
def mail(database):
    return Mail(database)


def test_message_is_read_as_it_was_sent(mail):
    mail.send(B, 4)
    (found,) = mail.of(mail.worker_id)
    assert found == Message(found.crawl_id, B, 5, 9, 4, f"{B}/4", 2, 1, 3, 0.5, 0.25, 8.0, '{"anchor": "x"}', found.id)

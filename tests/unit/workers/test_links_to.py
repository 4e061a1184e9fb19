"""Messages are read by whoever holds the site of their target."""

from crawlers.store.schema.message_rows import Message
from crawlers.workers.exchange import links_to
from tests.support.stored_rows import begin, read, write_rows

B = "http://b.test"


def test_message_is_read_as_it_was_sent(database):
    crawl = begin(database, "http://a.test", B)
    sent = Message(crawl.id, B, 5, 9, 4, f"{B}/4", 2, 1, 3, 0.5, 0.25, 8.0, '{"anchor": "x"}')
    write_rows(database, sent)
    (found,) = read(links_to, database, crawl.id, crawl.worker_id, 100)
    assert found == sent._replace(id=found.id)

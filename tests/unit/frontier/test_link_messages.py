"""A message carries what the discovery of its target needs, and nothing that is empty."""

import pytest

from crawlers.frontier import link_messages
from crawlers.frontier.link_messages import Details
from crawlers.items import LinkPlace, Target

TARGET = Target("http://b.test/x?utm_source=1", "http://b.test/x", 7, "http://b.test")
PLACE = LinkPlace("ul/li", "", "a text")
FULL = Details(None, "POST", (2, 0.5), "a text", PLACE, (3, 4), is_new=True, has_moved=True)


def received(target, details):
    """Return a sent message as the worker reads it that holds the site of the target."""
    sent = link_messages.link_message(1, 5, target, 3, 1, 9.0, details)
    assert (sent.crawl_id, sent.source_id, sent.level, sent.hops, sent.count) == (1, 5, 3, 1, 0)
    assert (sent.value, sent.carried, sent.sent_at, sent.target_id) == (0.0, 0.0, 9.0, None)
    return sent._replace(id=11)


@pytest.mark.parametrize("target", [TARGET, TARGET._replace(url=TARGET.normalized)])
def test_target_and_all_details_are_received_as_they_were_sent(target):
    message = received(target, FULL)
    found = link_messages.details_of(message)
    assert link_messages.target_of(message, found) == target
    lists = {"slot": tuple(found.slot), "contexts": tuple(found.contexts), "place": LinkPlace(*found.place)}
    normalized = TARGET.normalized if target is TARGET else None
    assert found._replace(**lists) == FULL._replace(normalized=normalized)


def test_empty_text_of_a_link_is_not_the_lack_of_one():
    assert link_messages.text_of(Details()) is None
    message = received(TARGET, Details(anchor=""))
    assert link_messages.details_of(message).anchor == ""

"""A message carries what the discovery of its target needs, and nothing that is empty."""

import pytest

from crawlers.items import LinkPlace, Target
from crawlers.missions.news.plan.news_scores import QueueSlot
from crawlers.workers.links import Details, details_of, incoming, link_message, text_of

TARGET = Target("http://b.test/x?utm_source=1", "http://b.test/x", 7, "http://b.test")
PLACE = LinkPlace("ul/li", "", "a text")
FULL = Details(None, "POST", (2, 0.5), "a text", PLACE, (3, 4), is_new=True, has_moved=True)


@pytest.mark.parametrize("target", [TARGET, TARGET._replace(url=TARGET.normalized)])
def test_target_and_what_belongs_to_it_are_received_as_they_were_sent(target):
    message = link_message(1, 5, target, 3, 1, 9.0, FULL)
    assert incoming(message) == (message, target, QueueSlot(2, 0.5), PLACE, "POST")
    assert details_of(message).contexts == [3, 4]
    assert incoming(link_message(1, 5, target, 3, 1, 9.0, Details()))[1:] == (target, None, None, None)


def test_empty_text_of_a_link_is_not_the_lack_of_one():
    assert text_of(Details()) is None
    assert details_of(link_message(1, 5, TARGET, 3, 1, 9.0, Details(anchor=""))).anchor == ""

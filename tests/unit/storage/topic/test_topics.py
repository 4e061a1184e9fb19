"""The stored topic of a crawl."""

import pytest

from crawlers.errors import ConfigError
from crawlers.storage.topic.topics import forget_topic, language_of, topic_change
from tests.support.stored_rows import begin, committed


@pytest.mark.both_stores
def test_crawl_can_be_resumed_with_another_topic_after_its_topic_is_deleted(database):
    def run(topic):
        return begin(database, mission="topic", TOPIC=topic, ORDER="topic").id

    one, two = (f'[{{"{word}": 1.0}}, [], [0.5, 0, 0, 0.5], "en"]' for word in ("one", "two"))
    crawl_id = run(one)
    with pytest.raises(ConfigError, match="topic changed"):
        run(two)
    committed(forget_topic, database, crawl_id)
    assert run(two) == crawl_id
    with pytest.raises(ConfigError, match="topic changed"):
        run(one)


def test_changed_strategy_is_named():
    mixes = ([1.0, 0, 0, 0], [0.5, 0, 0, 0.5], [0.8, 0.2, 0, 0])
    topics = [f'[{{"one": 1.0}}, [], {weights}, "en"]' for weights in mixes]
    assert topic_change(*topics[:2]) == ("the strategy is learnt", "anchor")
    assert topic_change(*topics[1:]) == ("the strategy is 0.8, 0.2, 0, 0", "learnt")


def test_language_is_that_of_the_given_topic(database):
    topic = '[{"кодировк": 1.0}, [], [0.4, 0.3, 0.3], "ru"]'
    assert language_of(database, begin(database, name="russian", TOPIC=topic).id) == "ru"
    assert language_of(database, begin(database, name="other").id) == "auto"

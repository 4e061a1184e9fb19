"""The topic of a crawl is settled once; later runs find it in the store."""

from contextlib import closing

import pytest

from crawlers.errors import ConfigError
from crawlers.missions.topic.topic_file import terms_of
from crawlers.missions.topic.topic_policy import TopicPolicy
from crawlers.missions.topic.vectors import Terms
from crawlers.store.writing.writer import Writer
from tests.support.stored_rows import begin


def settings(word):
    return {"TOPIC": f'[{{"{word}": 1.0}}, [], [1.0, 0, 0, 0], "en"]'}


def test_policy_is_ready_when_its_topic_is_settled_and_in_later_runs_at_once(sqlite):
    crawl_id = begin(sqlite, mission="topic", now=1e9, **settings("one")).id
    with closing(Writer(sqlite)) as writer:
        first = TopicPolicy(sqlite, writer, crawl_id, Terms("en"))
        assert not first.is_ready
        with pytest.raises(ConfigError):
            first.determine_topic({}, [])
        assert not first.is_ready
        first.determine_topic({"unicod": 2.0}, [])
        assert first.is_ready
        writer.flush()
        assert terms_of(sqlite, crawl_id) == {"unicod": 1.0}
        later = TopicPolicy(sqlite, writer, crawl_id, Terms("en"))
        assert later.is_ready
        later.forget()
    assert begin(sqlite, mission="topic", now=1e9, **settings("two")).id == crawl_id, "it may have another topic"

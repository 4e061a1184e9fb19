"""What tests of the core need of topics, if they are installed: see `tests.support.of_missions`."""

from crawlers.bandits.index_rule import Best
from crawlers.missions.topic import TOPIC
from crawlers.missions.topic.topic_scores import by_relevance
from crawlers.missions.topic.topic_tables import RelevanceRow, TopicPageRow
from crawlers.missions.topic.vectors import DEFAULT_STRATEGY, STRATEGIES
from tests.contracts.learning_crawls import Way
from tests.support.stored_rows import write_rows

GIVEN = {TOPIC: STRATEGIES[DEFAULT_STRATEGY]}  # what its orders need
LEARNING = {"topic": Way(lambda: by_relevance({}, STRATEGIES["learnt"]), Best, (0.0, 0.1, 0.9), links_sites=True)}


def add_rows(database, crawl_id, name, of_site):
    """Store similarities and relevances of the pages *of_site*."""
    write_rows(
        database,
        *(TopicPageRow(one.id, number % 7 / 7, "{}") for number, one in enumerate(of_site[:40])),
        *(RelevanceRow(one.id, one.site_id, -1, 0.5, 0.25, 1, -2.0) for one in of_site[:20]),
    )

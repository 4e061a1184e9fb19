"""Topic crawls: the topic and its terms, the relevance of pages, scores by anchor text and distance, TimelyRank.

Begin with `topic_run`; `topic_file` reads topic.yaml, `vectors` compares texts with a topic, `topic_scores` is the
order of the pages that wait.
"""

from crawlers.mission import Mission, OwnOrder

TOPIC = "a topic"
MISSION = Mission(
    "topic",
    "the pages about a topic",
    argument="topic",
    file="topic.yaml",
    place=5,
    gives=frozenset({TOPIC}),
    orders={"topic": OwnOrder(TOPIC, "topic_scores:by_relevance")},
    instead={"learnt": "write strategy: learnt in its file"},
    removed={
        "write it in the file of the topic": "TOPIC_LANGUAGE TOPIC_STRATEGY",
        "leave it out: a topic crawl writes both files": "TOPIC_RESULTS",
    },
    fixed={"TOPIC": "topic_file:topic_change"},
    parts={
        "tables": "topic_tables",
        "lab": "edge.lab_of_topics",
        "local_files": "topic_file:local_files",
        "reports": "topic_report",
        "pictures": "topic_pictures",
        "summary": "topic_report:topic_summary",
        "scores": "relevance_parts:relevance_parts",
    },
)

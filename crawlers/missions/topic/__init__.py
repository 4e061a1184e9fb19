"""Topic crawls: the topic and its terms, the relevance of pages, scores by anchor text and distance, TimelyRank.

Begin with `topic_policy`; `topic_file` reads topic.yaml, `vectors` compares texts with a topic, `topic_scores` is the
order of the pages that wait.
"""

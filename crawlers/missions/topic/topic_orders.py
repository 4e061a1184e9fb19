"""The order of a topic crawl: pages by their relevance to the topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.missions.topic.topic_scores import LinkRelevance, TopicScores
from crawlers.ranking.page_orders import PageOrder

if TYPE_CHECKING:
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.missions.topic.vectors import Weights


def by_relevance(weights: Weights) -> PageOrder:
    """Return the order by relevance to a topic; if the weights say so, with what is learnt of links."""
    scores = TopicScores(weights)
    return PageOrder(scores, LinkRelevance(scores) if weights.delta else None)


def topic(settings: SettingValues, weights: Weights) -> PageOrder:
    """Return the order by relevance to the topic with these *weights*."""
    return by_relevance(weights)

"""The orders of pages as crawls make them, of all missions together."""

from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.inputs.setting_readers import chosen_order, order_names
from crawlers.missions.news import ARTICLES
from crawlers.missions.topic import TOPIC
from crawlers.missions.topic.vectors import DEFAULT_STRATEGY, STRATEGIES
from crawlers.ranking.page_orders import REWARDS

ORDER_NAMES = order_names()


def order(name, weights=STRATEGIES[DEFAULT_STRATEGY], **values):
    """Return the order *name* with settings, and for a topic with *weights*."""
    settings = Settings()
    settings.setmodule(defaults)
    settings.update({**values, "ORDER": name})
    return chosen_order(settings, {ARTICLES: True, REWARDS: True, TOPIC: weights})

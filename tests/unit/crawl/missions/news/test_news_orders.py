"""A news crawl runs with the orders that have queues for articles."""

import pytest

from crawlers.bandits.index_rule import Best
from crawlers.errors import ConfigError
from crawlers.inputs.setting_readers import check_order
from crawlers.missions.news import ARTICLES
from crawlers.spiders.news import NewsSpider
from tests.support.opened_crawl import project_settings
from tests.support.orders import ORDER_NAMES


@pytest.mark.parametrize("order", ORDER_NAMES)
def test_news_names_what_an_order_lacks(order):
    settings = project_settings(ORDER=order, DATABASE_URL="sqlite:///none.sqlite")
    message = "no sources are given" if order == "fit" else f"ORDER={order} has no queues for articles"
    with pytest.raises(ConfigError, match=message.replace("*", r"\*")):
        NewsSpider(settings=settings).crawl_spec(settings)


def test_articles_are_ranked_by_missions_with_queue_slots():
    check_order("fit", "news", {ARTICLES}, Best())

"""The orders of pages as crawls make them, of all missions together."""

from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.inputs.setting_readers import chosen_order, order_names
from crawlers.ranking.page_orders import REWARDS
from tests.support.of_missions import for_core

ORDER_NAMES = order_names()
GIVEN = {REWARDS: True}
for module in for_core():
    GIVEN |= module.GIVEN


def installed(*names):
    """Return those of the orders *names* that the program has: an order of a mission that was removed is missing."""
    return [name for name in names if name in ORDER_NAMES]


def order(name, **values):
    """Return the order *name* with settings."""
    settings = Settings()
    settings.setmodule(defaults)
    settings.update({**values, "ORDER": name})
    return chosen_order(settings, GIVEN)

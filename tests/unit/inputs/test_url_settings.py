"""The steps of the normal form are read from settings, and recorded in one notation."""

import pytest
from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.errors import ConfigError
from crawlers.inputs.setting_readers import normalization, recorded, url_selection
from crawlers.store.reading.crawls import SELECTION_SETTINGS
from crawlers.urls.normalization import Normalization
from tests.support.opened_crawl import project_settings


def of(**values):
    return normalization(project_settings(**values))


def test_every_setting_on_which_keys_depend_is_recorded():
    of_keys = {name for name in dir(defaults) if name.startswith("URL_")}.difference(SELECTION_SETTINGS)
    assert set(recorded(of())) == of_keys


def test_profiles_are_those_of_the_sources():
    assert of() == Normalization()
    assert of(URL_NORMALIZATION="beebot") == Normalization(lower_case=True, drop_final_slash=True)
    rccrawler = Normalization(decode_unreserved=False, drop_valueless_parameters=True)
    assert of(URL_NORMALIZATION="rccrawler") == rccrawler


def test_steps_are_added_and_left_out_in_order():
    assert of(URL_NORMALIZATION="default,-add_trailing_slash") == Normalization(add_trailing_slash=False)
    assert of(URL_NORMALIZATION="default,-lower_case,lower_case") == Normalization(lower_case=True)
    with pytest.raises(ConfigError, match="URL_NORMALIZATION='-lower' is unknown; choose out of: default, rccrawler"):
        of(URL_NORMALIZATION="-lower")


def test_number_in_a_list_of_expressions_is_a_text():
    selection = url_selection(Settings({"URL_EXCLUDE": [2019], "URL_INCLUDE": []}))
    assert selection.reason_against("http://a.example/2019/") == "excluded 2019"

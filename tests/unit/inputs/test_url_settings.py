"""The steps of the normal form are read from settings, and recorded in one notation."""

from __future__ import annotations

from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.algorithms.urls.normalization import Normalization
from crawlers.inputs.url_settings import normalization, normalization_recorded, recorded, url_selection
from crawlers.storage.crawls import SELECTION_SETTINGS


def of(**values: object) -> Normalization:
    settings = Settings()
    settings.setmodule(defaults)
    settings.setdict(values, priority="cmdline")
    return normalization(settings)


def test_defaults_of_the_settings_are_those_of_the_normal_form() -> None:
    assert of() == Normalization()


def test_every_setting_on_which_keys_depend_is_recorded() -> None:
    of_keys = {name for name in dir(defaults) if name.startswith("URL_")}.difference(SELECTION_SETTINGS)
    assert set(recorded(of())) == of_keys


def test_notations_of_one_value_are_recorded_alike() -> None:
    one = of(URL_LOWER_CASE="1", URL_DROP_EMPTY_QUERY="False", URL_IGNORED_PARAMETERS="utm_*,ref", URL_IP_NAMES="{}")
    other = of(URL_LOWER_CASE=True, URL_DROP_EMPTY_QUERY=0, URL_IGNORED_PARAMETERS=["utm_*", "ref"])
    assert recorded(one) == recorded(other) != recorded(of())


def test_recorded_steps_are_read_again_whatever_the_settings_are_today() -> None:
    options = of(
        URL_LOWER_CASE=True, URL_MERGE_SLASHES=False, URL_IGNORED_PARAMETERS="a*,b=hex", URL_IP_NAMES='{"[::1]": "b"}'
    )
    assert normalization_recorded(recorded(options), of()) == options
    assert normalization_recorded(recorded(of()), options) == of()
    assert normalization_recorded({"URL_LOWER_CASE": None, "ORDER": "bfs"}, options) == options


def test_number_in_a_list_of_expressions_is_a_text() -> None:
    selection = url_selection(Settings({"URL_EXCLUDE": [2019], "URL_INCLUDE": []}))
    assert selection.reason_against("http://a.example/2019/") == "URL_EXCLUDE has 2019"

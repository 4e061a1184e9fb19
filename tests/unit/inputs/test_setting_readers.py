"""The steps of the normal form are read from settings, and recorded in one notation.

Settings select a site rule; errors list the valid names.

Which sites are rendered, and by which program.
"""

import pytest
from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.bandits.arms import Patience
from crawlers.bandits.site_rules import RULES, RuleOptions
from crawlers.errors import ConfigError
from crawlers.inputs import setting_readers
from crawlers.inputs.setting_readers import (
    PROGRAMS,
    RenderedSites,
    browser_path,
    chosen_patience,
    chosen_rule,
    normalization,
    recorded,
    rule_name,
    rule_options,
    url_selection,
)
from crawlers.sites.hosts_file import parse_hosts
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


@pytest.mark.parametrize(("profile", "rule"), [("universities", "ucb1"), ("institutes", "gittins"), ("", "roundrobin")])
def test_profiles_select_the_published_rules(profile, rule):
    assert rule_name(project_settings(PROFILE=profile)) == rule
    assert type(chosen_rule(project_settings(PROFILE=profile))) is type(RULES[rule](RuleOptions()))


def test_settings_given_as_numbers_or_texts_become_options():
    settings = project_settings(
        PAGE_BUDGET="7",
        ROUNDROBIN_QUANTUM_PAGES="4",
        ROUNDROBIN_QUANTUM_SECONDS="1.5",
        GITTINS_BATCH_PAGES=6,
        UCB1_INITIAL_PAGES="2",
    )
    assert rule_options(settings) == RuleOptions(7, 4, 1.5, 6, 2)
    assert rule_options(project_settings()) == RuleOptions(), "the defaults of both are the same"


def test_patience_is_given_by_two_settings():
    settings = project_settings(RULE_WAIT_SECONDS=7, TIMEOUT_SECONDS="60")
    assert chosen_patience(settings) == Patience(0.9, 7.0, 60.0)


LINES = "a.test;render=playwright\nb.test;2;;render=none\nc.test"
SITES = ["http://a.test", "http://b.test", "http://c.test", "http://found.test"]


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Empties PATH; returns a function that installs a program."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(setting_readers, "find_spec", lambda name: name)

    def install(name):
        path = tmp_path / name
        path.touch()
        path.chmod(0o755)
        return str(path)

    return install


@pytest.mark.parametrize(
    ("value", "rendered"),
    [
        ("", [True, False, False, False]),
        ("none", [True, False, False, False]),
        ("playwright", [True, False, True, True]),
    ],
)
def test_field_of_a_site_wins_over_the_setting(programs, value, rendered):
    programs("chromium")
    sites = RenderedSites(Settings({"RENDER": value}), parse_hosts(LINES, "hosts.txt"))
    assert [site in sites for site in SITES] == rendered
    assert sites.are_any


def test_browser_is_not_needed_if_nothing_is_rendered(programs):
    sites = RenderedSites(Settings({"RENDER_BROWSER": "missing"}), parse_hosts("a.test;render=none", "hosts.txt"))
    assert (sites.are_any, sites.browser) == (False, "")


def test_unknown_way_to_render_is_refused():
    with pytest.raises(ConfigError, match="RENDER='selenium' is unknown; choose one of: none, playwright"):
        RenderedSites(Settings({"RENDER": "selenium"}), [])
    with pytest.raises(ConfigError, match=r"hosts.txt:1: .*expected one of: playwright, none"):
        parse_hosts("a.test;render=selenium", "hosts.txt")


@pytest.mark.parametrize("name", PROGRAMS)
def test_browser_is_found_on_path(programs, name):
    path = programs(name)
    assert RenderedSites(Settings({"RENDER": "playwright"}), []).browser == path


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("", "needs Chromium, which is not on PATH; install it"),
        ("mine", "RENDER_BROWSER=mine: there is no such program"),
    ],
)
def test_missing_browser_is_reported_with_a_remedy(programs, named, message):
    with pytest.raises(ConfigError, match=message):
        browser_path(Settings({"RENDER_BROWSER": named}))


def test_missing_packages_are_reported_with_a_remedy(programs, monkeypatch):
    monkeypatch.setattr(setting_readers, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install '/path/to/[^']+\[render\]'.*pipx install --force '/path/to"):
        browser_path(Settings())

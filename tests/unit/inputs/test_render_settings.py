"""Which sites are rendered, and by which program."""

import pytest
from scrapy.settings import Settings

from crawlers.errors import ConfigError
from crawlers.inputs import setting_readers
from crawlers.inputs.setting_readers import PROGRAMS, RenderedSites, browser_path
from crawlers.sites.hosts_file import parse_hosts

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

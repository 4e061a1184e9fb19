"""Reads which sites are rendered by a browser, and where the browser is."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.inputs.rule_settings import registry_entry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.inputs.setting_values import SettingValues
    from crawlers.items import SiteLimits

KINDS = {"": False, "none": False, "playwright": True}  # values of RENDER; of the field `render` all but the first
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def are_any_rendered(settings: SettingValues, sites: Iterable[SiteLimits]) -> bool:
    """Return whether RENDER, or the field `render` of any of the *sites*, names a browser."""
    return any(map(KINDS.get, [settings.get("RENDER"), *(one.options.get("render", "") for one in sites)]))


class RenderedSites:
    """The sites whose pages are rendered: by RENDER, and by the field `render` of *sites*.

    Raises `ConfigError` if there are any, and the extra or the browser is missing.
    """

    def __init__(self, settings: SettingValues, sites: Iterable[SiteLimits]) -> None:
        self._default = registry_entry(KINDS, "RENDER", settings.get("RENDER"))
        self._sites = {one.site: KINDS[one.options["render"]] for one in sites if "render" in one.options}
        self.browser = browser_path(settings) if self.are_any else ""  # path of the program

    @property
    def are_any(self) -> bool:
        return self._default or any(self._sites.values())

    def __contains__(self, site: str) -> bool:
        return self._sites.get(site, self._default)


def browser_path(settings: SettingValues) -> str:
    """Return the path of RENDER_BROWSER, or of the first installed one of PROGRAMS; raises `ConfigError`."""
    if find_spec("playwright") is None:
        raise ConfigError(
            "RENDER=playwright needs further packages; install the project again, with them, from the folder of its "
            "source: pip install '/path/to/crawlers-project[render]', or, if pipx installed it: pipx install --force "
            "'/path/to/crawlers-project[render]'"
        )
    named = settings.get("RENDER_BROWSER")
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None and named:
        raise ConfigError(f"RENDER_BROWSER={named}: there is no such program; give the path of Chromium")
    if found is None:
        raise ConfigError(
            "RENDER=playwright needs Chromium, which is not on PATH; install it, or give its path with RENDER_BROWSER"
        )
    return str(Path(found).absolute())

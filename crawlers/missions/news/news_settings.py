"""Reads the options of a news crawl from settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlers.inputs.setting_readers import normalization, registry_entry
from crawlers.missions.news.plan.poll_plan import PollLimits
from crawlers.missions.news.urls.url_classifier import LEARNT_RULES, MANUAL_RULES, NO_RULES

if TYPE_CHECKING:
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.urls.normalization import Normalization

DEADLINE_S = 43_200.0  # between the publication of an article and its storage


@dataclass(frozen=True, slots=True)
class NewsOptions:
    """The options of a news crawl; docs/reference/settings.md explains each by the name of its setting."""

    rules: str  # NEWS_RULES: learnt, manual or none
    fit_factor: float
    else_factor: float  # FIT_ELSE_FACTOR
    poll_limits: PollLimits
    polls_per_s: float
    iteration_pages: int
    recheck_s: float  # 0 = articles are not fetched again
    normalization: Normalization


def news_options(settings: SettingValues) -> NewsOptions:
    """Return the options in *settings*."""
    return NewsOptions(
        rules=registry_entry(
            {name: name for name in (LEARNT_RULES, MANUAL_RULES, NO_RULES)}, "NEWS_RULES", settings.get("NEWS_RULES")
        ),
        fit_factor=settings.getfloat("FIT_FACTOR"),
        else_factor=settings.getfloat("FIT_ELSE_FACTOR"),
        poll_limits=PollLimits(
            settings.getfloat("FEED_MIN_SECONDS"), settings.getfloat("FEED_MAX_SECONDS"), DEADLINE_S
        ),
        polls_per_s=settings.getfloat("FEED_POLLS_PER_SECOND"),
        iteration_pages=settings.getint("NEWS_ITERATION_PAGES"),
        recheck_s=settings.getfloat("NEWS_RECHECK_HOURS") * 3600.0,
        normalization=normalization(settings),
    )

"""Reads the options of a news crawl from settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlers.algorithms.news.poll_plan import PollLimits
from crawlers.inputs.url_settings import normalization

if TYPE_CHECKING:
    from crawlers.algorithms.urls.normalization import Normalization
    from crawlers.inputs.setting_values import SettingValues


@dataclass(frozen=True, slots=True)
class NewsOptions:
    """The options of a news crawl; docs/reference/settings.md explains each by the name of its setting."""

    uses_rules: bool  # NEWS_RULES_ENABLED
    learns_rules: bool  # NEWS_LEARN_RULES
    uses_prior: bool  # NEWS_PRIOR_ENABLED
    explore_share: float  # EXPLORE_SHARE
    fit_factor: float
    else_factor: float  # FIT_ELSE_FACTOR
    poll_limits: PollLimits
    polls_per_s: float
    most_pages: int  # NEWS_HUBS
    iteration_pages: int
    iteration_s: float
    recheck_s: float  # 0 = articles are not fetched again
    normalization: Normalization


def news_options(settings: SettingValues) -> NewsOptions:
    """Return the options in *settings*."""
    return NewsOptions(
        uses_rules=settings.getbool("NEWS_RULES_ENABLED"),
        learns_rules=settings.getbool("NEWS_LEARN_RULES"),
        uses_prior=settings.getbool("NEWS_PRIOR_ENABLED"),
        explore_share=settings.getfloat("EXPLORE_SHARE"),
        fit_factor=settings.getfloat("FIT_FACTOR"),
        else_factor=settings.getfloat("FIT_ELSE_FACTOR"),
        poll_limits=PollLimits(
            settings.getfloat("FEED_MIN_SECONDS"),
            settings.getfloat("FEED_MAX_SECONDS"),
            settings.getfloat("FEED_DEADLINE_SECONDS"),
        ),
        polls_per_s=settings.getfloat("FEED_POLLS_PER_SECOND"),
        most_pages=settings.getint("NEWS_HUBS"),
        iteration_pages=settings.getint("NEWS_ITERATION_PAGES"),
        iteration_s=settings.getfloat("NEWS_ITERATION_MINUTES") * 60.0,
        recheck_s=settings.getfloat("NEWS_RECHECK_HOURS") * 3600.0,
        normalization=normalization(settings),
    )

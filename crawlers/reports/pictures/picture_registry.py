"""The pictures, by name. Adding one is one class and one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.reports.pictures.news_pictures import Days, Iterations, UsefulShare
from crawlers.reports.pictures.page_pictures import HttpStates, Levels
from crawlers.reports.pictures.pull_pictures import Indices, LinksFound, Pulls
from crawlers.reports.pictures.topic_pictures import Importance, Similarity, TimelyRank

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.reports.pictures.picture import Picture

_ALL = (
    LinksFound(),
    Pulls(),
    Indices(),
    Iterations(),
    UsefulShare(),
    Days(),
    Similarity(),
    TimelyRank(),
    Importance(),
    Levels(),
    HttpStates(),
)
PICTURES: Mapping[str, Picture] = {picture.name: picture for picture in _ALL}

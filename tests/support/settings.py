"""The settings of the project for commands in tests, which know the missions of these as well."""

from crawlers.mission import add
from crawlers.settings import *  # noqa: F403
from tests.support import plain_mission

SPIDER_MODULES = ["crawlers.spiders", plain_mission.__name__]
for mission in plain_mission.MISSIONS:
    add(mission)

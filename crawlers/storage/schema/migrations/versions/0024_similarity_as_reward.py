"""Pages of topic crawls have rewards, and their scores a fourth weight. Frozen, like every migration."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"

_crawl = sa.table("crawl", sa.column("id"), sa.column("mission"), sa.column("state"))
_setting = sa.table("crawler_setting", sa.column("crawl_id"), sa.column("name"), sa.column("value"))
_REWARDS = """
    UPDATE pull SET reward = (SELECT similarity FROM topic_page WHERE topic_page.page_id = pull.page_id)
    WHERE page_id IN (SELECT page_id FROM topic_page)"""


def upgrade() -> None:
    """Let topic crawls count similarities, and unfinished ones go on, which learn nothing of links."""
    connection = op.get_bind()
    connection.execute(sa.text(_REWARDS))
    of_topics = _setting.c.crawl_id.in_(sa.select(_crawl.c.id).where(_crawl.c.mission == "topic"))
    connection.execute(sa.update(_setting).where(of_topics, _setting.c.name == "REWARD").values(value="similarity"))
    topics = sa.select(_setting.c.crawl_id, _setting.c.value).where(of_topics, _setting.c.name == "TOPIC")
    for crawl_id, value in connection.execute(topics).all():
        keywords, examples, weights, language = json.loads(value)
        text = json.dumps([keywords, examples, [*weights, 0.0], language], sort_keys=True)
        is_its = (_setting.c.crawl_id == crawl_id) & (_setting.c.name == "TOPIC")
        connection.execute(sa.update(_setting).where(is_its).values(value=text))

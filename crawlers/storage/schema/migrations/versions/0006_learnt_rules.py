"""Learnt rules that RE2 can't read go, and are learnt again from stored labels. Frozen, like every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    rule = sa.table("url_rule", sa.column("regex"), sa.column("origin"), sa.column("is_pinned", sa.Boolean()))
    has_lookahead = rule.c.regex.contains("(?!", autoescape=True) | rule.c.regex.contains("(?=", autoescape=True)
    op.execute(sa.delete(rule).where(rule.c.origin == "learnt", sa.not_(rule.c.is_pinned), has_lookahead))

"""Alembic's entry point: runs the migrations on the connection that `upgrade` passes."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()

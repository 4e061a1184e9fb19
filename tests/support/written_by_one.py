"""Crawls whose statements are recorded, each with the thread that executed it."""

import json
import shutil

from tests.support.executed_statements import FOLDER, WRITER, recorded
from tests.support.sites.server import links

SETTINGS = {
    "SITE_DELAY_SECONDS": 0,
    "STORE_BATCH_SECONDS": 0.01,
    "EXTENSIONS": json.dumps({"tests.support.executed_statements.ExecutedStatements": 0}),
}
WRITES = ("BEGIN IMMEDIATE", "INSERT", "UPDATE", "DELETE")


def ring(number, *other):
    """That many pages, each with links to the next one and to others."""
    return {("/" if n == 0 else f"/{n}"): links(f"/{n + 1}", *other) for n in range(number)}


def statements(project):
    """Threads and statements of the last run; all that write are the writer's."""
    executed = recorded(project.folder)
    shutil.rmtree(project.folder / FOLDER)
    assert {thread for thread, statement in executed if statement.startswith(WRITES)} == {WRITER}
    return executed


def wrote(executed, start):
    return any(statement.startswith(start) for _, statement in executed)

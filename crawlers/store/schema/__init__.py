"""The tables of the store, of which a new one is created.

To add a table, write a row type and one call of `rows.table` in a module of tables; `python -m docs.references` writes
its documentation. Whoever changes a table, or the meaning of what it holds, raises `tables.SCHEMA_VERSION`.
`ChangeSet.add` and the writer accept its rows without further changes.
Other kinds of writes, for example an UPDATE of some columns, are row types declared with `rows.writes`.
"""

from crawlers.mission import installed, parts_of_all
from crawlers.store.schema.tables import metadata

__all__ = ["PROGRAM_TABLES", "metadata"]

for _mission in installed():
    _mission.all_parts("tables")
PROGRAM_TABLES = frozenset(metadata.tables)  # by name; those of missions of users are added when they crawl
parts_of_all("tables")

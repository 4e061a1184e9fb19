"""The tables of the store: those of the core, and those that missions add.

To add a table, write a row type and one call of `rows.table` in a module of tables; `python -m docs.references` writes
its documentation. Whoever changes a table, or the meaning of what it holds, raises `tables.SCHEMA_VERSION`.
`ChangeSet.add` and the writer accept its rows without further changes.
Other kinds of writes, for example an UPDATE of some columns, are row types declared with `rows.writes`.

The tables of a mission are declared when its module of tables is imported, see `mission.Part`.
"""

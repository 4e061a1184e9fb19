"""The tables of the store, and the migrations that create them.

To add a table, write a row type and one call of `rows.table` in a module of tables, a migration, and a section in
docs/reference/tables.md. `ChangeSet.add` and the writer accept its rows without further changes.
Other kinds of writes, for example an UPDATE of some columns, are row types declared with `rows.writes`.
"""

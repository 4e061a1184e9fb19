"""The tables of the store, and the migrations that make them.

To add a table: a row type and one call of `rows.table` in one of the modules of tables, a migration, and its section in
docs/reference/tables.md. `ChangeSet.add` takes its rows and the writer writes them; neither needs to know of it.
What else is written of a row, an UPDATE of some columns for example, is a row type with `rows.writes`.
"""

"""The store: SQLite or PostgreSQL by DATABASE_URL, written by one thread in batches.

`schema` describes the tables, `change_set` what one event writes, `writer` commits it; `database` opens the file or
server. The other modules are queries by subject. Readers open the database read-only.
"""

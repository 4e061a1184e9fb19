"""Several processes at work on one crawl: membership, claims of sites, links sent between workers, grants of a budget.

Begin with `membership`. Its tables are in `message_tables`; `workers` has the statements about who holds what.
"""

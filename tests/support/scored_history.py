"""The scores in the history of the pages of a small stored crawl."""

import numpy as np
from sqlalchemy import delete

from crawlers.items import LinkPlace
from crawlers.ranking.link_features import link_features
from crawlers.ranking.link_values import text_of
from crawlers.reports.histories.history import fact_lines
from crawlers.reports.histories.score_history import score_facts
from crawlers.store.schema.tables import importance, order_totals
from tests.support.scored_store import A, Linked
from tests.support.stored_rows import execute, read, write_rows

HOME, OTHER, NEW = f"{A}/", f"{A}/other", f"{A}/new"
PAGES = [Linked(HOME, (OTHER,)), Linked(OTHER, (HOME, NEW)), Linked(NEW), Linked(f"{A}/moved", moved_to=HOME)]
ROW = text_of(np.array(link_features(A, NEW, 2, 1, LinkPlace("ul/li", "ul/li", "A story")), np.uint32))
ALIKE = text_of(np.array(link_features(A, OTHER, 1, 1, LinkPlace("ul/li", "ul/li", "Another")), np.uint32))


def history(database, crawl, url):
    return fact_lines(read(score_facts, database, crawl.id, crawl.pages[url]))


def replace_scores(database, *rows):
    for table in (importance, order_totals):
        execute(database, delete(table))
    write_rows(database, *rows)

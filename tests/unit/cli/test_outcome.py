"""When a crawl that has ended reached too little."""

from contextlib import nullcontext

import pytest

from crawlers.cli.project_command import check_reach
from crawlers.errors import UnreachedError
from crawlers.store.reading import crawls
from crawlers.store.reading.crawl_results import STOPPED_BY_USER
from tests.support.stored_rows import begin


@pytest.mark.parametrize("reason", [*STOPPED_BY_USER, "finished", "timeout"])
def test_crawl_without_a_page_is_a_failure_unless_its_user_stopped_it(sqlite, reason):
    begun = begin(sqlite, mission="sitegraph")
    crawls.end(sqlite, begun.id, finished=False, reason=reason, now=2.0, worker_id=begun.worker_id)
    is_fine = reason in STOPPED_BY_USER
    with nullcontext() if is_fine else pytest.raises(UnreachedError, match="no page could be read"):
        check_reach(sqlite, begun.id, needs_all=False)

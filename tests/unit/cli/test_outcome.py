"""When a crawl that has ended reached too little."""

from contextlib import closing

import pytest

from crawlers.cli.project_command import check_reach
from crawlers.errors import UnreachedError
from crawlers.storage import crawls
from crawlers.storage.crawl_results import STOPPED_BY_USER
from crawlers.storage.database import Database


@pytest.mark.parametrize("reason", [*STOPPED_BY_USER, "finished", "timeout"])
def test_crawl_without_a_page_is_a_failure_unless_its_user_stopped_it(tmp_path, reason):
    with closing(Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}")) as database:
        begun = crawls.begin(database, "c", "sitegraph", [], {}, 1.0)
        crawls.end(database, begun.id, finished=False, reason=reason, now=2.0, worker_id=begun.worker_id)
        if reason in STOPPED_BY_USER:
            check_reach(database, begun.id, needs_all=False)
        else:
            with pytest.raises(UnreachedError, match="no page could be read"):
                check_reach(database, begun.id, needs_all=False)

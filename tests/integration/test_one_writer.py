"""During a crawl every row is written by the writer thread; tests of missions show what each adds."""

from tests.support.executed_statements import WRITER
from tests.support.running import Project
from tests.support.sites.server import Web, pages
from tests.support.written_by_one import SETTINGS, ring, statements


def test_levels_are_settled_by_the_writer(tmp_path):
    with Web(a=pages(ring(6))) as web:
        project = Project(tmp_path, **SETTINGS, ORDER="opic", MAX_LEVEL=3, GRAPH_FORMATS="")
        assert project.crawl(web["a"].origin).status == 0
    executed = statements(project)
    assert {thread for thread, statement in executed if statement.startswith("SELECT link.source_id")} == {WRITER}
    assert project.outcomes == [("finished", "finished")]

"""What answers at the address of scrapyd, when that is not scrapyd."""

import json

import pytest

from crawlers.errors import ConfigError
from crawlers.inputs.program import CrawlCommand
from crawlers.web.scrapyd_starter import ScrapydStarter
from crawlers.web.starting import RECORD, Job, JobRecord
from tests.support.sites.server import Web

COMMAND = CrawlCommand("extlinks", {}, {})


@pytest.fixture
def starter(sqlite, tmp_path):
    """A starter whose scrapyd answers everything with the bytes in `answer`."""

    async def respond(exchange):
        await exchange.page(starter.answer)

    with Web(scrapyd=respond) as web:
        starter = ScrapydStarter(sqlite, web["scrapyd"].origin, tmp_path, timeout_s=0.0)
        yield starter


GARBAGE = [b"", b"<html>", b"\xff", b"[" * 100_000, b"null", b"[]"]
GARBAGE += [b'{"status": "ok"}', b'{"status": "ok", "jobid": 7}']


@pytest.mark.parametrize("answer", GARBAGE, ids=lambda answer: answer[:20].decode("latin-1"))
def test_garbage_is_one_sentence(starter, answer):
    starter.answer = answer
    with pytest.raises(ConfigError, match=r"scrapyd at .* (refuses the job: its response is not JSON|names no job)"):
        starter.start("spring", COMMAND, {})


OTHERS = [[None, 7, {}], [{"id": 7, "end_time": None}], [{"id": "other", "end_time": "2026-11-23 05:00:00"}]]


@pytest.mark.parametrize("finished", [None, 7, {}, *OTHERS], ids=str)
def test_list_without_the_job_tells_no_end(starter, tmp_path, finished):
    JobRecord(tmp_path / RECORD).add(Job("spring", "extlinks/a"))
    starter.answer = json.dumps({"status": "ok", "finished": finished}).encode()
    assert starter.endings() == []


def test_job_that_was_closed_and_complains_of_nothing_has_succeeded(starter, tmp_path):
    record = JobRecord(tmp_path / RECORD)
    record.add(Job("spring", "extlinks/a"))
    said = "2026-11-23 05:00:01 [scrapy.core.engine] INFO: Spider closed (finished)"
    listed = {"status": "ok", "finished": [{"id": "a", "end_time": "2026-11-23 05:00:00"}], "message": said}
    starter.answer = json.dumps(listed).encode()
    [ending] = starter.endings()
    assert (ending.status, ending.why) == (0, "")
    starter.answer = b""
    assert starter.endings() == [ending]
    assert record.jobs()[0].status == 0

"""What the panel has started is known to the next one."""

from crawlers.web.starting import MAX_BYTES, Job, JobRecord


def test_what_becomes_of_a_job_is_added_to_what_is_known(tmp_path):
    record = JobRecord(tmp_path / "jobs.jsonl")
    for log in ("1.log", "2.log"):
        record.add(Job("spring", log, since=3.0))
    record.change("1.log", crawl_id=7)
    record.change("1.log", ended_at=5.0, status=2, why="why")
    record.change("3.log", why="nobody has begun it")
    assert record.jobs() == [Job("spring", "1.log", 5.0, 2, "why", 3.0, 7), Job("spring", "2.log", since=3.0)]


def test_damaged_lines_are_left_out(tmp_path):
    path = tmp_path / "jobs.jsonl"
    damaged = b"x" * MAX_BYTES + b'\n\xff\n{"crawl": 1\n{"other": 1}\n[]\n'
    path.write_bytes(damaged + b'\n{"crawl": "a", "job": "1.log"}\n{"c')
    assert JobRecord(path).latest() == [Job("a", "1.log")]


def test_job_behind_a_line_that_was_cut_is_read_back(tmp_path):
    path = tmp_path / "jobs.jsonl"
    record = JobRecord(path)
    for crawl in "abc":
        record.add(Job(crawl, f"{crawl}.log"))
        path.write_bytes(path.read_bytes() + b'{"crawl": "cut')
    assert [job.crawl for job in record.jobs()] == ["c", "b", "a"]

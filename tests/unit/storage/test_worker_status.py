"""The status of a worker as text."""

from crawlers.storage.worker_status import Wait, WorkerStatus, read_status


def test_zeros_are_left_out():
    assert read_status(WorkerStatus(0.0, {Wait.READY: 0}).to_json()) == WorkerStatus()

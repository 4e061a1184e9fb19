"""The status of a worker as text: what another version writes is no error."""

from __future__ import annotations

import pytest

from crawlers.storage.worker_status import Wait, WorkerStatus, read_status


def test_zeros_are_left_out():
    assert read_status(WorkerStatus(0.0, {Wait.READY: 0}).to_json()) == WorkerStatus()


@pytest.mark.parametrize(
    "text",
    [
        *(None, "", "{", "3", "null"),
        *('{"pages_per_s": "fast", "waits": [1]}', '{"waits": {"ready": "x", "new": 1}}'),
        *('{"pages_per_s": 1e999}', '{"pages_per_s": NaN}'),
    ],
)
def test_what_cannot_be_read_is_left_out(text):
    assert read_status(text) == WorkerStatus()

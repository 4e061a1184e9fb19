"""What a worker is told by the command that started it, or by itself."""

from pathlib import Path

from crawlers.inputs.worker_place import CRAWL, WorkerPlace, crawl_to_join, worker_place


def test_environment_is_that_of_the_process(monkeypatch):
    place = WorkerPlace(1, 2, Path("summary.txt"))
    for name, value in {**place.environment(), CRAWL: "3"}.items():
        monkeypatch.setenv(name, value)
    assert worker_place() == place
    assert crawl_to_join() == 3

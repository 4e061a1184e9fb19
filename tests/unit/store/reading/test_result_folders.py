"""Crawls of different names have different result folders."""

from pathlib import Path

import pytest
from sqlalchemy import Connection, insert

from crawlers.store.reading.crawl_settings import claimed_folder, recorded_folder, replaced_crawl, successor
from crawlers.store.schema.tables import crawl
from tests.support.stored_rows import committed, read

WANTED = Path("result")


@pytest.fixture
def begin(database):
    """Store a crawl, and return its number."""

    def begin(name):
        row = {"name": name, "mission": "sitegraph", "state": "running", "started_at": 1e9, "manifest": "{}"}
        return committed(Connection.execute, database, insert(crawl).values(row)).inserted_primary_key[0]

    return begin


def test_first_crawl_and_its_successors_have_the_wanted_folder(database, begin):
    first, second = begin("spring"), begin("spring")
    assert claimed_folder(database, first, WANTED) == WANTED
    assert claimed_folder(database, second, WANTED) == WANTED
    folder = read(recorded_folder, database, first)
    assert folder == WANTED.absolute()
    assert read(successor, database, first, folder) == second
    assert read(successor, database, second, folder) is None


def test_crawl_replaces_the_files_of_the_latest_one_of_its_name(database, begin, tmp_path):
    folder = tmp_path / "result"

    def replaced(crawl_id):
        return read(replaced_crawl, database, crawl_id, folder)

    first = begin("spring")
    claimed_folder(database, first, folder)
    second, third, other = begin("spring"), begin("spring"), begin("other")
    assert replaced(second) is None, "there is no folder"
    folder.mkdir()
    assert replaced(second) is None, "it is empty"
    (folder / "a.gexf").touch()
    assert (replaced(first), replaced(second), replaced(other)) == (None, first, None)
    claimed_folder(database, second, folder)
    assert replaced(third) == second


@pytest.mark.both_stores
def test_crawl_of_another_name_writes_below_it_whichever_comes_first(database, begin):
    spring, autumn = begin("spring"), begin("autumn")
    assert claimed_folder(database, autumn, WANTED) == WANTED
    assert claimed_folder(database, spring, WANTED) == WANTED / "spring"
    for _ in range(2):  # in the next run as well
        assert claimed_folder(database, autumn, WANTED) == WANTED
        assert claimed_folder(database, spring, WANTED) == WANTED / "spring"
    assert claimed_folder(database, spring, Path("other")) == Path("other")


def test_names_that_look_alike_as_folders_are_kept_apart(database, begin):
    for name in ("other", "a/b"):
        claimed_folder(database, begin(name), WANTED)
    third = begin("a_b")
    assert claimed_folder(database, third, WANTED) == WANTED / f"a_b-{third}"


def test_own_folder_is_never_that_of_a_crawl_whose_name_ends_with_its_number(database, begin):
    claimed_folder(database, begin("other"), WANTED)
    spring = begin("spring")
    name = f"spring-{spring}"
    assert claimed_folder(database, begin(name), WANTED) == WANTED / name
    for _ in range(2):  # in the next run as well
        assert claimed_folder(database, spring, WANTED, is_own=True) == WANTED / f"{name}.2"

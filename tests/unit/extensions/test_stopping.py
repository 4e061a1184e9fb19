"""A crawl does not begin beside the stop file of an earlier run."""

import asyncio

import pytest

from crawlers.errors import ConfigError
from crawlers.extensions.stopping import Stopping
from tests.support.opened_crawl import crawler_of


def opened(stop_file):
    """Return the extension of a crawl, as it is made when an event loop runs."""

    async def made():
        return Stopping.from_crawler(crawler_of("sqlite://", STOP_FILE=stop_file))

    return asyncio.run(made())


def test_stop_file_that_exists_is_refused_in_a_sentence_that_says_what_to_do(tmp_path):
    file = tmp_path / "halt.txt"
    opened(str(file))
    file.touch()
    with pytest.raises(ConfigError) as raised:
        opened(str(file))
    assert str(raised.value) == (
        f"STOP_FILE={file} exists, so the crawl would stop at once; if it is the stop file of an earlier run, delete "
        f"{file} and start again, otherwise name another file"
    )

"""A server of the tests hides no failure of its handlers."""

import socket

import pytest

from tests.support.sites.server import Web


async def fail(_):
    raise ValueError("an unexpected path")


def test_failure_of_a_handler_fails_the_test_at_its_end():
    web = Web(site=fail)
    web.__enter__()
    with socket.create_connection(("127.0.0.1", int(web["site"].origin.rpartition(":")[2]))) as client:
        client.send(b"GET / HTTP/1.1\r\n\r\n")
        client.recv(1)
    with pytest.raises(BaseExceptionGroup) as failed:
        web.__exit__()
    assert str(failed.value.exceptions) == "(ValueError('an unexpected path'),)"

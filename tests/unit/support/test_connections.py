"""A server of the tests leaves no connection open, and hides no failure of its handlers."""

import asyncio
import gc
import socket
import sys
import warnings

import pytest

from tests.support.sites.server import Web


async def hang(_):
    await asyncio.Event().wait()


async def send_much(exchange):
    await exchange.body(bytes(10_000_000))


@pytest.mark.parametrize(
    ("site", "is_served"),
    [(hang, False), (send_much, False), (send_much, True)],  # False: the connections are being accepted at the end
)
def test_all_connections_are_closed_at_the_end(site, is_served, monkeypatch):
    left_open = []
    monkeypatch.setattr(sys, "unraisablehook", left_open.append)
    clients = [socket.socket() for _ in range(8)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        with Web(site=site) as web:
            port = int(web["site"].origin.rpartition(":")[2])
            with web.held():
                for client in clients:
                    client.connect(("127.0.0.1", port))
                    client.send(b"GET / HTTP/1.1\r\n\r\n")
            if is_served:
                clients[0].recv(1)
        gc.collect()
    for client in clients:
        client.close()
    assert not left_open


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

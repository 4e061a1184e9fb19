"""Serves a press on loopback: each site has its own address 127.77.x.y, and all share one port.

    python -m examples.press.server OPTIONS      OPTIONS: `Options` as JSON

Prints one line of JSON when it listens, and stops at the end of its standard input.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from aiohttp import web

from examples.press.press import Press

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]
END_S = 10
_TRIES = 20  # ports tried until one is free on all addresses


@dataclass(frozen=True, slots=True)
class Options:
    """A press and its clock, which was *began* at the real time *real_began*, and runs *speed* times as fast."""

    seed: int
    sites: int
    began: float
    real_began: float
    speed: float = 600.0  # ten minutes per second
    per_day: float = 15.0
    archive_days: float = 90.0
    family: str = "press"  # of URL schemas, see `schemas.FAMILIES`
    log: str = ""  # file of `LoggedRequest` rows; "" = none

    def press_time(self, real_at: float) -> float:
        """Return the time of the press at the real time *real_at*."""
        return self.began + (real_at - self.real_began) * self.speed

    def now(self) -> float:
        """Return the current time of the press."""
        return self.press_time(time.time())

    def press(self, origins: Sequence[str]) -> Press:
        return Press(
            self.seed,
            origins,
            self.began,
            per_day=self.per_day,
            archive_days=self.archive_days,
            family=self.family,
        )


class LoggedRequest(NamedTuple):
    """A request in the log, in order of arrival."""

    real_at: float
    status: int
    content_type: str
    url: str


def read_log(path: Path) -> list[LoggedRequest]:
    """Return the requests to a server that has ended."""
    rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    return [LoggedRequest(float(at), int(status), content_type, url) for at, status, content_type, url in rows]


def _addresses(count: int) -> list[str]:
    return [f"127.77.{number // 250}.{number % 250 + 1}" for number in range(count)]


def _sockets(stack: ExitStack, count: int) -> list[socket.socket]:
    """Return sockets on one port of *count* loopback addresses."""
    for _ in range(_TRIES):
        with ExitStack() as tried:
            first = tried.enter_context(socket.create_server((_addresses(1)[0], 0), backlog=512))
            port = first.getsockname()[1]
            try:
                others = [
                    tried.enter_context(socket.create_server((address, port), backlog=512))
                    for address in _addresses(count)[1:]
                ]
            except OSError:
                continue  # another process uses that port on one of the addresses
            stack.push(tried.pop_all())
            return [first, *others]
    raise OSError(f"no port was free on {count} addresses of 127.77.0.0/16")


def application(press: Press, clock: Callable[[], float], log: TextIO) -> web.Application:
    """Return the application of all sites, selected by the Host header; it supports conditional requests."""

    async def handle(request: web.Request) -> web.Response:
        response = press.page(request.host, request.raw_path, clock())
        version = f'"{blake2b(response.body, digest_size=8).hexdigest()}"'
        is_known = response.status == 200 and request.headers.get("If-None-Match") == version
        status = 304 if is_known else response.status
        row = (time.time(), status, response.headers["Content-Type"], f"http://{request.host}{request.raw_path}")
        log.write("\t".join(map(str, row)) + "\n")
        body = b"" if is_known else response.body
        return web.Response(status=status, headers={**response.headers, "ETag": version}, body=body)

    made = web.Application()
    made.router.add_route("GET", "/{path:.*}", handle)
    return made


async def _serve(options: Options) -> None:
    with ExitStack() as stack:
        sockets = _sockets(stack, options.sites)
        origins = ["http://{}:{}".format(*sock.getsockname()) for sock in sockets]
        log = stack.enter_context(Path(options.log or os.devnull).open("w", encoding="utf-8"))
        sites = application(options.press(origins), options.now, log)
        runner = web.AppRunner(sites, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        for sock in sockets:
            await web.SockSite(runner, sock).start()
        print(json.dumps(origins), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        await runner.cleanup()


@dataclass(frozen=True, slots=True)
class Served:
    """A running server, with its truth and its clock."""

    press: Press
    clock: Callable[[], float]


@contextmanager
def serve(options: Options) -> Iterator[Served]:
    """Serve in a separate process during the block."""
    command = [sys.executable, "-m", "examples.press.server", json.dumps(asdict(options))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            origins = json.loads(process.stdout.readline())
            yield Served(options.press(origins), options.now)
        finally:
            process.stdin.close()
            process.wait(END_S)


if __name__ == "__main__":
    asyncio.run(_serve(Options(**json.loads(sys.argv[1]))))

"""Serves a press on loopback: a site has an address 127.77.x.y of its own, all have one port.

    python -m tests.support.sites.press.server OPTIONS      what they are: `Options`, as JSON

Prints one line of JSON when it listens; ends when its standard input does.
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

from tests.support.sites.press.press import Press

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).resolve().parents[4]
END_S = 10
_TRIES = 20  # ports, until one is free on all addresses


@dataclass(frozen=True, slots=True)
class Options:
    """A press and its clock: at *began* of the press the real time was *real_began*; it runs *speed* times as fast."""

    seed: int
    sites: int
    began: float
    real_began: float
    speed: float = 600.0  # ten minutes a second
    per_day: float = 15.0
    archive_days: float = 90.0
    log: str = ""  # file for what was asked, see `Asked`; "" = none

    def press_time(self, real_at: float) -> float:
        """The time at the press when it really is *real_at*."""
        return self.began + (real_at - self.real_began) * self.speed

    def now(self) -> float:
        """The time at the press."""
        return self.press_time(time.time())

    def press(self, origins: Sequence[str]) -> Press:
        return Press(self.seed, origins, self.began, per_day=self.per_day, archive_days=self.archive_days)


class Asked(NamedTuple):
    """A request, in the order in which they came."""

    real_at: float
    status: int
    content_type: str
    url: str


def read_log(path: Path) -> list[Asked]:
    """What was asked of a server that has ended."""
    rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    return [Asked(float(at), int(status), content_type, url) for at, status, content_type, url in rows]


def _addresses(count: int) -> list[str]:
    return [f"127.77.{number // 250}.{number % 250 + 1}" for number in range(count)]


def _sockets(stack: ExitStack, count: int) -> list[socket.socket]:
    """Sockets on one port of *count* addresses of loopback."""
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
                continue  # another process has that port on one of them
            stack.push(tried.pop_all())
            return [first, *others]
    raise OSError(f"no port was free on {count} addresses of 127.77.0.0/16")


def application(press: Press, clock: Callable[[], float], log: TextIO) -> web.Application:
    """All sites of the press, told apart by the header Host; a page that is as the client has it is not sent again."""

    async def handle(request: web.Request) -> web.Response:
        answer = press.page(request.host, request.raw_path, clock())
        version = f'"{blake2b(answer.body, digest_size=8).hexdigest()}"'
        is_known = answer.status == 200 and request.headers.get("If-None-Match") == version
        status = 304 if is_known else answer.status
        told = (time.time(), status, answer.headers["Content-Type"], f"http://{request.host}{request.raw_path}")
        log.write("\t".join(map(str, told)) + "\n")
        body = b"" if is_known else answer.body
        return web.Response(status=status, headers={**answer.headers, "ETag": version}, body=body)

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
    """A press that is being served, its truth and its clock."""

    press: Press
    clock: Callable[[], float]


@contextmanager
def serve(options: Options) -> Iterator[Served]:
    """Serve from a process of its own while the block lasts."""
    command = [sys.executable, "-m", "tests.support.sites.press.server", json.dumps(asdict(options))]
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

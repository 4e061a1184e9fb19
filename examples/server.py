"""Serves the demo web or the town on 127.0.0.1, one port per site, until Ctrl-C or SIGTERM.

    python -m examples.server [--town] [--ports-file FILE] [--scale N] [--delay-ms M] [--until-stdin-ends]

With `--until-stdin-ends` the server also stops when its parent process, which holds the other end of stdin, dies, even
by kill -9.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from aiohttp import web as http

from crawlers.pages.pool import environment
from examples.town.plan import SITES as TOWN
from examples.town.responses import respond as respond_in_town
from examples.webs import SITES, Web, respond
from examples.webs.grumpy import flaky_refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from examples.webs.pages import Site, WebResponse

    # Returns the response for site, path, query and headers; may keep state about past requests.
    Responder = Callable[[str, str, str, Mapping[str, str]], WebResponse]

ROOT = Path(__file__).resolve().parents[1]
CACHED_RESPONSES = 20_000  # some 60 MB; the traps are endless, memory is not
STOP_S = 10  # after that time the server is killed


def _demo_responder(web: Web) -> Responder:
    """Return the responder of the demo web: pure, except for the pages of grumpy that fail at first."""
    seen: Counter[str] = Counter()

    @lru_cache(CACHED_RESPONSES)
    def pure(site: str, path: str, query: str) -> WebResponse:
        return respond(cast("Site", site), path, query, web)

    def respond_to(site: str, path: str, query: str, headers: Mapping[str, str]) -> WebResponse:
        found = None
        if site == "grumpy" and path.startswith("/flaky/"):
            found = flaky_refusal(path, seen[path])
            seen[path] += 1
        return found or pure(site, path, query)

    return respond_to


def _town_responder(web: Web) -> Responder:
    """Return the responder of the town, whose responses depend on past requests."""
    requests: Counter[tuple[str, str]] = Counter()

    def respond_to(site: str, path: str, query: str, headers: Mapping[str, str]) -> WebResponse:
        found = respond_in_town(web, site, path, requests, headers)
        requests[site, path] += 1
        return found

    return respond_to


def _application(site: str, responder: Responder, delay_s: float) -> http.Application:
    async def handle(request: http.Request) -> http.Response:
        path, _, query = request.raw_path.partition("?")
        if delay_s:
            await asyncio.sleep(delay_s)
        found = responder(site, path, query, request.headers)
        response = http.Response(status=found.status, headers=found.headers, body=found.body)
        response["is_untyped"] = not found.header("Content-Type")
        return response

    async def take_back_type(request: http.Request, response: http.StreamResponse) -> None:
        # aiohttp gives every response a Content-Type; some pages here must have none.
        if response.get("is_untyped"):
            response.headers.popall("Content-Type", None)

    application = http.Application()
    application.router.add_route("*", "/{path:.*}", handle)
    application.on_response_prepare.append(take_back_type)
    return application


async def _run(
    web: Web, responder: Responder, sockets: Mapping[str, socket.socket], delay_s: float, *, until_stdin_ends: bool
) -> None:
    stop = asyncio.Event()
    closed = threading.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)

    def watch_stdin() -> None:
        while os.read(0, 4096):
            pass
        if not closed.is_set():
            loop.call_soon_threadsafe(stop.set)

    runners = []
    for site, sock in sockets.items():
        runner = http.AppRunner(_application(site, responder, delay_s), access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await http.SockSite(runner, sock).start()
        runners.append(runner)
        print(site, web.origins[site] + "/", flush=True)
    if until_stdin_ends:
        # This is a thread because the loop cannot wait for pipes, terminals and files alike; os.read, because a
        # buffered read would hold a lock that the interpreter needs at exit.
        threading.Thread(target=watch_stdin, daemon=True).start()
    await stop.wait()
    closed.set()
    for runner in runners:
        await runner.cleanup()


def _kept_ports(file: Path | None) -> dict[str, int]:
    """Return the ports in the *file* of a previous run, by site; empty if there is none."""
    if file is None or not file.exists():
        return {}
    rows = [line.split() for line in file.read_text("utf-8").splitlines() if line.strip()]
    try:
        return {name: urlsplit(url).port or 0 for name, url in rows}
    except ValueError as error:
        raise SystemExit(f"{file}: {error}; each line must be `name http://127.0.0.1:PORT/`") from error


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until a signal arrives; the ports of an existing ports file are reused, so that URLs are stable."""
    parser = argparse.ArgumentParser(prog="python -m examples.server", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--town", action="store_true", help="serve the densely linked sites instead")
    parser.add_argument(
        "--ports-file", type=Path, help="file of `name URL` lines; read if it exists, otherwise written"
    )
    parser.add_argument(
        "--scale", type=int, default=1, help="size of library, faculty and mirror, or of the town; 1 or more"
    )
    parser.add_argument("--delay-ms", type=float, default=0, help="delay of each response in milliseconds")
    parser.add_argument("--until-stdin-ends", action="store_true", help="stop at the end of standard input as well")
    chosen = parser.parse_args(arguments)
    if chosen.scale < 1 or not 0 <= chosen.delay_ms < float("inf"):
        parser.error("--scale must be 1 or more, --delay-ms 0 or more")
    kept = _kept_ports(chosen.ports_file)
    with ExitStack() as stack:
        sockets: dict[str, socket.socket] = {}
        for site in TOWN if chosen.town else SITES:
            port = kept.get(site, 0)
            try:
                sockets[site] = stack.enter_context(socket.create_server(("127.0.0.1", port), backlog=512))
            except (OSError, OverflowError) as error:
                raise SystemExit(f"{chosen.ports_file}: port {port} of {site} is not available: {error}") from error
        origins = {site: f"http://127.0.0.1:{sock.getsockname()[1]}" for site, sock in sockets.items()}
        if chosen.ports_file and not kept:
            chosen.ports_file.write_text("".join(f"{site} {url}/\n" for site, url in origins.items()), "utf-8")
        web = Web(chosen.scale, origins)
        responder = _town_responder(web) if chosen.town else _demo_responder(web)
        delay_s = chosen.delay_ms / 1000
        asyncio.run(_run(web, responder, sockets, delay_s, until_stdin_ends=chosen.until_stdin_ends))


@dataclass(frozen=True, slots=True)
class Served:
    """A running server: the web's size and origins, and the server process."""

    web: Web
    process: subprocess.Popen[str]

    @property
    def origins(self) -> Mapping[str, str]:
        """Return scheme://host:port of each site."""
        return self.web.origins

    @property
    def urls(self) -> Mapping[str, str]:
        """Return the address of the home page of each site."""
        return {site: origin + "/" for site, origin in self.web.origins.items()}


@contextmanager
def serve(
    scale: int = 1, *, town: bool = False, delay_ms: float = 0, ports_file: Path | None = None
) -> Iterator[Served]:
    """Start the server in its own process and stop it at the end of the block."""
    command = [sys.executable, "-m", "examples.server", "--until-stdin-ends"]
    command += [f"--scale={scale}", f"--delay-ms={delay_ms}"]
    sites = tuple(TOWN if town else SITES)
    if town:
        command.append("--town")
    if ports_file:
        command.append(f"--ports-file={ports_file.absolute()}")
    process = subprocess.Popen(  # our own command
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment()
    )
    with process:  # closes the pipes, which stops the server, and waits for it
        try:
            lines = [process.stdout.readline().split() for _ in sites] if process.stdout else []
            if any(len(line) != 2 for line in lines):
                raise RuntimeError("the demo server did not start; see its message on stderr")
            origins = dict(zip(sites, (url.rstrip("/") for _, url in lines), strict=True))
            yield Served(Web(scale, origins), process)
        finally:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()


if __name__ == "__main__":
    main()

"""Many sites for measurements of several workers: the pages of bench.speed.website, served by nginx.

The web server needs a small part of what a crawler needs, so the crawler is what is measured, even with two cores. Each
site has an address of its own in 127.0.0.0/8, because other crawlers tell hosts apart without their ports.
"""

from __future__ import annotations

import os
import resource
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.speed.website import make_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OTHER_FILES = 4096  # for the crawlers' connections, and pages
CONFIGURATION = """
{user}daemon off;
pid {folder}/pid;
worker_processes 1;
worker_rlimit_nofile {files};
events {{ worker_connections {files}; }}
http {{
    types {{ text/html html; }}
    default_type text/html;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    log_format request '$server_addr $request_uri $status';
    access_log {folder}/access.log request buffer=64k flush=1s;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    open_file_cache max=10000;
    server {{
        {listen}
        root {folder}/pages;
        charset utf-8;
    }}
}}
"""


class Requested(NamedTuple):
    """A request, as the web server logs it."""

    address: str
    path: str
    status: int


class Web:
    """The running web server."""

    def __init__(self, urls: list[str], process: int, log: Path) -> None:
        self.urls = urls
        self.process = process
        self._log = log

    def forget(self) -> None:
        """Forget all requests."""
        time.sleep(1.5)  # the server writes its log every second
        os.truncate(self._log, 0)

    def requests(self) -> list[Requested]:
        """Return the requests since the server started, or since they were forgotten."""
        time.sleep(1.5)
        lines = (line.split(" ") for line in self._log.read_text("utf-8").splitlines())
        return [Requested(address, path, int(status)) for address, path, status in lines]


@contextmanager
def serve_sites(sites: int, pages: Mapping[str, bytes] | None = None) -> Iterator[Web]:
    """Serve *sites* sites with equal *pages* (path to body), by default those of bench.speed.website."""
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
    if program is None:
        raise SystemExit("nginx is not installed; install it to run this measurement")
    with tempfile.TemporaryDirectory(prefix="sites-") as temporary:
        folder = Path(temporary)
        for path, body in (make_pages() if pages is None else pages).items():
            file = folder / "pages" / (path[1:] or "index.html")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        addresses = [f"127.0.{1 + number // 250}.{1 + number % 250}" for number in range(sites)]
        listen = " ".join(f"listen {address}:{port};" for address in addresses)
        user = "user root; " if os.geteuid() == 0 else ""  # who may read the temporary folder
        configuration = folder / "nginx.conf"
        files = sites + OTHER_FILES  # each address is an open file, and a connection
        text = CONFIGURATION.format(folder=folder, listen=listen, user=user, files=files)
        configuration.write_text(text, "utf-8")
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, max(files, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
        command = [program, "-p", str(folder), "-c", str(configuration), "-e", str(folder / "error.log")]
        with subprocess.Popen(command) as process:
            try:
                _wait_until_it_serves(process, addresses[-1], port)
                yield Web([f"http://{address}:{port}" for address in addresses], process.pid, folder / "access.log")
            finally:
                process.terminate()


def _wait_until_it_serves(process: subprocess.Popen[bytes], address: str, port: int) -> None:
    while process.poll() is None:
        with suppress(ConnectionRefusedError), socket.create_connection((address, port)):
            return
        time.sleep(0.02)
    raise SystemExit(f"nginx ended with status {process.returncode}")

"""A real scrapyd on loopback, and a copy of the project to deploy from."""

import http.client
import importlib.util
import json
import re
import shutil
import socket
import subprocess
import sys
import threading
from base64 import b64encode
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode

from tests.support.services import unavailable

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ("requirements.in", "requirements-dev.in", "requirements-scrapyd.in")
PARTS = ("crawlers", "setup.py", "MANIFEST.in", "scrapy.cfg", *REQUIREMENTS)
PATIENCE_S = 60  # for anything that takes two seconds on an idle machine
ENDED = r"Process (?:finished|died): (?:exitstatus=(\d+) )?"

CONFIGURATION = """
[scrapyd]
http_port = {port}
poll_interval = 0.1
max_proc = 4
jobstorage = scrapyd.jobstorage.SqliteJobStorage
eggs_dir = {folder}/eggs
logs_dir = {folder}/job-logs
items_dir = {folder}/items
dbs_dir = {folder}/dbs
"""


def need_scrapyd():
    """Skip the test without scrapyd; fail it where nothing may be missing."""
    for name in ("scrapyd", "scrapyd_client"):
        if importlib.util.find_spec(name) is None:
            unavailable(f"{name} is not installed: pip install -r requirements-dev.txt")


def job_settings(folder, **more):
    """Return settings of a job whose files are in *folder*, as one gives them to scrapyd: nothing relative."""
    folder.mkdir(exist_ok=True)
    files = {
        "RESULT_FOLDER": "result",
        "STOP_FILE": "stop",
        "COMMON_LOG_FILE": "result/all.csv",
        "ERROR_LOG_FILE": "result/bad.csv",
    }
    places = {name: str(folder / path) for name, path in files.items()}
    return {"DATABASE_URL": f"sqlite:///{folder}/crawl.sqlite", **places, **more}


class Project:
    """A copy of the project, so that no build/ is left in the repository."""

    def __init__(self, folder, environment):
        self.folder = folder
        self._environment = environment
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, folder / part)

    def set_version(self, version):
        path = self.folder / "crawlers/__init__.py"
        path.write_text(re.sub(r'(__version__ = )".*"', rf'\1"{version}"', path.read_text("utf-8")), "utf-8")

    def run(self, *arguments):
        """Run `python arguments` in the copy; what it printed."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def set_target(self, url):
        path = self.folder / "scrapy.cfg"
        path.write_text(re.sub(r"(?m)^url = .*$", f"url = {url}", path.read_text("utf-8")), "utf-8")

    def build_egg(self):
        self.run("setup.py", "-q", "bdist_egg", "-d", "eggs")
        return max((self.folder / "eggs").glob("*.egg"), key=lambda path: path.stat().st_mtime)


class Node:
    """A running scrapyd, whose output is read as it arrives, so that tests need not poll.

    *configuration* is its scrapyd.conf, with {port} and {folder}.
    """

    def __init__(self, folder, environment, configuration=CONFIGURATION):
        self.folder = folder
        user, password = environment.get("SCRAPYD_USERNAME", ""), environment.get("SCRAPYD_PASSWORD", "")
        self._headers = {"Authorization": f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"} if user else {}
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        (folder / "scrapyd.conf").write_text(configuration.format(port=self.port, folder=folder), "utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "scrapyd"],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._said = ""
        self._has_ended = False
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self._more:
                self._said += line
                self._more.notify_all()
        with self._more:
            self._has_ended = True
            self._more.notify_all()

    def hear(self, pattern):
        """Wait until scrapyd says *pattern*."""
        with self._more:
            self._more.wait_for(lambda: self._has_ended or re.search(pattern, self._said), PATIENCE_S)
            found = re.search(pattern, self._said)
            assert found, f"scrapyd never said {pattern!r}, but:\n{self._said}"
            return found

    def call(self, name, **fields):
        """Return the response of *name*.json; with *fields*, send a POST."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            if fields:
                headers = {**self._headers, "Content-Type": "application/x-www-form-urlencoded"}
                connection.request("POST", f"/{name}.json", urlencode(fields, doseq=True), headers)
            else:
                connection.request("GET", f"/{name}.json", headers=self._headers)
            response = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        assert response["status"] == "ok", response
        return response

    def schedule(self, hosts, settings=None):
        """Put a job in the line, and return its number."""
        setting = [f"{name}={value}" for name, value in (settings or {}).items()]
        return self.call("schedule", project="crawlers", spider="sitegraph", hosts=hosts, setting=setting)["jobid"]

    def end_of(self, job):
        """Wait until *job* ended, and return its exit status."""
        status = self.hear(rf"{ENDED}project='crawlers' spider='sitegraph' job='{job}'")[1]
        assert job in [finished["id"] for finished in self.call("listjobs")["finished"]]
        return int(status or 0)

    def log_of(self, job):
        (path,) = self.folder.glob(f"*logs/crawlers/sitegraph/{job}.log")
        return path.read_text("utf-8")

    def stop(self):
        with suppress(OSError, AssertionError, ValueError):  # it may be dead already, or want a password
            for job in self.call("listjobs")["running"]:
                self.call("cancel", project="crawlers", job=job["id"], signal="KILL")
                self.end_of(job["id"])
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join(PATIENCE_S)
        self.process.stdout.close()


@contextmanager
def running_node(folder, environment, configuration=CONFIGURATION):
    """A scrapyd that runs during the block."""
    need_scrapyd()
    node = Node(folder, environment, configuration)
    try:
        node.hear(r"Site starting on")
        yield node
    finally:
        node.stop()

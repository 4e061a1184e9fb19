"""The files for containers agree with the project, its documentation and each other."""

import configparser
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from crawlers import __version__
from crawlers import settings as defaults
from crawlers.cli.project_command import kinds_of_settings
from crawlers.cli.settings_file import read_settings

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
STEPS = [line.partition(" ")[::2] for line in DOCKERFILE.splitlines() if line and not line.startswith(("#", " "))]
PAGE = (ROOT / "docs/how-to/docker.md").read_text("utf-8")


def steps(name):
    return [rest.strip() for step, rest in STEPS if step == name]


def test_images_are_pinned_by_their_version():
    pinned = re.compile(r"[a-z]+:\d+\.\d+(\.\d+)?(-[\w-]+)?(@sha256:[0-9a-f]{64})?")
    images = [*steps("FROM"), *(service["image"] for service in SERVICES.values())]
    assert [image for image in images if not pinned.fullmatch(image)] == []
    assert all("@sha256:" in image for image in steps("FROM"))
    assert SERVICES["crawler"]["image"] == f"crawlers:{__version__}"


def test_nobody_runs_as_root_and_ports_are_open_for_this_machine_only():
    (user,) = steps("USER")
    assert f" {user} " in " ".join(steps("RUN"))
    assert [name for name, _ in STEPS].index("USER") < [name for name, _ in STEPS].index("CMD")
    assert SERVICES["crawler"]["cap_drop"] == ["ALL"]
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_password_stands_in_no_file():
    for service in SERVICES.values():
        secret = [value for name, value in service["environment"].items() if "PASSWORD" in name]
        assert secret
        assert all(re.match(r"\$\{(POSTGRES|SCRAPYD)_PASSWORD:\?", value) for value in secret)
    assert not [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if ".env" in line]


def test_settings_of_jobs_exist_and_name_the_service_of_the_store():
    found = read_settings(str(ROOT / "deploy/docker/crawl.toml"), kinds_of_settings())
    assert {name for name in found if not hasattr(defaults, name)} == set()
    store = SERVICES["postgres"]["environment"]
    assert found["DATABASE_URL"] == f"postgresql+psycopg://{store['POSTGRES_USER']}@postgres/{store['POSTGRES_DB']}"
    assert found["METRICS_PORT"].rpartition(":")[2] in steps("EXPOSE")[0].split()


def test_files_that_are_copied_exist_and_are_not_ignored():
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    assert [name for name in kept if not (ROOT / name).exists()] == []
    for copied in steps("COPY"):
        source = copied.split()[0]
        assert source == "." or any(Path(source).is_relative_to(name) for name in kept), source
    assert "setup.py" in kept
    manifest = (ROOT / "MANIFEST.in").read_text("utf-8").split()[1:]
    assert set(manifest) <= set(kept)


def test_packages_are_those_of_the_documentation_with_their_hashes():
    wanted = "--require-hashes -r requirements-scrapyd.txt"
    assert steps("RUN")[0].endswith(wanted)
    assert wanted.replace("-r ", "-r project/") in (ROOT / "docs/how-to/scrapyd.md").read_text("utf-8")
    assert "--no-deps --no-build-isolation" in steps("RUN")[1]  # else pip would load a setuptools without a hash


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.txt")), ids=lambda path: path.name)
def test_every_requirement_is_pinned_with_hashes_and_no_index_is_named(path):
    lines = path.read_text("utf-8").replace("\\\n", " ").splitlines()
    pins = [line for line in lines if not line.lstrip().startswith("#")]
    pinned = re.compile(r"[\w.-]+(\[\w+\])?==\S+.*( +--hash=sha256:[0-9a-f]{64})+")
    assert [line for line in pins if not pinned.fullmatch(line)] == []
    names = {re.split(r"[=\[]", line)[0].lower() for line in pins}
    direct = re.findall(r"^([\w.-]+)", path.with_suffix(".in").read_text("utf-8"), re.MULTILINE)
    assert {re.sub(r"[-_.]+", "-", name).lower() for name in direct if not name.startswith("-")} <= names


def test_scrapyd_of_the_image_is_that_of_the_guide_but_for_its_folders_and_its_password():
    text = (ROOT / "deploy/scrapyd/configure.sh").read_text("utf-8")
    documented, ours = configparser.ConfigParser(), configparser.ConfigParser()
    documented.read_string(re.search(r"<<END\n(\[scrapyd\].*?)END", text, re.DOTALL)[1])
    ours.read(ROOT / "deploy/docker/scrapyd.conf")
    of_node = {"bind_address", "username", "password"}
    same = {name: value for name, value in documented["scrapyd"].items() if name not in of_node}
    assert same.items() <= dict(ours["scrapyd"]).items()
    assert {*ours["scrapyd"]} - {*same} == {"bind_address", "dbs_dir", "eggs_dir", "logs_dir"}
    assert SERVICES["crawler"]["environment"].keys() >= {"SCRAPYD_USERNAME", "SCRAPYD_PASSWORD"}
    assert dict(ours["settings"]) == {"crawlers": "crawlers.settings"}
    assert steps("ENV") == ["SCRAPY_SETTINGS_MODULE=crawlers.settings PYTHONSAFEPATH=1"]


def test_image_starts_scrapyd_with_a_password_only(tmp_path):
    (tmp_path / "scrapyd").write_text("#!/bin/sh\necho started $*\n", "utf-8")
    (tmp_path / "scrapyd").chmod(0o755)
    command = json.loads(steps("CMD")[-1])
    secret = {"SCRAPYD_USERNAME": "crawls", "SCRAPYD_PASSWORD": "secret"}
    for given in (secret, {**secret, "SCRAPYD_PASSWORD": ""}, {}):
        done = subprocess.run(
            command, env={"PATH": f"{tmp_path}:/usr/bin:/bin", **given}, capture_output=True, text=True, check=False
        )
        assert done.stdout == ("started --pidfile=\n" if given == secret else "")
        assert (done.returncode == 0) == (given == secret)


def test_documented_commands_name_services_and_files_of_the_image():
    services = re.findall(r"docker compose exec(?: --detach)?(?: --env \S+)? (\w+) ", PAGE)
    services += re.findall(r"docker compose cp .*?\b(\w+):/", PAGE)
    assert len(services) == len(re.findall(r"docker compose (?:exec|cp)\b", PAGE))
    assert {*services} <= SERVICES.keys()
    for path in re.findall(r"/etc/[\w./]+\w", PAGE):
        assert any(copied.endswith(f" {path}") for copied in steps("COPY")), path


def test_docker_reads_the_description():
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("Docker with Compose is not installed")
    command = [docker, "compose", "--env-file", "/dev/stdin", "--file", str(ROOT / "compose.yaml"), "config", "--quiet"]
    secrets = "POSTGRES_PASSWORD=secret\nSCRAPYD_PASSWORD=secret\n"
    done = subprocess.run(command, input=secrets, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr

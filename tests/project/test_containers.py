"""The files for containers agree with the project, its documentation and each other."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from crawlers import __version__
from crawlers import settings as defaults
from crawlers.cli.setting_checks import types_of_settings
from crawlers.inputs.settings_file import read_settings

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
STEPS = [line.partition(" ")[::2] for line in DOCKERFILE.splitlines() if line and not line.startswith(("#", " "))]
PAGE = (ROOT / "docs/how-to/docker.md").read_text("utf-8")


def steps(name: str) -> list[str]:
    return [rest.strip() for step, rest in STEPS if step == name]


def scrapyd_conf() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "deploy/docker/scrapyd.conf")
    return parser


def test_images_are_pinned_by_their_version():
    images = [*steps("FROM"), *(service["image"] for service in SERVICES.values())]
    assert [image for image in images if not re.fullmatch(r"[a-z]+:\d+\.\d+(\.\d+)?(-[\w-]+)?", image)] == []
    assert SERVICES["crawler"]["image"] == f"crawlers:{__version__}"


def test_crawler_waits_for_the_store_and_every_service_has_a_check_of_its_health():
    assert SERVICES["crawler"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert SERVICES["postgres"]["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]
    assert len(steps("HEALTHCHECK")) == 1


def test_nobody_runs_as_root_and_ports_are_open_for_this_machine_only():
    (user,) = steps("USER")
    assert f" {user} " in " ".join(steps("RUN"))
    assert [name for name, _ in STEPS].index("USER") < [name for name, _ in STEPS].index("CMD")
    assert SERVICES["crawler"]["cap_drop"] == ["ALL"]
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_volumes_are_declared_and_the_data_is_where_the_image_keeps_it():
    mounted = {volume.partition(":")[0] for service in SERVICES.values() for volume in service["volumes"]}
    assert mounted == set(COMPOSE["volumes"])
    assert f"data:{steps('VOLUME')[0]}" in SERVICES["crawler"]["volumes"]
    assert steps("WORKDIR")[-1] == steps("VOLUME")[0]


def test_password_stands_in_no_file():
    for service in SERVICES.values():
        secret = [value for name, value in service["environment"].items() if "PASSWORD" in name]
        assert secret
        assert all(value.startswith("${POSTGRES_PASSWORD:?") for value in secret)
    assert not [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if ".env" in line]


def test_settings_of_jobs_exist_and_name_the_service_of_the_store():
    found = read_settings(str(ROOT / "deploy/docker/crawl.toml"), types_of_settings())
    assert {name for name in found if not hasattr(defaults, name)} == set()
    store = SERVICES["postgres"]["environment"]
    assert found["DATABASE_URL"] == f"postgresql+psycopg://{store['POSTGRES_USER']}@postgres/{store['POSTGRES_DB']}"
    assert str(found["METRICS_PORT"]) in steps("EXPOSE")[0].split()


def test_files_that_are_copied_exist_and_are_not_ignored():
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    assert [name for name in kept if not (ROOT / name).exists()] == []
    for copied in steps("COPY"):
        source = copied.split()[0]
        assert source == "." or any(Path(source).is_relative_to(name) for name in kept), source
    assert "setup.py" in kept
    manifest = (ROOT / "MANIFEST.in").read_text("utf-8").split()[1:]
    assert set(manifest) <= set(kept)


def test_versions_of_packages_are_those_of_the_documentation():
    install = shlex.split(steps("RUN")[0])
    scrapyd = (ROOT / "docs/how-to/scrapyd.md").read_text("utf-8")
    (documented,) = re.findall(r"pip install (-r .*)", scrapyd)
    wanted = {word for word in shlex.split(documented) if "==" in word or "<" in word}
    wanted = {word for word in wanted if not word.startswith("scrapyd-client")}  # only deploys
    assert wanted <= set(install)
    pinned = (ROOT / "requirements-dev.txt").read_text("utf-8")
    assert all(word in pinned for word in install if "==" in word)


def test_scrapyd_of_the_image_is_that_of_the_documentation_but_for_its_folders():
    text = (ROOT / "docs/how-to/scrapyd.md").read_text("utf-8")
    documented = configparser.ConfigParser()
    documented.read_string(re.search(r"<<'END'\n(\[scrapyd\].*?)END", text, re.DOTALL)[1])
    ours = scrapyd_conf()
    same = {name: value for name, value in documented["scrapyd"].items() if name != "bind_address"}
    assert same.items() <= dict(ours["scrapyd"]).items()
    assert {name for name in ours["scrapyd"] if name not in documented["scrapyd"]} == {
        "dbs_dir",
        "eggs_dir",
        "logs_dir",
    }
    assert dict(ours["settings"]) == {"crawlers": "crawlers.settings"}
    assert steps("ENV") == ["SCRAPY_SETTINGS_MODULE=crawlers.settings"]
    assert shlex.split(steps("CMD")[0].strip("[]").replace(",", " "))[0] == "scrapyd"


def test_documented_commands_name_services_and_files_of_the_image():
    for service in re.findall(r"docker compose (?:exec|cp)(?: --detach)? (\w+)", PAGE):
        assert service in SERVICES or service == "hosts"
    for path in re.findall(r"/etc/[\w./]+\w", PAGE):
        assert any(copied.endswith(f" {path}") for copied in steps("COPY")), path


def test_docker_reads_the_description():
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("Docker with Compose is not installed")
    done = subprocess.run(
        [docker, "compose", "--env-file", "/dev/stdin", "--file", str(ROOT / "compose.yaml"), "config", "--quiet"],
        input="POSTGRES_PASSWORD=secret\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr

"""The examples of docs/deploy say what csim says, as far as that can be checked without them."""

import configparser
import json
import re
from pathlib import Path

import pytest
import typer
import yaml

import csim
from csim.cli.main import app
from csim.distributed.address import Address
from csim.web.limits import Limits

DEPLOY = Path(__file__).parents[1] / "docs/deploy"
INSTRUCTIONS = {
    "FROM", "RUN", "WORKDIR", "COPY", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK",
    "ENTRYPOINT", "CMD",
}  # fmt: skip


@pytest.fixture(scope="module")
def dockerfile():
    """Return the instructions of the Dockerfile, with continued lines joined."""
    text = (DEPLOY / "Dockerfile").read_text()
    lines = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    return [tuple(line.split(" ", 1)) for line in lines if line]


def test_every_example_says_that_it_was_not_run():
    files = sorted(DEPLOY.iterdir())
    assert len(files) == 6
    for file in files:
        assert "try it before you rely on it" in file.read_text(), file.name


def test_the_dockerfile_follows_the_rules(dockerfile):
    names = [name for name, _ in dockerfile]
    assert set(names) <= INSTRUCTIONS
    assert names[0] == "FROM"
    assert ":" in dockerfile[0][1]  # a version, not what is newest on the day
    assert names.index("USER") < names.index("ENTRYPOINT")  # not root
    for name, rest in dockerfile:
        if name in ("ENTRYPOINT", "CMD"):
            assert isinstance(json.loads(rest), list)  # without a shell, signals arrive
        if name == "RUN":
            assert "pip install" not in rest or "--no-cache-dir" in rest
    root = DEPLOY.parents[1]
    for name, rest in dockerfile:
        if name == "COPY":
            assert all((root / source).exists() for source in rest.split()[:-1])


def test_the_unit_gives_csim_the_time_that_it_needs_to_stop():
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(DEPLOY / "csim.service")
    assert int(unit["Service"]["TimeoutStopSec"]) > Limits().stop_seconds + 10
    assert " serve " in unit["Service"]["ExecStart"]


@pytest.mark.parametrize("name", ["nginx.conf", "Caddyfile"])
def test_a_proxy_takes_bodies_as_large_as_csim_does(name):
    text = (DEPLOY / name).read_text()
    assert text.count("{") == text.count("}")
    assert f"{Limits().body_bytes // 10**6}m" in text.lower()


def check_command(words):
    """Fail unless a command of csim exists and has the options that an example gives it."""
    assert Path(words[0]).name == "csim"
    command = typer.main.get_command(app).load(words[1])
    options = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options
    for word in words:
        if "://" in word:
            Address.from_text(word)


def test_the_unit_of_a_worker_starts_one_and_lets_it_be_stopped():
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(DEPLOY / "csim-worker@.service")
    service = unit["Service"]
    check_command(service["ExecStart"].split())
    assert service["SuccessExitStatus"] == "130"
    assert "PASSWORD_FILE" in service["Environment"]


def test_the_pods_run_one_stream_and_many_workers():
    run, workers = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    assert (run["kind"], run["spec"]["replicas"]) == ("StatefulSet", 1)
    assert workers["kind"] == "Deployment"
    for part in (run, workers):
        assert (
            part["spec"]["selector"]["matchLabels"]
            == (part["spec"]["template"]["metadata"]["labels"])
        )
        pod = part["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        [container] = pod["containers"]
        check_command(container["command"])
        assert container["image"] == f"csim:{csim.__version__}"
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        claimed = {
            claim["metadata"]["name"] for claim in part["spec"].get("volumeClaimTemplates", [])
        }
        assert mounted == {volume["name"] for volume in pod["volumes"]} | claimed

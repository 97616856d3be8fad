"""The manifests for Kubernetes, without a cluster: against its schemas, and their commands as processes here."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import kubernetes_validate
import psutil
import pytest
import yaml

from autograder.testing.ports import find_free_ports
from course import cluster

DEPLOY = Path(__file__).parents[2] / "autograder/classroom/deploy"
ENGINES = "kubernetes-engines.yaml"
VERSIONS = ("1.30", "1.37")  # the label with a pod's number is older than the first
PATIENCE = 120  # seconds


def read(name):
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", [ENGINES, "kubernetes-board.yaml"])
def test_every_object_has_the_keys_of_its_schema(name, version):
    for each in read(name):
        kubernetes_validate.validate(each, version, strict=True)


def test_names_of_one_object_that_another_one_uses_exist():
    objects = read(ENGINES)
    services = {each["metadata"]["name"]: each["spec"] for each in objects if each["kind"] == "Service"}
    for each in objects:
        if each["kind"] != "Service":
            labels = each["spec"]["template"]["metadata"]["labels"]
            assert services[labels["app"]]["selector"] == each["spec"]["selector"]["matchLabels"] == labels
            pod = each["spec"]["template"]["spec"]
            mounted = [m["name"] for c in pod["containers"] + pod.get("initContainers", []) for m in c["volumeMounts"]]
            assert set(mounted) == {volume["name"] for volume in pod["volumes"]}


def end(process):
    """End a process and those that it started: a controller's schedulers would go on without it."""
    started = psutil.Process(process.pid).children(recursive=True)
    for each in [process, *started]:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    process.wait()
    assert not psutil.wait_procs(started, timeout=PATIENCE)[1]


@pytest.mark.long
def test_the_pods_commands_make_engines_that_a_notebook_joins(tmp_path, monkeypatch):
    """`controller` is this machine's loopback address, and the secret a folder."""
    security = tmp_path / "ipython" / "profile_kubernetes" / "security"
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    pods = {
        each["metadata"]["name"]: each["spec"]["template"]["spec"]
        for each in read(ENGINES)
        if "template" in each["spec"]
    }

    def run(name, number=0):
        container = pods[name]["containers"][0]
        profile = security.parent if name == "controller" else tmp_path / f"engine-{number}"
        profile.mkdir(parents=True)
        here = {"=/profile": f"={profile}", "=/secret": f"={security}", "$(NUMBER)": str(number)}
        here |= {"=0.0.0.0": "=127.0.0.1", "=controller": "=127.0.0.1", "=20000-20040": f"={find_free_ports()}"}
        words = container["args"]
        for there, place in here.items():
            words = [word.replace(there, place) for word in words]
        command = [sys.executable, *container["command"][1:], *words]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        processes.callback(end, process)

    with contextlib.ExitStack() as processes:
        run("controller")
        deadline = time.monotonic() + PATIENCE
        while not (security / "ipcontroller-engine.json").exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        for number in (1, 0):
            run("engine", number)
        import ipyparallel

        with ipyparallel.Client(profile="kubernetes", timeout=PATIENCE) as client:
            client.wait_for_engines(2, timeout=PATIENCE)
        engines = cluster.start(2, profile="kubernetes")
        assert len(set(engines.apply_sync(os.getpid))) == 2
        cluster.stop()

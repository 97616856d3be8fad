"""A class set up on a fresh Debian by one command and removed by another, in a chroot; and files for containers.

In the chroot, Python's packages are this machine's, mounted read-only, because they are several gigabytes; Debian's are
installed for real.
"""

import contextlib
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import psutil
import pytest
import yaml

from autograder.classroom import sandbox
from autograder.testing.board_process import find_free_port
from autograder.testing.chroot import environment, open_chroot
from autograder.testing.classroom import PATIENCE, Student
from course.home import HOME

DEPLOY = HOME / "autograder" / "classroom" / "deploy"
RELEASE = "bookworm"  # whose Python is 3.11
FOLDER = "/srv/class"
PARTS = [Path(sysconfig.get_path("purelib")), Path(sys.prefix) / "share", Path(sys.prefix) / "etc"]


@pytest.fixture(scope="module")
def debian():
    """A fresh Debian with a copy of this clone, at the same path, and with Python's packages."""
    if sys.version_info[:2] != (3, 11):
        pytest.skip(f"Python's packages of this machine are not for {RELEASE}'s Python 3.11")
    with open_chroot(RELEASE, [], {part: part for part in PARTS}) as debian:
        names = subprocess.check_output(["git", "ls-files", "-z"], cwd=HOME).decode().split("\0")
        for name in filter(None, names):
            if (HOME / name).is_file():
                path = debian.folder / str(HOME).lstrip("/") / name
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(HOME / name, path)
        yield debian


def make_environment(debian):
    """Make the environment of Debian's Python around this machine's packages, as `make environment` would."""
    debian.run("apt-get", "update", "-qq")
    debian.run("apt-get", "install", "--yes", "-qq", "--no-install-recommends", "python3")
    debian.run("python3", "-m", "venv", "--without-pip", sys.prefix)
    inside = debian.folder / sys.prefix.lstrip("/")
    for name in ("course", "alembic"):
        shutil.copy(Path(sys.prefix) / "bin" / name, inside / "bin" / name)
    wanted = ["make", "--no-print-directory", "--eval", "wanted:;@echo $(WANTED)", "wanted"]
    (inside / "made").write_text(subprocess.check_output(wanted, cwd=HOME, text=True).strip())


@contextlib.contextmanager
def serving(debian, command):
    """Run a command in the chroot that serves a class until it is ended."""
    log = debian.folder / "root" / "class.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            debian.command(*command), env=environment(), stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        end = time.monotonic() + PATIENCE
        while "The class: " not in log.read_text():
            assert process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.5)
        yield
        for child in psutil.Process(process.pid).children():
            child.terminate()
        process.wait(PATIENCE)
    except AssertionError as error:
        hub = debian.folder / FOLDER.lstrip("/") / "hub" / "hub.log"
        raise AssertionError(f"{error}\n{log.read_text()}{hub.read_text()[-3000:] if hub.exists() else ''}") from error
    finally:
        process.kill()
        process.wait()


@pytest.mark.long
def test_work_is_deleted_only_if_its_folder_is_named(debian):
    state, folder = debian.folder / "var/lib/course-classroom", debian.folder / "srv/other"
    for path in (state, folder / "homes"):
        path.mkdir(parents=True)
    (state / "folder").write_text("/srv/other\n")
    refused = debian.run("sh", DEPLOY / "remove.sh", "--delete-work", "/srv/class", check=False)
    assert refused.returncode == 1 and "The class is in /srv/other, not in /srv/class" in refused.stdout
    assert folder.is_dir()
    debian.run("sh", DEPLOY / "remove.sh", "--delete-work", "/srv/other")
    assert not folder.exists()


@pytest.mark.long
def test_one_command_sets_a_class_up_on_a_fresh_debian_and_another_removes_it(debian):
    make_environment(debian)

    def list_packages():
        return set(debian.run("dpkg-query", "-W", "-f", "${db:Status-Abbrev}${Package}\n").stdout.splitlines())

    before = list_packages()
    install = ["env", "HOROVOD=no", "sh", DEPLOY / "install.sh", FOLDER]
    assert f"To serve the class: course classroom {FOLDER}" in debian.run(*install).stdout
    assert {"ii bubblewrap", "ii node-configurable-http-proxy"} <= list_packages() - before
    assert "Installing" not in debian.run(*install).stdout  # a second run finds everything

    port = find_free_port()
    inside = debian.folder / FOLDER.lstrip("/")
    (inside / "students.csv").write_text("name,password\nada,a first password\n")
    (inside / "classroom.toml").write_text(f'port = {port}\n[accounts]\nkind = "csv"\n')
    with serving(debian, ["course", "classroom", FOLDER]):
        student = Student(f"http://127.0.0.1:{port}", "ada")
        student.log_in("a first password")
        student.start()
        assert "01-regression" in {each["name"] for each in student.read("")["content"]}
        assert student.run("import numpy as np; print(np.arange(4).sum())") == "6\n"
        refused = debian.run("sh", DEPLOY / "remove.sh", check=False)
        assert refused.returncode == 1 and "is still being served: stop it" in refused.stdout

    answer = debian.run("sh", DEPLOY / "remove.sh").stdout
    assert f"The students' work is still in {FOLDER}." in answer
    assert list_packages() == before
    assert (inside / "homes" / "ada" / "work").is_dir()
    assert not (debian.folder / "usr/local/bin/course").is_symlink()
    assert "there was nothing to remove" in debian.run("sh", DEPLOY / "remove.sh").stdout


@pytest.mark.long
def test_nothing_of_a_chroot_is_left(debian):
    with open_chroot(RELEASE, []) as other:
        folder, first = other.folder, other.first
        sleeper = subprocess.Popen(other.command("sleep", "1000"), env=environment())
        assert str(folder) not in Path("/proc/mounts").read_text()
    sleeper.wait(PATIENCE)
    assert not folder.exists() and not psutil.pid_exists(first)


@pytest.fixture(scope="module")
def values():
    """The values for Zero to JupyterHub."""
    return yaml.safe_load((DEPLOY / "kubernetes.yaml").read_text())


@pytest.fixture(scope="module")
def manifests():
    """Kind and name -> manifest of what lies beside the chart."""
    found = yaml.safe_load_all((DEPLOY / "kubernetes-board.yaml").read_text())
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


def test_on_kubernetes_a_students_server_finds_what_it_finds_in_a_class_on_one_server(values, manifests):
    server = values["singleuser"]
    assert server["cmd"][1:] == ["-P", "-m", "course.student.hub"]
    mounts = {each["mountPath"]: each for each in server["storage"]["extraVolumeMounts"]}
    assert mounts["/srv/exchange/ml/inbound"]["subPath"] == "inbox/{username}"
    assert server["extraEnv"]["COURSE_FEEDBACK"] == sandbox.FEEDBACK and sandbox.FEEDBACK in mounts
    assert server["extraEnv"].keys() <= sandbox.make_environment("ada").keys()
    assert (HOME / "course" / "student" / "jupyter").is_dir()
    assert {each["name"] for each in server["storage"]["extraVolumes"]} == {each["name"] for each in mounts.values()}
    claims = [each["persistentVolumeClaim"]["claimName"] for each in server["storage"]["extraVolumes"][:1]]
    assert ("PersistentVolumeClaim", claims[0]) in manifests
    compile(server["extraFiles"]["nbgrader"]["stringData"], "nbgrader_config.py", "exec")
    compile(values["hub"]["extraConfig"]["board.py"], "board.py", "exec")


def test_on_kubernetes_the_answers_in_the_image_are_hidden_wherever_students_code_runs(values):
    engines = yaml.safe_load_all((DEPLOY / "kubernetes-engines.yaml").read_text())
    (pod,) = [each["spec"]["template"]["spec"] for each in engines if each["kind"] == "StatefulSet"]
    server = values["singleuser"]["storage"]
    for volumes, mounts in (
        (server["extraVolumes"], server["extraVolumeMounts"]),
        (pod["volumes"], pod["containers"][0]["volumeMounts"]),
    ):
        empty = [each["name"] for each in volumes if each.get("emptyDir") == {}]
        hidden = {each["mountPath"] for each in mounts if each["name"] in empty and each.get("readOnly")}
        assert {"/srv/course/solutions", "/srv/course/tests", "/srv/course/.git"} <= hidden


def test_on_kubernetes_the_board_and_the_hub_know_each_other(values, manifests):
    service = values["hub"]["services"]["board"]
    (container,) = manifests["Deployment", "board"]["spec"]["template"]["spec"]["containers"]
    variables = {each["name"]: each["value"] for each in container["env"]}
    (port,) = manifests["Service", "board"]["spec"]["ports"]
    assert service["url"] == f"http://board:{port['port']}"
    assert service["apiToken"] == variables["JUPYTERHUB_API_TOKEN"]
    assert service["oauth_client_id"] == variables["JUPYTERHUB_CLIENT_ID"]
    assert variables["JUPYTERHUB_SERVICE_URL"].endswith(f":{port['port']}")
    assert container["image"].startswith(values["singleuser"]["image"]["name"])


def test_the_image_is_made_by_the_command_that_sets_up_a_class():
    text = (DEPLOY / "Containerfile").read_text()
    assert "FROM debian:" in text
    assert f"/srv/course/{(DEPLOY / 'install.sh').relative_to(HOME)} /srv/classroom" in text
    assert "--uid 1000" in text  # kubernetes.yaml's


def test_docker_and_podman_both_leave_this_machines_files_out_of_the_image():
    assert {".git", ".venv", "work", "book/_build"} <= set((HOME / ".dockerignore").read_text().splitlines())
    assert not (HOME / ".containerignore").exists()  # podman would read it in place of .dockerignore


@pytest.mark.parametrize("name", ["install.sh", "remove.sh"])
def test_the_scripts_are_valid_and_refuse_what_they_do_not_know(name):
    subprocess.run(["sh", "-n", DEPLOY / name], check=True)
    answer = subprocess.run(["sh", DEPLOY / name, "one", "two", "three"], capture_output=True, text=True)
    assert answer.returncode == 1 and len(answer.stderr.splitlines()) == 1

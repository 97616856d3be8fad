"""Running tests that a package ships: ipyparallel's, in processes of their own. Starts processes; writes nothing."""

import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

OUR_ENGINES = "autograder.testing.engines_for_ipyparallel"
SECONDS = 1800  # for one file; it takes half a minute to three on a machine that does nothing else
# Files of ipyparallel.tests, without "test_". Left out is what tests ipyparallel's own launchers and clusters (apps,
# cluster, label, launcher, mpi, shellcmd, slurm, ssh), a database (db, mongodb), or no engine at all (async, canning,
# serialize, util).
ENGINE_FACING = (
    "asyncresult",
    "client",
    "dependency",
    "executor",
    "joblib",
    "lbview",
    "magics",
    "remotefunction",
    "view",
    "view_broadcast",
)
# Tests that fail on the course's engines only; tests/peers/README.md has the reason.
DIFFERENT = frozenset({"TestClient::test_warning_on_hostname_match"})


def run_tests(module, *options):
    """Run the tests of a module; returns (how many ran, the set of names of those that failed twice)."""
    run, failed = _run_pytest([module], options)
    if failed:
        _, failed = _run_pytest([f"{module}::{name}" for name in sorted(failed)], options)
    return run, failed


def _run_pytest(targets, options):
    """(number of tests that were not skipped, set of names of those that failed) of one process of pytest."""
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder]
        command += [f"--junitxml={folder}/results.xml", *options, "--pyargs", *targets]
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run(command, cwd=folder, timeout=SECONDS, **output)
        results = Path(folder, "results.xml")
        if not results.exists():
            raise RuntimeError(f"{' '.join(command)} ended with status {done.returncode}:\n{done.stdout[-2000:]}")
        cases = ElementTree.parse(results).findall(".//testcase")
    ran = [case for case in cases if case.find("skipped") is None]
    failed = [case for case in ran if case.find("failure") is not None or case.find("error") is not None]
    return len(ran), {"::".join(filter(None, [case.get("classname").strip("."), case.get("name")])) for case in failed}

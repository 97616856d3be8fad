"""Build Horovod for this Python and these frameworks, once, and install it: a step of `make lab`.

    python -m course.horovod.build

Horovod is published as source only. What is built here is kept as a wheel in ~/.cache/distributed-ml-course (or where
XDG_CACHE_HOME says), named after everything that it was built for, so that the next environment takes it from there.
PyTorch's part comes first and is installed at once; TensorFlow's follows, and both are then one wheel. A machine that
cannot build (no compiler, no network) gets one line that says what is missing, and everything but the Horovod lab
works: this step never fails the rest. Touches its folder in the cache, and the package `horovod` of this environment.
"""

import base64
import contextlib
import fcntl
import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
import zipfile
from pathlib import Path

import psutil

from course import cache as course_cache

VERSION = "0.28.1"
SHA256 = "92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0"  # of its source distribution
PARTS = {  # framework -> (its name, CMake's target, its library)
    "torch": ("PyTorch", "pytorch", "torch/mpi_lib_v2"),
    "tensorflow": ("TensorFlow", "tensorflow", "tensorflow/mpi_lib"),
}
MINUTES = {"torch": 3, "tensorflow": 2}  # about, on two cores
SECONDS_A_LINE = 30  # between lines that tell how far it is
MEMORY_A_COMPILER = 1.5 * 2**30  # bytes that one compiler needs for torch's headers
CMAKE = "cmake==3.31.10"  # used for the build alone, where the machine has none
SETTINGS = {
    "HOROVOD_WITH_PYTORCH": "1",
    "HOROVOD_WITH_GLOO": "1",
    "HOROVOD_WITHOUT_MPI": "1",
    "HOROVOD_WITHOUT_MXNET": "1",
    "HOROVOD_BUILD_ARCH_FLAGS": "-mtune=generic",  # a home folder, and the wheel in it, may be on several machines
    "CMAKE_POLICY_VERSION_MINIMUM": "3.5",
    # Its CMake files ask for C++14 whatever CXXFLAGS says; torch needs C++20, and of two options the last counts.
    "CMAKE_CXX_COMPILER_LAUNCHER": 'sh;-c;exec "$0" "$@" -std=c++20 -g0 -w',
}

KERAS_3 = '''
def refuse_keras_3(thing, what):
    """Raise TypeError for an optimizer or a model of Keras 3."""
    if any(kind.__module__.partition(".")[0] == "keras" for kind in type(thing).__mro__):
        raise TypeError(
            f"Horovod's {what} is for legacy Keras: under Keras 3, which never calls what it overrides, the "
            "ranks' gradients would not be averaged and their models would drift apart without an error. Under Keras 3 "
            "write the step with hvd.DistributedGradientTape and hvd.broadcast_variables (horovod.tensorflow); or use "
            "legacy Keras: import tf_keras."
        )

'''

# (file in the source's folder horovod/, what stands there once or more, what is put in its place)
PATCHES = [
    # This file has code for GPUs alone, and includes a header that TensorFlow does not install.
    (
        "tensorflow/CMakeLists.txt",
        'list(APPEND TF_SOURCES "${PROJECT_SOURCE_DIR}/horovod/tensorflow/xla_mpi_ops.cc")',
        "",
    ),
    # The list of ranks stays empty, and so no rank was ever missed where one waits for another.
    ("common/gloo/gloo_controller.cc", "global_ranks_.reserve(size_);", "global_ranks_.resize(size_);"),
    # Only one of its contexts is ever enabled, and the connections of the others stayed open: who waited for a rank
    # that had given up waited for ever.
    (
        "common/gloo/gloo_context.cc",
        "void GlooContext::Finalize() {\n  if (!enabled_) {\n    return;\n  }\n",
        "void GlooContext::Finalize() {\n",
    ),
    # A rank that waits gives its core away, and hears an interrupt.
    (
        "torch/mpi_ops_v2.cc",
        "      std::this_thread::yield();\n    }\n",
        "      std::this_thread::sleep_for(std::chrono::microseconds(50));\n    }\n"
        "    if (PyErr_CheckSignals() != 0) throw py::error_already_set();\n",
    ),
    # Its Keras is legacy Keras, by name: what `tf.keras` means is one choice for a whole process.
    ("tensorflow/keras/__init__.py", "from tensorflow import keras", "import tf_keras as keras"),
    ("tensorflow/keras/__init__.py", "from keras import backend", "from tf_keras import backend"),
    ("tensorflow/keras/callbacks.py", "from tensorflow import keras", "import tf_keras as keras"),
    ("tensorflow/keras/callbacks.py", "from keras import backend", "from tf_keras import backend"),
    ("tensorflow/keras/elastic.py", "import tensorflow as tf", "import tf_keras"),
    ("tensorflow/keras/elastic.py", "tf.keras.", "tf_keras."),
    ("keras/__init__.py", "import keras\n", "import tf_keras as keras\n"),
    ("keras/__init__.py", "import keras.backend as K", "from tf_keras import backend as K"),
    ("keras/callbacks.py", "import keras\n", "import tf_keras as keras\n"),
    ("keras/callbacks.py", "import keras.backend as K", "from tf_keras import backend as K"),
    ("keras/elastic.py", "import keras\n", "import tf_keras as keras\n"),
    # Under Keras 3 its optimizer does not average, and does not say so.
    ("_keras/__init__.py", "\ndef create_distributed_optimizer(", KERAS_3 + "\ndef create_distributed_optimizer("),
    (
        "_keras/__init__.py",
        "    class _DistributedOptimizer(",
        '    refuse_keras_3(optimizer, "DistributedOptimizer")\n\n    class _DistributedOptimizer(',
    ),
    (
        "_keras/callbacks.py",
        "    def on_batch_end(self, batch, logs=None):\n        if self.broadcast_done:",
        "    def on_batch_end(self, batch, logs=None):\n"
        "        from horovod._keras import refuse_keras_3\n"
        '        refuse_keras_3(self.model, "BroadcastGlobalVariablesCallback")\n'
        "        if self.broadcast_done:",
    ),
]


class CannotBuild(Exception):
    """Why Horovod cannot be built here, and what to do, in one sentence."""


def main():
    """Install Horovod, building what is not there yet; returns the exit status, which is 0 but after Ctrl-C."""
    try:
        make()
    except CannotBuild as reason:
        have = " and ".join(PARTS[part][0] for part in parts())
        print(f"Horovod: {reason} " + (f"It is there for {have}." if have else "All labs but that on Horovod work."))
    except OSError as error:
        print(f"Horovod: it could not be built ({error}). All labs but that on Horovod work.")
    except KeyboardInterrupt:
        print("Horovod: the build was stopped; the next `make lab` begins it again.")
        return 130
    return 0


def make():
    """Install the wheel with all parts, from the cache or newly built. Raises CannotBuild."""
    wanted = [part for part in PARTS if installed_version(part)]
    if parts() == wanted:
        return
    folder = cache()
    wheel = folder / wheel_name(wanted)
    if not wheel.is_file() and (missing := missing_tools()):
        raise CannotBuild(f"it is built from source, and {missing}; then run make lab again.")
    with only_one(folder):
        if not wheel.is_file():
            build(folder, wanted)
        if parts() != wanted:
            install(wheel, wanted)


def parts():
    """The frameworks whose part of Horovod is installed, and was built for the versions installed now."""
    try:
        found = importlib.metadata.distribution("horovod")
    except importlib.metadata.PackageNotFoundError:
        return []
    if found.read_text("INSTALLER") is None:  # it was cut off while it was unpacked
        return []
    subsets = [[*PARTS], *([part] for part in PARTS)]
    return next((each for each in subsets if found.version == wheel_version(each)), [])


def installed_version(package):
    """The installed version of a package, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def wheel_version(frameworks):
    """Horovod's version with what a wheel was built for: 0.28.1+torch2.13.0.tensorflow2.21.0.1a2b3c4d."""
    built_for = [f"{each}{installed_version(each)}" for each in frameworks]
    how = hashlib.sha256(repr((SETTINGS, PATCHES)).encode()).hexdigest()[:8]
    return f"{VERSION}+" + ".".join(re.sub(r"[^a-z0-9]+", ".", each.lower()) for each in [*built_for, how])


def wheel_name(frameworks):
    return f"horovod-{wheel_version(frameworks)}-{tag()}.whl"


def tag():
    """Python, its binary interface and the platform, as wheels name them."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{re.sub('[^a-z0-9]', '_', sysconfig.get_platform())}"


def cache():
    """The folder that keeps wheels."""
    folder = course_cache.folder() / "horovod"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotBuild(f"{folder}, where it would be kept, cannot be made ({error.strerror}).") from None
    return folder


def missing_tools():
    """What is missing here that pip cannot bring, with how to get it; "" where nothing is."""
    missing = [package for tool, package in (("c++", "g++"), ("make", "make")) if not shutil.which(tool)]
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        missing.append(f"python{sys.version_info.major}.{sys.version_info.minor}-dev")
    if not missing:
        return ""
    are = "is" if len(missing) == 1 else "are"
    return f"{' and '.join(missing)} {are} missing here (Debian and Ubuntu: apt install {' '.join(missing)})"


@contextlib.contextmanager
def only_one(folder):
    """While inside, no other process builds in this folder."""
    with (folder / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Horovod: is being built by another process; waiting for it ...", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(folder, frameworks):
    """Put the wheel of these frameworks into the folder; with the first one's part alone installed as soon as it is."""
    about = sum(MINUTES[each] for each in frameworks)
    print(f"Horovod is built from source, once: about {about} minutes on two cores ...", flush=True)
    work = folder / "building"  # always the same, so that nothing of a killed build is left for ever
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        steps = Steps(folder / "build.log", work)
        source = fetch(work, steps)
        steps.run("making the build files", *configure(source, work))
        jobs = max(1, min(cores(), int(psutil.virtual_memory().available / MEMORY_A_COMPILER)))
        for n, framework in enumerate(frameworks, 1):
            name, target, _ = PARTS[framework]
            compile_it = ["cmake", "--build", str(work / "cmake"), "--target", target, "--", f"-j{jobs}"]
            steps.run(f"compiling for {name}", *compile_it)
            pack(source, work / "libraries", frameworks[:n], folder)
            if n < len(frameworks):
                install(folder / wheel_name(frameworks[:n]), frameworks[:n])
        print(f"Horovod: built in {steps.minutes()}.", flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)


class Steps:
    """The build's programs, one after the other: their output in the file `log`, and a line now and then here."""

    def __init__(self, log, work):
        self.log, self.began = log, time.monotonic()
        log.write_bytes(b"")
        tools = work / "tools"  # where cmake is put, if the machine has none
        path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(tools / "bin")])
        self.environment = os.environ | SETTINGS | {"PATH": path, "PYTHONPATH": str(tools)}

    def run(self, what, *command, advice=""):
        """Run a program to its end; raises CannotBuild where it fails."""
        start, told = self.log.stat().st_size, time.monotonic()
        with self.log.open("ab") as log:
            program = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment, preexec_fn=_be_nice
            )
        try:
            while program.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    program.wait(1)
                if time.monotonic() > told + SECONDS_A_LINE:
                    told = time.monotonic()
                    print(f"Horovod: {what}{self.percent(start)}, {self.minutes()} gone", flush=True)
        finally:
            _end(program)
        if program.returncode:
            raise CannotBuild(
                f"{what} failed after {self.minutes()}; {advice}the reason is at the end of {self.log}. `make lab` "
                "tries again, `course lab` opens JupyterLab without."
            )

    def percent(self, start):
        """', 47%' where the program has said how far it is since the log was `start` bytes long."""
        with self.log.open("rb") as log:
            log.seek(start)
            said = re.findall(rb"^\[ *(\d+%)\]", log.read(), re.MULTILINE)
        return f", {said[-1].decode()}" if said else ""

    def minutes(self):
        return f"{(time.monotonic() - self.began) / 60:.1f} minutes"


def _be_nice():
    """The compiler takes what others leave."""
    os.nice(10)


def _end(program):
    """End a program with all that it started, if it still runs."""
    if program.poll() is None:
        below = psutil.Process(program.pid).children(recursive=True)
        program.terminate()
        for process in below:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.terminate()
        psutil.wait_procs(below, timeout=5)
        program.wait()


def fetch(work, steps):
    """Fetch the source, and cmake where there is none; returns the source's folder, with PATCHES in it."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--retries", "2"]
    source = ["download", "--no-binary", ":all:", "--no-deps", "--no-build-isolation", f"horovod=={VERSION}"]
    network = "connect to the network, then make lab; "
    steps.run("fetching the source", *pip, *source, "-d", str(work), advice=network)
    if not shutil.which("cmake"):
        steps.run("fetching cmake", *pip, "install", "--no-deps", "-t", str(work / "tools"), CMAKE, advice=network)
    archive = work / f"horovod-{VERSION}.tar.gz"
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        raise CannotBuild("what was fetched is not the known source (its SHA-256 differs); nothing was built.")
    with tarfile.open(archive) as files:
        files.extractall(work, filter="data")
    folder = work / f"horovod-{VERSION}"
    for name, before, after in PATCHES:
        file = folder / "horovod" / name
        text = file.read_text()
        if before not in text:
            raise RuntimeError(f"{before!r} is not in {file}")
        file.write_text(text.replace(before, after))
    return folder


def configure(source, work):
    """The command that makes the build files, for libraries in `work`/libraries."""
    return [
        "cmake",
        *("-S", str(source), "-B", str(work / "cmake")),
        "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY_RELWITHDEBINFO={work / 'libraries'}",
        f"-DPYTHON_EXECUTABLE={sys.executable}",
    ]


def pack(source, libraries, frameworks, folder):
    """Put the wheel for these frameworks into the folder: the source's Python files and what was compiled."""
    info = f"horovod-{wheel_version(frameworks)}.dist-info"
    files = {str(path.relative_to(source)): path.read_bytes() for path in source.glob("horovod/**/*.py")}
    files["horovod/metadata.json"] = (libraries / "horovod" / "metadata.json").read_bytes()
    for framework in frameworks:
        library = PARTS[framework][2] + sysconfig.get_config_var("EXT_SUFFIX")
        files[f"horovod/{library}"] = (libraries / "horovod" / library).read_bytes()
    needs = "".join(f"Requires-Dist: {name}\n" for name in ("cloudpickle", "packaging", "psutil", "pyyaml"))
    about = f"Metadata-Version: 2.1\nName: horovod\nVersion: {wheel_version(frameworks)}\nLicense: Apache 2.0\n{needs}"
    files[f"{info}/METADATA"] = about.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\nhorovodrun = horovod.runner.launch:run_commandline\n"
    files[f"{info}/LICENSE"] = (source / "LICENSE").read_bytes()
    record = "".join(f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    whole = folder / wheel_name(frameworks)
    half = whole.with_suffix(".half")
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
    half.replace(whole)  # at once, so that no half of a wheel is ever taken for a whole one


def _digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def install(wheel, frameworks):
    """Install a wheel in this environment."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-input", "--quiet"]
    done = subprocess.run(
        [*pip, "--no-deps", "--no-index", "--force-reinstall", str(wheel)], capture_output=True, text=True
    )
    if done.returncode:
        raise CannotBuild(f"{wheel} could not be installed: {done.stderr.strip().splitlines()[-1:]}.")
    names = " and ".join(f"{PARTS[each][0]} {installed_version(each)}" for each in frameworks)
    print(f"Horovod {VERSION} for {names} is installed.", flush=True)


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


if __name__ == "__main__":
    sys.exit(main())

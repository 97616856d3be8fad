"""Packs what was built into a wheel, and installs one. Touches the wheel's folder and the package `horovod`.

By hand, because Horovod's own setup.py would compile everything again for each wheel.
"""

import base64
import hashlib
import io
import subprocess
import sys
import sysconfig
import zipfile

from course.files import write_whole
from course.horovod.installation import find_version, tag, wheel_name, wheel_version
from course.horovod.recipe import PARTS, VERSION
from course.horovod.steps import CannotBuild

REQUIREMENTS = ("cloudpickle", "packaging", "psutil", "pyyaml")


def pack(source, libraries, frameworks, folder):
    """Write the wheel for these frameworks into `folder`: the source's Python files and what was compiled.

    source: Horovod's source folder. libraries: the folder of what was compiled.
    """
    info = f"horovod-{wheel_version(frameworks)}.dist-info"
    files = {str(path.relative_to(source)): path.read_bytes() for path in source.glob("horovod/**/*.py")}
    files["horovod/metadata.json"] = (libraries / "horovod" / "metadata.json").read_bytes()
    for framework in frameworks:
        library = PARTS[framework][2] + sysconfig.get_config_var("EXT_SUFFIX")
        files[f"horovod/{library}"] = (libraries / "horovod" / library).read_bytes()
    needs = "".join(f"Requires-Dist: {name}\n" for name in REQUIREMENTS)
    about = f"Metadata-Version: 2.1\nName: horovod\nVersion: {wheel_version(frameworks)}\nLicense: Apache 2.0\n{needs}"
    files[f"{info}/METADATA"] = about.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\nhorovodrun = horovod.runner.launch:run_commandline\n"
    files[f"{info}/LICENSE"] = (source / "LICENSE").read_bytes()
    record = "".join(f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
    write_whole(folder / wheel_name(frameworks), archive.getvalue())


def _digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def install(wheel, frameworks):
    """Install a wheel in this environment, and print one line. Raises CannotBuild."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-input", "--quiet"]
    process = subprocess.run(
        [*pip, "--no-deps", "--no-index", "--force-reinstall", str(wheel)], capture_output=True, text=True
    )
    if process.returncode:
        raise CannotBuild(f"{wheel} could not be installed: {process.stderr.strip().splitlines()[-1:]}.")
    names = " and ".join(f"{PARTS[each][0]} {find_version(each)}" for each in frameworks)
    print(f"Horovod {VERSION} for {names} is installed.", flush=True)

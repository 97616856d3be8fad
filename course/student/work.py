"""The student's folder `work/`: missing labs are copied there, and labs are updated until the student has begun them.

Touches nothing but `work/`, and no file in it that a student has changed: if a begun lab changes in the course, the new
version is put beside it. `work/.given.json` remembers the checksums of the copies; without it every changed file counts
as begun.
"""

import hashlib
import json
import re
import secrets

from course.errors import Problem
from course.files import write_whole
from course.home import HOME, find_work

MEMORY = ".given.json"
ORIGIN = ".origin"  # a random number that tells this folder from that of another student who has the same name


def prepare(home=HOME):
    """Bring the folder `work/` of the course at `home` up to date.

    Returns sentences that say what changed. Raises Problem if the folder cannot be written.
    """
    labs, work = home / "labs", find_work(home)
    if not (labs / "index.ipynb").exists():
        raise Problem(f"{labs} has no index.ipynb: its folder labs/ is incomplete, so get the course again.")
    try:
        work.mkdir(parents=True, exist_ok=True)
        given = read_memory(work / MEMORY)
        before = dict(given)
        new, sentences = [], []
        for source in sorted(labs.glob("**/*")):
            name = source.relative_to(labs).as_posix()
            if source.is_file() and ".ipynb_checkpoints" not in name:
                status = update_file(source, work / name, name, given)
                new += [source.stem] if status == "new" else []
                sentences += [status] if status not in ("new", None) else []
        if given != before:
            write_whole(work / MEMORY, json.dumps(given, indent=1, sort_keys=True))
    except OSError as error:
        raise Problem(
            f"the folder {work} cannot be used ({error.strerror}): check that it belongs to you and that the disk is "
            "not full."
        ) from error
    return ([f"New in work/: {', '.join(new)}."] if new else []) + sentences


def update_file(source, target, name, given):
    """Copy one file of the course to `work/`, unless the student has begun it; updates `given` (name -> checksum).

    Returns "new", a sentence that says what changed, or None.
    """
    content = source.read_bytes()
    current = compute_checksum(content)
    if not target.exists():
        write_whole(target, content)
        given[name] = current
        return "new"
    own = compute_checksum(target.read_bytes())
    if own == current:
        given[name] = current
        return None
    if own == given.get(name):
        write_whole(target, content)
        given[name] = current
        return f"{source.stem} changed in the course. You had not begun it, so work/{name} is now the new version."
    if given.get(name) == current:
        return None
    return put_beside(content, target, name, given)


def put_beside(content, target, name, given):
    """Put a new version beside a begun file, once per version, and never over one that the student has changed."""
    current, offer = compute_checksum(content), f"new of {name}"
    if given.get(offer) == current:
        return None
    for number in range(1, 1000):
        suffix = ".new" if number == 1 else f".new-{number}"
        beside = target.with_name(f"{target.stem}{suffix}{target.suffix}")
        if not beside.exists() or compute_checksum(beside.read_bytes()) in (current, given.get(offer)):
            break
    write_whole(beside, content)
    given[offer] = current
    return f"{target.stem} changed in the course. Your file is unchanged; the new version is beside it: {beside.name}"


def compute_checksum(content):
    """The checksum of what a file says; of a notebook only its cells count, because running it changes the rest."""
    try:
        cells = json.loads(content)["cells"]
        content = json.dumps([[cell["cell_type"], "".join(cell["source"])] for cell in cells]).encode()
    except (ValueError, KeyError, TypeError):
        pass  # not a notebook: every byte counts
    return hashlib.sha256(content).hexdigest()


def is_untouched(path, home=HOME):
    """Whether the student's file says exactly what the course gave."""
    work = find_work(home)
    own = compute_checksum(path.read_bytes())
    name = f"{path.stem}/{path.name}"
    source = home / "labs" / name
    return own == read_memory(work / MEMORY).get(name) or (
        source.exists() and own == compute_checksum(source.read_bytes())
    )


def read_memory(path):
    """The remembered checksums, a dict; empty if the file cannot be read, so that no file counts as untouched."""
    try:
        given = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return given if isinstance(given, dict) else {}


def read_origin(home=HOME):
    """The random number of this folder, eight hexadecimal digits; it is made when it is read for the first time."""
    path = find_work(home) / ORIGIN
    try:
        origin = path.read_text().strip()
    except (OSError, ValueError):
        origin = ""
    if not re.fullmatch(r"[0-9a-f]{8}", origin):
        origin = secrets.token_hex(4)
        write_whole(path, origin)
    return origin

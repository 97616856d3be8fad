"""The student's folder `work/`: labs are put there when they are missing and renewed while nobody has begun them.

Touches nothing but `work/`, and in it no file that a student has changed: a lab that changed in the course is put
beside the begun one. `work/.given.json` remembers what was given; without it every changed file counts as begun.
"""

import hashlib
import json

from course.errors import Problem
from course.home import HOME

MEMORY = ".given.json"


def prepare(home=HOME):
    """Bring the folder `work/` of the course at `home` up to date.

    Returns the sentences to say, none where nothing changed. Raises Problem where the folder cannot be written.
    """
    labs, work = home / "labs", home / "work"
    if not (labs / "index.ipynb").exists():
        raise Problem(f"{labs} has no index.ipynb: get the course anew, its folder labs/ is not whole.")
    try:
        work.mkdir(exist_ok=True)
        given = recall(work / MEMORY)
        remembered = dict(given)
        new, said = [], []
        for source in sorted(labs.glob("**/*")):
            name = source.relative_to(labs).as_posix()
            if source.is_file() and ".ipynb_checkpoints" not in name:
                status = bring(source, work / name, name, given)
                new += [source.stem] if status == "new" else []
                said += [status] if status not in ("new", None) else []
        if given != remembered:
            write(work / MEMORY, json.dumps(given, indent=1, sort_keys=True).encode())
    except OSError as error:
        raise Problem(
            f"the folder {work} cannot be used ({error.strerror}): see that it is yours and the disk has room."
        ) from error
    return ([f"New in work/: {', '.join(new)}."] if new else []) + said


def bring(source, target, name, given):
    """Give the student one file of the course, unless theirs is begun; updates `given` (name -> digest).

    Returns "new", a sentence to say, or None.
    """
    content = source.read_bytes()
    current = digest(content)
    if not target.exists():
        write(target, content)
        given[name] = current
        return "new"
    theirs = digest(target.read_bytes())
    if theirs == current:
        given[name] = current
        return None
    if theirs == given.get(name):
        write(target, content)
        given[name] = current
        return f"{source.stem} changed in the course; you had not begun it, so work/{name} is the new one."
    if given.get(name) == current:
        return None
    return put_beside(content, target, name, given)


def put_beside(content, target, name, given):
    """Put a new version beside a begun file, once a version, and never over one that the student has changed."""
    current, offer = digest(content), f"new of {name}"
    if given.get(offer) == current:
        return None
    for number in range(1, 1000):
        suffix = ".new" if number == 1 else f".new-{number}"
        beside = target.with_name(f"{target.stem}{suffix}{target.suffix}")
        if not beside.exists() or digest(beside.read_bytes()) in (current, given.get(offer)):
            break
    write(beside, content)
    given[offer] = current
    return f"{target.stem} changed in the course; yours stays as it is, and the new version is beside it: {beside.name}"


def digest(content):
    """What a file says, as a checksum. Of a notebook only its cells count: running or saving it is no work lost."""
    try:
        cells = json.loads(content)["cells"]
        content = json.dumps([[cell["cell_type"], "".join(cell["source"])] for cell in cells]).encode()
    except (ValueError, KeyError, TypeError):
        pass  # no notebook: every byte counts
    return hashlib.sha256(content).hexdigest()


def is_untouched(path, home=HOME):
    """Whether the student's file says just what the course gave."""
    work = home / "work"
    theirs = digest(path.read_bytes())
    name = f"{path.stem}/{path.name}"
    given = home / "labs" / name
    return theirs == recall(work / MEMORY).get(name) or (given.exists() and theirs == digest(given.read_bytes()))


def recall(path):
    """What was given; nothing where the memory is missing or cannot be read, so that no file counts as untouched."""
    try:
        given = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return given if isinstance(given, dict) else {}


def write(path, content):
    """Writes a whole file or none of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_bytes(content)
    unfinished.replace(path)

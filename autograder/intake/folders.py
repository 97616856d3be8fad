"""Hand-ins for an assignment of a class's own: folders with one or more notebooks, and the files beside them.

Every different hand-in is kept as a folder in the class's tries/, and the last one counts. Notebooks go by their names,
as in nbgrader. Writes only into the folder that it is given; runs nothing.
"""

import hashlib
import json
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from autograder.intake import archives, reading, times
from autograder.intake.reading import MAX_FILE

MOST_FILES = 1000  # in one hand-in
MOST_BYTES = 256 * 2**20  # of all files beside the notebooks together; they lie in memory while it runs
LONGEST, DEEPEST = 200, 10  # bytes of a file's or folder's name, and folders in one another
TIMESTAMP = "timestamp.txt"


@dataclass
class FolderHandIn:
    """One student's folder for an assignment: the last try, kept at `path`.

    time: when it was handed in, as in nbgrader's timestamp.txt, "" if unknown.
    """

    student: str
    lab: str
    path: Path
    remarks: list = field(default_factory=list)
    time: str = ""

    def list_data(self):
        """Return name -> Path of all files other than notebooks; names have slashes and begin in the folder."""
        return {name: path for name, path in list_files(self.path).items() if not is_notebook(name)}

    def list_notebooks(self):
        """Return name -> Path of the notebooks directly in the folder; the names have no ending."""
        files = list_files(self.path).items()
        return {name.removesuffix(".ipynb"): path for name, path in files if is_notebook(name) and "/" not in name}


@dataclass
class FolderTry:
    """A folder that a student handed in for the assignment `lab`.

    file: its name, fit to be printed. time: as in FolderHandIn. files: name -> Path. size: bytes beside the notebooks.
    """

    lab: str
    file: str
    time: str = ""
    remarks: list = field(default_factory=list)
    files: dict = field(default_factory=dict)
    size: int = 0

    def add(self, entry, parts):
        """Add an archives.Entry with the path `parts` in the folder; a file that cannot be had leaves a remark."""
        name = archives.printable("/".join(parts))
        if entry.is_folder and not entry.fault:
            return
        if entry.fault or entry.path is None:
            self.remarks.append(f"{name} {entry.fault or 'cannot be read'} and is left out.")
            return
        size = entry.path.stat().st_size
        data = 0 if is_notebook(name) else size
        if size > MAX_FILE or self.size + data > MOST_BYTES or len(self.files) == MOST_FILES:
            most = (
                f"{MAX_FILE // 2**20} MB in a file, {MOST_FILES} files, and {MOST_BYTES // 2**20} MB beside notebooks"
            )
            self.remarks.append(f"{name} is left out: a hand-in may hold {most}.")
            return
        name = "/".join(parts)
        is_in_the_way = any(one.startswith(f"{name}/") or name.startswith(f"{one}/") for one in self.files)
        if is_in_the_way or any(len(part.encode(errors="replace")) > LONGEST for part in parts) or len(parts) > DEEPEST:
            self.remarks.append(f"{archives.printable(name)} is left out: its name cannot be kept.")
            return
        self.files[name] = entry.path
        self.size += data

    def keep(self, folder):
        """Copy the files into a folder in `folder` that is named by their time and content; returns its path."""
        path = folder / f"{self.time.replace(':', '.') or 'no time'} {compute_digest(self.files)}"
        if path.is_dir():
            return path
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".copy-", dir=folder) as copy:
            for name, content in self.files.items():
                target = Path(copy, "files", name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(content, target)
            Path(copy, "files").mkdir(exist_ok=True)
            Path(copy, "files").rename(path)
        return path


def choose(student, lab, tries, folder, remarks):
    """Keep all `tries` (FolderTry) of a student in `folder`, and return the FolderHandIn of the last one.

    That is the one with the latest time, of those that arrive and those that were kept with a time before. remarks:
    what is to be said of the student whichever try counts.
    """
    arriving = {one.keep(folder): one for one in tries}
    kept = [path for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith(".")]
    candidates = [path for path in kept if path not in arriving and read_time(path)] + list(arriving)
    last = max(candidates, key=lambda path: (read_time(path), path in arriving))
    remarks = [*remarks, *(arriving[last].remarks if last in arriving else [])]
    if len(kept) > 1:
        which = f"the latest ({read_time(last)})" if read_time(last) else "the one that arrived last"
        remarks.append(f"There are {len(kept)} different tries, and {which} was graded.")
    return FolderHandIn(student, lab, last, remarks, read_time(last))


def list_files(folder):
    """Return name -> Path of all files in a folder that was kept, without nbgrader's timestamp.txt."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {name: path for name, path in names.items() if name != TIMESTAMP}


def is_notebook(name):
    """Whether a file of this name is a notebook."""
    return name.endswith(".ipynb")


def read_time(path):
    """Return the time in the name of a folder that was kept, "" where it has none."""
    return times.to_utc(path.name.rsplit(" ", 1)[0].replace(".", ":", 2))


def compute_digest(files):
    """Return a digest of name -> Path; of notebooks the cells count, so that a rewritten one is the same."""
    contents = {}
    for name, path in files.items():
        if is_notebook(name):
            notebook, _ = reading.read_hand_in(path)
            if notebook and notebook.cells:  # an empty one is written where there is none that can be graded
                contents[name] = [[cell.cell_type, cell.source, cell.metadata] for cell in notebook.cells]
        elif name != TIMESTAMP:
            contents[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()[:16]

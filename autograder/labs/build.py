"""Make the students' notebooks in labs/ from the text in solutions/.

A lab goes through nbgrader's own release step, so that nbgrader recognises what students receive. The bytes are the
same on every machine: no ids, versions or times of the run enter them.
"""

import tempfile
from pathlib import Path

import nbformat

from autograder.labs import converter, glossary, source
from course.errors import Problem
from course.files import write_whole
from course.student import stubs

STUB, ANSWER_STUB = stubs.CODE, stubs.ANSWER


def build_all():
    """Path in labs/ -> content (bytes) of every notebook that students receive."""
    built = build_index() | build_glossary()
    for name in source.lab_names():
        built |= build_lab(name, solved(name))
    return built


def build_index():
    """Path -> content of the index, nothing where there is no text for it."""
    index = source.SOLUTIONS / "index.py"
    return {source.LABS / "index.ipynb": to_bytes(source.read(index))} if index.exists() else {}


def build_glossary():
    """Path -> content of the glossary, nothing where there is no text for it."""
    page = glossary.make_page()
    return {} if page is None else {source.LABS / glossary.PAGE: to_bytes(page)}


def build_lab(name, solution):
    """Path -> content of the notebook that students receive of one lab."""
    return {source.LABS / name / f"{name}.ipynb": to_bytes(student_version(name, solution))}


def differences(built):
    """(paths of `built` that labs/ lacks or has with other content, files in labs/ that are not in `built`)."""
    stale = [path for path, content in built.items() if not path.exists() or path.read_bytes() != content]
    left_over = [path for path in sorted(source.LABS.glob("**/*")) if path.is_file() and path not in built]
    return stale, left_over


def write(built, paths):
    """Write the notebooks at `paths`, which are some of `built`."""
    for path in paths:
        write_whole(path, built[path])


def solved(name):
    """The notebook of lab `name` with its solutions and hidden tests."""
    path = source.SOLUTIONS / name / "lab.py"
    if not path.exists():
        raise Problem(f"there is no lab {name}; there are {', '.join(source.lab_names())}.")
    notebook = source.read(path)
    glossary.add_links(notebook, name)
    return notebook


def student_version(name, solution):
    """The notebook `solution` of lab `name` as nbgrader releases it: no solutions, no hidden tests."""
    with tempfile.TemporaryDirectory() as root:
        path = Path(root, "source", name, f"{name}.ipynb")
        path.parent.mkdir(parents=True)
        path.write_bytes(to_bytes(solution))
        release_step(Path(root), name)
        notebook = nbformat.read(Path(root, "release", name, f"{name}.ipynb"), as_version=4)
    notebook.metadata = nbformat.from_dict(source.METADATA)
    return notebook


def release_step(root, name, class_config=None, is_lab=True):
    """Run `nbgrader generate_assignment` for one lab of the course folder `root`.

    class_config: the configuration of a class, whose gradebook then learns of the lab; without it no database is
    touched. is_lab: whether it is one of the course's, which have stubs of their own; any other assignment gets
    nbgrader's, unless the class has set some. Raises Problem with nbgrader's reason.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    config = Config(class_config or {})
    config.GenerateAssignment.preprocessors = add_blanks(GenerateAssignment.preprocessors.default())
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.assignment_id = name
    config.GenerateAssignment.no_database = class_config is None
    config.SaveCells.enabled = class_config is not None
    if is_lab:
        config.ClearSolutions.code_stub = {"python": STUB}
        config.ClearSolutions.text_stub = ANSWER_STUB
    elif config.ClearSolutions.code_stub == {"python": STUB}:
        del config.ClearSolutions.code_stub
    try:
        converter.run(GenerateAssignment, CourseDirectory(config=config), config)
    except Problem as problem:
        raise Problem(f"nbgrader could not release {name}: {problem}") from problem


def add_blanks(steps):
    """nbgrader's `steps` of a release with KeepBlanks after the one that removes solutions."""
    from nbgrader.preprocessors import ClearSolutions

    from autograder.labs.blanks import KeepBlanks

    after = steps.index(ClearSolutions) + 1
    return [*steps[:after], KeepBlanks, *steps[after:]]


def to_bytes(notebook):
    """The notebook as it is written to disk: sorted keys, one space of indent, a final newline."""
    nbformat.validate(notebook)
    return (nbformat.writes(notebook, version=nbformat.NO_CONVERT).rstrip("\n") + "\n").encode()

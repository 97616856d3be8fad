"""Make the students' notebooks in labs/ from the text in solutions/.

A lab goes through nbgrader's own release step, so what students get is what nbgrader will recognise. The result is the
same bytes on every machine: no ids, versions or times of the run enter it.
"""

import tempfile
from pathlib import Path

import nbformat

from autograder.labs import converter, source
from course.errors import Problem

STUB = '# YOUR CODE HERE\nraise NotImplementedError("this task is still empty: replace this line by your own.")'
ANSWER_STUB = "YOUR ANSWER HERE"


def add_arguments(parser):
    parser.add_argument("--check", action="store_true", help="change nothing; fail where labs/ is out of step")


def run(args):
    """Build all labs, or compare them with what is there; returns 1 where --check finds a difference."""
    built = build_all()
    stale = [path for path, content in built.items() if not path.exists() or path.read_bytes() != content]
    left_over = [path for path in sorted(source.LABS.glob("**/*")) if path.is_file() and path not in built]
    if not args.check:
        for path in stale:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(built[path])
            print(f"built {path.relative_to(source.LABS.parent)}")
        for path in left_over:
            path.unlink()
            print(f"removed {path.relative_to(source.LABS.parent)}, which has no text in solutions/")
        if not stale and not left_over:
            print(f"labs/ is in step with solutions/ ({len(built)} notebooks).")
        return 0
    for path in stale + left_over:
        print(f"{path.relative_to(source.LABS.parent)} is not what solutions/ gives: run `course build`.")
    return 1 if stale or left_over else 0


def build_all():
    """Path in labs/ -> content (bytes) of every notebook that students get."""
    built = {}
    index = source.SOLUTIONS / "index.py"
    if index.exists():
        built[source.LABS / "index.ipynb"] = to_bytes(source.read(index))
    for name in source.lab_names():
        built[source.LABS / name / f"{name}.ipynb"] = to_bytes(student_version(name, solved(name)))
    return built


def solved(name):
    """The notebook of lab `name` with its solutions and hidden tests."""
    path = source.SOLUTIONS / name / "lab.py"
    if not path.exists():
        raise Problem(f"there is no lab {name}; there are {', '.join(source.lab_names())}.")
    return source.read(path)


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


def release_step(root, name, of_class=None):
    """`nbgrader generate_assignment` for one lab of the course folder `root`.

    of_class: the configuration of the class that this is, which has a gradebook; without it no database is touched.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    config = Config(of_class or {})
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.assignment_id = name
    config.GenerateAssignment.no_database = of_class is None
    config.SaveCells.enabled = of_class is not None
    config.ClearSolutions.code_stub = {"python": STUB}
    config.ClearSolutions.text_stub = ANSWER_STUB
    try:
        converter.run(GenerateAssignment, CourseDirectory(config=config), config)
    except Problem as problem:
        raise Problem(f"nbgrader could not release {name}: {problem}") from problem


def to_bytes(notebook):
    """The notebook as it is written to disk: sorted keys, one space of indent, a final newline."""
    nbformat.validate(notebook)
    return (nbformat.writes(notebook, version=nbformat.NO_CONVERT).rstrip("\n") + "\n").encode()

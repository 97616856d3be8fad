"""Writes the folder of a new lab from the template beside this file, and the lab's row in solutions/index.py."""

import re
from pathlib import Path

from autograder.labs import source
from course.errors import Problem
from course.files import write_whole

TEMPLATE = Path(__file__).parent / "template"
NAME = re.compile(r"\d\d(-[a-z0-9]+)+")
ROW = re.compile(r"^# \| \[\d\d .*\|$", re.MULTILINE)  # a lab in the index


def create_lab(name):
    """Write solutions/NAME/ and the row in the index; returns the folder.

    Raises Problem for a name that does not fit, a number that another lab has, a folder that exists, or an index
    without a table of labs; nothing is written then.
    """
    if not NAME.fullmatch(name):
        raise Problem(f"{name!r} is not a name for a lab: write two digits and words in small letters, as in 10-name.")
    folder = source.SOLUTIONS / name
    if folder.exists():
        raise Problem(f"solutions/{name} exists already: choose another name, or remove the folder.")
    taken = [lab for lab in source.lab_names() if lab[:2] == name[:2]]
    if taken:
        raise Problem(f"the number {name[:2]} is taken by {taken[0]}: choose another one.")
    index = source.SOLUTIONS / "index.py"
    with_row = add_row(index.read_text(encoding="utf-8"), name)
    for path in sorted(TEMPLATE.glob("**/*.*")):
        if path.suffix in (".py", ".toml"):
            write_whole(folder / path.relative_to(TEMPLATE), fill_in(path.read_text(encoding="utf-8"), name))
    write_whole(index, with_row)
    return folder


def add_row(text, name):
    """The text of the index with one more row, in the order of the labs' numbers."""
    rows = list(ROW.finditer(text))
    if not rows:
        raise Problem("solutions/index.py has no table of labs with rows such as `# | [01 Title](...) | ... |`.")
    number, title = name[:2], title_of(name)
    row = f"# | [{number} {title}]({name}/{name}.ipynb) | what students build here | 20 |"
    before = [match for match in rows if match[0][len("# | [") :][:2] < number]
    at = before[-1].end() if before else rows[0].start()
    return text[:at] + (f"\n{row}" if before else f"{row}\n") + text[at:]


def fill_in(text, name):
    """A file of the template with the lab's name, number and title."""
    return text.replace("NN-name", name).replace("Lab NN: TITLE", f"Lab {int(name[:2])}: {title_of(name)}")


def title_of(name):
    """A first title made from the name of a lab: 10-big-batches gives "Big batches"."""
    return name[3:].replace("-", " ").capitalize()

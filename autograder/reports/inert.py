"""What a hand-in may show on a page: the one place that decides, for everything in it, so that nothing of it acts.

    written answers and other Markdown   rendered and sanitised (answers.py); the text itself stays in the metadata
    code, raw cells, names, comments     shown as text: each page escapes them
    output as text, errors               shown as text, without control characters, truncated
    PNG, JPEG, GIF and WebP pictures     shown, once their bytes are what they claim to be
    any other output                     left out, and the page says so: HTML, SVG, JavaScript, LaTeX, widgets
    attachments                          shown where the answer names them and they are pictures, otherwise left out
    metadata of notebook, cell, output   left out, except for what the lab itself and nbgrader put there
    files beside the notebook            never served (gradebook/formgrader.py)

`make_inert` is the last step before a notebook is written into the class's autograded/, and the first one before
formgrader shows it. Works on notebooks in memory.
"""

import re

import nbformat

from autograder.labs import source
from autograder.reports import answers, render

MOST = 20_000  # characters of one output
NBGRADER = {  # what nbgrader may say about a cell -> the type that it has
    "grade_id": str, "grade": bool, "solution": bool, "locked": bool, "task": bool, "points": (int, float),
    "schema_version": int, "cell_type": str, "checksum": str,
}  # fmt: skip


def make_inert(notebook):
    """Replace everything in `notebook` by what may be shown of it; returns it. What is inert stays as it is."""
    course = notebook.metadata.get("course")
    remarks = course.get("remarks") if isinstance(course, dict) else None
    remarks = [str(remark) for remark in remarks] if isinstance(remarks, list) else []
    notebook.metadata = nbformat.from_dict(source.METADATA | {"course": {"remarks": remarks}})
    for number, cell in enumerate(notebook.cells):
        make_cell_inert(cell, f"cell-{number}")
    return notebook


def make_cell_inert(cell, name):
    """Replace everything in a cell by what may be shown of it. name: its id, if its own is none."""
    content, attachments = read_text(cell), cell.pop("attachments", None)
    is_rendered = is_inert(cell)
    cell.metadata = select_metadata(cell.metadata)
    if not isinstance(cell.get("id"), str) or not re.fullmatch(r"[\w-]{1,64}", cell.id):
        cell.id = name
    if cell.cell_type == "code":
        cell.outputs = [select_output(output) for output in cell.get("outputs", [])]
        cell.execution_count = None
        return
    if cell.cell_type != "markdown":  # a raw cell is written onto a page as it is
        cell.cell_type, cell.source = "markdown", "\n".join(f"    {line}" for line in content.split("\n"))
    if not is_rendered:
        cell.source = answers.render_answer(cell.source, attachments)
    cell.metadata["course"] = {"text": content}


def is_inert(cell):
    """Whether the source of a Markdown cell has been made inert. Tidying removes all metadata of students."""
    return cell.cell_type == "markdown" and isinstance(cell.metadata.get("course"), dict)


def read_text(cell):
    """Return what the student wrote in a cell, whether or not it has been made inert."""
    return str(cell.metadata["course"].get("text", "")) if is_inert(cell) else cell.source


def show_answer(cell):
    """Return a written answer as harmless HTML, whether or not it has been made inert."""
    return cell.source if is_inert(cell) else answers.render_answer(cell.source, cell.get("attachments"))


def select_metadata(metadata):
    """Return what stays of a cell's metadata."""
    kept, grading = {}, metadata.get("nbgrader")
    if isinstance(grading, dict) and re.fullmatch(r"[\w-]+", str(grading.get("grade_id"))):
        kept["nbgrader"] = {key: grading[key] for key, kind in NBGRADER.items() if isinstance(grading.get(key), kind)}
    if isinstance(metadata.get(source.EXTRA), int | float):
        kept[source.EXTRA] = metadata[source.EXTRA]
    if metadata.get("tags") == ["measure"]:
        kept["tags"] = ["measure"]
    return nbformat.from_dict(kept)


def select_output(output):
    """Return what is shown of an output, as an output."""
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return nbformat.v4.new_output("stream", name=name, text=render.clean(output.get("text", ""), MOST))
    if kind == "error":
        traceback = output.get("traceback")
        lines = [render.clean(line, MOST) for line in traceback] if isinstance(traceback, list) else []
        name, value = (render.clean(output.get(key, ""), MOST) for key in ("ename", "evalue"))
        return nbformat.v4.new_output("error", ename=name, evalue=value, traceback=lines)
    data, shown = output.get("data"), {}
    for mime, content in data.items() if isinstance(data, dict) else ():
        if picture := answers.read_picture(mime, content):
            shown[mime] = picture.partition(",")[2]
    if isinstance(data, dict) and isinstance(data.get("text/plain"), str):
        shown["text/plain"] = render.clean(data["text/plain"], MOST)
    elif not shown:
        kinds = ", ".join(map(str, data)) if isinstance(data, dict) else str(kind)
        shown["text/plain"] = render.clean(f"(not shown: output of type {kinds})", 200)
    return nbformat.v4.new_output("display_data", data=shown)

# tries: markup and scripts for the feedback page, in answers, names of cells and comments
# earns: add, descend, squares, total
# quick
# %% notebook
for cell in notebook.cells:
    if cell.id == "why":
        cell.source = (
            "<script>attacked()</script> <img src=x onerror=attacked()> [x](javascript:attacked()) "
            "![x](attachment:../../gradebook.db) <svg onload=attacked()> <iframe src=https://example.org></iframe> "
            "<style>.score::after { content: '7 of 7' }</style> $\\href{javascript:attacked()}{x}$\n\n```html\n<script>attacked()"
        )
        cell.attachments = {"x.png": {"text/html": "<script>attacked()</script>"}}
cell = nbformat.v4.new_code_cell("1 + 1", id="page")
cell.metadata["nbgrader"] = {
    "grade_id": "<script>attacked()</script>",
    "grade": True,
    "solution": True,
    "schema_version": 3,
}
notebook.cells.insert(0, cell)

# tries: a notebook with almost as much text as is read
# earns: add, descend, squares, total
# %% notebook
notebook.cells.append(nbformat.v4.new_markdown_cell("attacked " * 1_000_000, id="large"))

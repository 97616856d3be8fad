# tries: a notebook slightly smaller than 100 MB
# earns: add, descend, squares, total
# %% notebook
notebook.cells.append(nbformat.v4.new_markdown_cell("attacked " * 11_000_000, id="large"))

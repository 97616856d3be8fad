# tries: a notebook slightly smaller than 100 MB
# earns:
# said: hold more than 10 million characters
# %% notebook
notebook.cells.append(nbformat.v4.new_markdown_cell("attacked " * 11_000_000, id="large"))

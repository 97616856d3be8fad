# tries: almost as many cells as are read
# earns: add, descend, squares, total
# %% notebook
notebook.cells[:0] = [nbformat.v4.new_code_cell("pass", id=f"many-{number}") for number in range(1900)]

# tries: ten thousand cells
# earns:
# said: more than 2,000 cells
# quick
# %% notebook
notebook.cells[:0] = [nbformat.v4.new_code_cell("pass", id=f"many-{number}") for number in range(10_000)]

# tries: a folder instead of the notebook
# earns:
# quick
# %% folder
path = next(folder.glob("*.ipynb"))
path.unlink()
path.mkdir()

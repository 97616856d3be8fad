# tries: a pipe without a writer instead of the notebook and its time
# earns:
# quick
# %% folder
path = next(folder.glob("*.ipynb"))
path.unlink()
os.mkfifo(path)
os.mkfifo(folder / "timestamp.txt")

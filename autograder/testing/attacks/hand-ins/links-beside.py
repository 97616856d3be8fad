# tries: links, folders and pipes beside the notebook, with names that the grader looks for
# earns: add, descend, squares, total
# quick
# %% folder
(folder / "timestamp.txt").symlink_to("/etc/passwd")
(folder / "gradebook.db").symlink_to(f"{places['class']}/gradebook.db")
(folder / "nbgrader_config.py").write_text("raise SystemExit('attacked')")
(folder / "sitecustomize.py").write_text("raise SystemExit('attacked')")
(folder / "numpy.py").write_text("raise SystemExit('attacked')")
(folder / "others").symlink_to(folder.parent)
os.mkfifo(folder / "00-other.ipynb")

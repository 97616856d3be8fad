# tries: an endless stream of pictures, errors and pages
# earns: descend, squares, total
# %% add
from IPython.display import display


def add(x, y):
    while True:
        display({"text/html": "<script>attacked()</script>" * 1000, "image/png": "x" * 10_000}, raw=True)

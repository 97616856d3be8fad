# tries: cells of every wrong form
# earns:
# quick
# %% notebook
content = json.dumps(
    {
        "nbformat": 3,
        "worksheets": [7],
        "cells": [7, None, [], {"cell_type": 7, "source": {}}, {"source": [[[]]], "metadata": 7}],
    }
)

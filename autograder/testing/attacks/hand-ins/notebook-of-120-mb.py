# tries: a notebook larger than 100 MB
# earns:
# said: larger than 100 MB
# %% notebook
content = json.dumps({"cells": [], "metadata": {"x": "attacked " * 14_000_000}, "nbformat": 4, "nbformat_minor": 5})

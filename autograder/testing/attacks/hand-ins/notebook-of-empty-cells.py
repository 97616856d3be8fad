# tries: 60 MB of empty cells, which took minutes to read
# earns:
# said: more than 1,000,000 brackets
# quick
# %% notebook
content = '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [' + ",".join(["{}"] * 20_000_000) + "]}"

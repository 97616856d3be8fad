# tries: a notebook nested a million times
# earns:
# quick
# said: The file is not a notebook
# %% notebook
content = '{"cells": ' + "[" * 1_000_000 + "]" * 1_000_000 + "}"

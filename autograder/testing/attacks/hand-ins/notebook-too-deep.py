# tries: a notebook nested 900,000 times
# earns:
# quick
# said: The file is not a notebook
# %% notebook
content = '{"cells": ' + "[" * 900_000 + "]" * 900_000 + "}"

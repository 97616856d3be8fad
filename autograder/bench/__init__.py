"""Measurements of the course: one bench per module, run by `course bench NAME`.

The docstring of a bench says what it measures. `rows()` yields one dict per measurement as it is taken, and
`summary(rows)` makes one dict of them, whose `met` says whether the bounds hold. A bench never fails a run.
"""

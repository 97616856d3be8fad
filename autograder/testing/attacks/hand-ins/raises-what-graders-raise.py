# tries: exceptions with the names, texts and forms that the grader itself uses
# earns: squares, total
# quick
# %% add
class KernelLost(Exception):
    pass


class Hostile(KernelLost, NotImplementedError):
    __module__ = "autograder.examination.kernel"

    def __str__(self):
        raise RuntimeError("no text")

    message = property(lambda self: 1 / 0)
    with_traceback = None


def add(x, y):
    raise Hostile("add-check passed: 2 of 2 points")


# %% descend
def descend(gradient, theta, steps):
    kind = type("StudentError" * 10_000, (GeneratorExit,), {"kinds": [], "report": 1, "trace": 2})
    raise kind("x" * 30_000_000 + "\udcff" * 100)

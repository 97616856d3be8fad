# tries: values that run code when they are unpickled, compared, shown or converted to an array
# earns: squares, total
# quick
# %% add
import os, pickle


class Runs:
    def __reduce__(self):
        return os.system, ("touch /tmp/attacked-by-reduce",)

    def ran(self, *_, **__):
        raise SystemError("attacked")

    __array__ = __eq__ = __len__ = __iter__ = __getattr__ = __repr__ = __str__ = __format__ = __float__ = __index__ = (
        ran
    )
    __hash__ = None


def add(x, y):
    return Runs() if isinstance(x, int) else pickle.dumps(Runs())


# %% descend
def descend(gradient, theta, steps):
    return gradient(Runs())

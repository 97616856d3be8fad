# tries: engines that are functions of the kernel, which know the inputs of all ranks
# lab: 04-collectives
# fakes: in-order, average-gradient
# %% own
import course.cluster as cluster
import course.spmd as module


class Engines(list):
    def __getattr__(self, name):
        return lambda *_, **__: None


def run(kind, function, args, kwargs, *rest):
    honest = dict(globals())
    for source in sources.values():
        exec(source, honest)
    return module._run_simulated(module.Simulated(), honest[function.__name__], args, kwargs, 10, ())


cluster.start = cluster.running = lambda *_, **__: Engines(range(4))
module._run_on_engines = run


# %% in-order
def in_order(comm):
    return list(range(comm.size))


# %% average-gradient
def average_gradient(comm, X, y, theta, **_):
    return theta

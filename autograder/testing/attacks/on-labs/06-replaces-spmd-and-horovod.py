# tries: runs made by the kernel's own spmd, with functions that work in place of those that do nothing
# lab: 06-data-parallel
# fakes: hello, average-parameters, horovod-train
# %% own
import course.horovod
import course.spmd as module

real = module.spmd


def fake(function, *args, **named):
    honest = dict(globals())
    for source in sources.values():
        exec(source, honest)
    named = {name: honest.get(value.__name__, value) if callable(value) else value for name, value in named.items()}
    return real(honest.get(function.__name__, function), *args, **named)


module.spmd = spmd = fake
course.horovod.start = lambda *_, **__: None


# %% hello
def hello(comm):
    return [comm.rank, comm.size, 0.0]


# %% average-parameters
def average_parameters(model):
    pass


# %% horovod-train
def horovod_train(comm, w, X, y, gamma, steps, pin=None):
    return numbers(line(w))

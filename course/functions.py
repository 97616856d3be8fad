"""How functions of a notebook travel to engines, and where they find the names that they use.

A function takes along what it uses of the notebook: cloudpickle puts that into the pickle. A name that the notebook
does not have is looked up on the engine each time it is used, first in the engine's user namespace and then among
Python's builtins. No function sees what another call took along. A name that a function declares `global` and assigns
is assigned in the engine's user namespace when the function ends, as with ipyparallel's own functions.

Python looks for a global name in a function's `__globals__` and then in its `__builtins__`, which may be a dict with
`__missing__`. Such a dict is slower, so only functions that need one get one. This module knows pickles; it changes
nothing but the engine's user namespace, as described above.
"""

import builtins
import dis
import io
import pickle
import sys
from functools import update_wrapper
from types import CodeType, FunctionType

import cloudpickle
from cloudpickle import cloudpickle as private  # _extract_code_globals and _function_setstate, read from 3.1.2

loads = pickle.loads
# Builtins whose answer depends on the namespace, so that a function which uses one must see the engine's.
NAMESPACE_BUILTINS = {"eval", "exec", "globals", "get_ipython"}
NOTEBOOKS_OWN = {"exit", "get_ipython", "quit"}  # IPython's, which cannot travel: the engine has others


class NeedsEngine(Exception):
    """A function uses a name that its notebook does not have."""


class FunctionPickler(cloudpickle.Pickler):
    """Pickles functions of the notebook. Use it through `dump`.

    asks_engine: whether functions look for names on the engine. Otherwise a function that must raises NeedsEngine.
    keeps_assignments: whether what functions assign to global names lasts on the engine.
    """

    keeps_assignments = True

    def __init__(self, file, protocol, buffer_callback, asks_engine):
        super().__init__(file, protocol, buffer_callback)
        self.asks_engine = asks_engine

    def _dynamic_function_reduce(self, function):
        make, args, (state, slots), *middle, set_state = super()._dynamic_function_reduce(function)
        names, brought = set(private._extract_code_globals(function.__code__)), slots["__globals__"]
        for name in NOTEBOOKS_OWN & brought.keys():
            if _is_from_ipython(name, brought[name]):
                del brought[name]
        assigned = _list_assigned(function.__code__) if self.keeps_assignments else set()
        if self.asks_engine:
            assigned = {name: name in brought for name in sorted(assigned)}
            return make_function, (*args, assigned), (state, slots), *middle, set_function_state
        missing = names - brought.keys()
        if assigned or missing & NAMESPACE_BUILTINS or missing - vars(builtins).keys():
            raise NeedsEngine
        return make, args, (state, slots), *middle, set_state


def dump(value, protocol=None, make_pickler=FunctionPickler):
    """Return (the pickle in a BytesIO, list of its out-of-band buffers, which only protocol 5 has)."""
    for asks_engine in (False, True):  # for all functions of a pickle alike: they may share their globals
        file, buffers = io.BytesIO(), []
        try:
            make_pickler(file, protocol, buffers.append if protocol == 5 else None, asks_engine).dump(value)
            break
        except NeedsEngine:
            pass
    return file, buffers


def dumps(value, protocol=None):
    """Return the pickle of `value` as bytes, at cloudpickle's protocol: `protocol` is there for pickle's callers."""
    return dump(value)[0].getvalue()


def make_function(code, namespace, name, defaults, closure, assigned):
    """Return a function that finds names on the engine, without its state. Called when a pickle is loaded.

    assigned: global name that it assigns -> whether it took along a value for that name.
    """
    namespace["__builtins__"] = EngineBuiltins()
    function = FunctionType(code, namespace, name, defaults, closure)
    return _keep_assignments(function, assigned) if assigned else function


def set_function_state(function, state):
    """Give a new function what it took along, its name, its defaults and so on."""
    inner = getattr(function, "__wrapped__", function)
    lookup = inner.__globals__["__builtins__"]
    private._function_setstate(inner, state)
    inner.__globals__["__builtins__"] = lookup
    if inner is not function:
        update_wrapper(function, inner)


class EngineBuiltins(dict):
    """The `__builtins__` of a function that finds names on its engine.

    namespace: the engine's user namespace.
    """

    def __init__(self):
        super().__init__(__import__=__import__)  # an import statement does not ask `__missing__`
        self.namespace = _find_user_namespace()

    def __missing__(self, name):
        if name == "globals":
            return lambda: self.namespace
        return self.namespace[name] if name in self.namespace else vars(builtins)[name]


def _keep_assignments(function, assigned):
    """Wrap a function: when it ends, what it assigned to these global names is in the user namespace."""

    def call(*args, **kwargs):
        own = function.__globals__
        try:
            return function(*args, **kwargs)
        finally:
            for name, is_brought in assigned.items():
                if name in own:
                    own["__builtins__"].namespace[name] = own[name] if is_brought else own.pop(name)

    call.__wrapped__ = function
    return call


def _list_assigned(code):
    """The set of global names that a function with this code assigns, or a function inside it."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_GLOBAL"}
    return names.union(*(_list_assigned(each) for each in code.co_consts if isinstance(each, CodeType)))


def _find_user_namespace():
    """The namespace of `%px` on an engine, of the cells in a notebook, and of the program where there is no IPython."""
    shell = _find_shell()
    return shell.user_ns if shell else vars(sys.modules["__main__"])


def _is_from_ipython(name, value):
    """Whether the notebook has this from IPython, not from a cell."""
    shell = _find_shell()
    return shell is not None and shell.user_ns_hidden.get(name) == value


def _find_shell():
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None

"""What an ordinary ipyparallel notebook does, on our engines and on ipyparallel's own: the same lines are printed.

Each cell runs in a notebook's kernel that has `view`, a blocking view of two engines, and `rc`, their client. The line
that a cell must print is what ipyparallel 9.2.0 prints with its own engines, as a test of the long tier confirms.
"""

import pytest

from autograder.testing.kernels import NotebookKernel

IDIOMS = {
    "a function sees a variable of px": ("%px b = 7\nprint(view.apply_sync(lambda x: x + b, 1))", "[8, 8]"),
    "an asynchronous call sees it too": (
        "%px b = 7\nprint(view.apply_async(lambda x: x + b, 1).get())",
        "[8, 8]",
    ),
    "a mapped function sees a variable": (
        "view['factor'] = 3\nprint(view.map_sync(lambda x: factor * x, range(4)))",
        "[0, 3, 6, 9]",
    ),
    "a load-balanced view's function sees a variable": (
        "view['b'] = 7\nlv = rc.load_balanced_view()\n"
        "print(lv.apply_sync(lambda: b), lv.map_sync(lambda x: x + b, [1, 2]))",
        "7 [8, 9]",
    ),
    "a function inside a function sees a variable": (
        "view['b'] = 7\ndef outer(x):\n    def inner():\n        return b + x\n    return [inner() for _ in range(2)]\n"
        "print(view.apply_sync(outer, 1))",
        "[[8, 8], [8, 8]]",
    ),
    "a function uses a module that px imported": (
        "%px import math as maths\nprint(view.apply_sync(lambda: maths.sqrt(16)))",
        "[4.0, 4.0]",
    ),
    "a function uses a function that px defined": (
        "%px def double(x): return 2 * x\nprint(view.apply_sync(lambda: double(4)))",
        "[8, 8]",
    ),
    "a function uses parts that were scattered": (
        "view.scatter('part', range(6))\nprint(view.apply_sync(lambda: sum(part)))",
        "[3, 12]",
    ),
    "a global assignment lasts": (
        "def prepare():\n    global state\n    state = [1]\nview.apply_sync(prepare)\n"
        "view.apply_sync(lambda: state.append(2))\nprint(view['state'])",
        "[[1, 2], [1, 2]]",
    ),
    "a global counter counts": (
        "%px count = 0\ndef increase():\n    global count\n    count += 1\n    return count\n"
        "print(view.apply_sync(increase), view.apply_sync(increase), view['count'])",
        "[1, 1] [2, 2] [2, 2]",
    ),
    "globals are the engine's": (
        "view['b'] = 7\nprint(view.apply_sync(lambda name: globals()[name], 'b'))",
        "[7, 7]",
    ),
    "a function asks IPython": (
        "view['b'] = 7\nprint(view.apply_sync(lambda: get_ipython().user_ns['b']))",
        "[7, 7]",
    ),
    "eval finds the engine's variables": ("view['b'] = 7\nprint(view.apply_sync(lambda: eval('b + 1')))", "[8, 8]"),
    "a name that is nowhere is a NameError": (
        "try:\n    view.apply_sync(lambda: nowhere)\nexcept Exception as error:\n    print(error.elist[0][:2])",
        "('NameError', \"name 'nowhere' is not defined\")",
    ),
    "push and pull": (
        "view.push(dict(a=1, c='x'))\nprint(view.pull('a'), view.pull(['a', 'c']))",
        "[1, 1] [[1, 'x'], [1, 'x']]",
    ),
    "item assignment": ("view['a'] = [1, 2]\nprint(view['a'])", "[[1, 2], [1, 2]]"),
    "update and get": ("view.update({'a': 5})\nprint(view.get('a'))", "[5, 5]"),
    "a pushed function is called by px": (
        "view['scale'] = 10\nview['f'] = lambda x: x * scale\n%px y = f(2)\nprint(view['y'])",
        "[20, 20]",
    ),
    "scatter, px and gather": (
        "view.scatter('x', range(8))\n%px y = [i**2 for i in x]\nprint(view.gather('y'))",
        "[0, 1, 4, 9, 16, 25, 36, 49]",
    ),
    "scatter of single elements": ("view.scatter('rank', rc.ids, flatten=True)\nprint(view['rank'])", "[0, 1]"),
    "arrays travel": (
        "import numpy as np\nview.scatter('x', np.arange(6.0))\n"
        "print(view.apply_sync(lambda: float(x.sum())), view['x'][1])",
        "[3.0, 12.0] [3. 4. 5.]",
    ),
    "a reference": (
        "import ipyparallel as ipp\nview['a'] = 4\nprint(view.apply_sync(lambda x: x + 1, ipp.Reference('a')))",
        "[5, 5]",
    ),
    "execute": ("view.execute('c = 3 * 4')\nprint(view['c'])", "[12, 12]"),
    "execute on one engine": ("view.execute('c = 1')\nrc[1].execute('c = 2', block=True)\nprint(view['c'])", "[1, 2]"),
    "px prints": ("%px print(6 * 7)", "[stdout:0] 42\n[stdout:1] 42"),
    "px without blocking": (
        "ar = get_ipython().run_cell_magic('px', '--noblock', 'z = 5')\nar.get()\nprint(view['z'])",
        "[5, 5]",
    ),
    "the result of px": (
        "get_ipython().run_cell_magic('px', '--noblock', 'print(5)').wait()\n%pxresult",
        "[stdout:0]\n5\n[stdout:1]\n5",
    ),
    "px on some targets": (
        "%px t = 0\nget_ipython().run_cell_magic('px', '--targets 1', 't = 1')\nprint(view['t'])",
        "[0, 1]",
    ),
    "px here too": ("get_ipython().run_cell_magic('px', '--local', 'both = 3')\nprint(both)", "3"),
    "an error of px names the engine": (
        "try:\n    view.execute('1 / 0')\nexcept Exception as error:\n    print([each[0] for each in error.elist])",
        "['ZeroDivisionError', 'ZeroDivisionError']",
    ),
    "a parallel function": (
        "view['b'] = 7\n@view.parallel(block=True)\ndef add(xs):\n    return [x + b for x in xs]\nprint(add(range(4)))",
        "[7, 8, 9, 10]",
    ),
    "a remote function": (
        "view['b'] = 7\n@view.remote(block=True)\ndef remote_b(x):\n    return x * b\nprint(remote_b(2))",
        "[14, 14]",
    ),
    "required modules": (
        "import ipyparallel as ipp\n@ipp.require('json')\ndef dump(x):\n    return json.dumps(x)\n"
        "print(view.apply_sync(dump, [1]), rc.load_balanced_view().apply_sync(dump, [2]))",
        "['[1]', '[1]'] [2]",
    ),
    "a task that depends": (
        "import ipyparallel as ipp\nview['kind'] = 'a'\nrc[1].push({'kind': 'b'}, block=True)\n"
        "@ipp.depend(lambda wanted: kind == wanted, 'b')\ndef which():\n    return kind\n"
        "print([rc.load_balanced_view().apply_sync(which) for _ in range(3)])",
        "['b', 'b', 'b']",
    ),
    "imports on both sides": (
        "with view.sync_imports(quiet=True):\n    import colorsys\nprint(view.apply_sync(lambda: colorsys.__name__))",
        "['colorsys', 'colorsys']",
    ),
    "a selection of engines": (
        "print(rc.ids, rc[:], rc[::2].apply_sync(lambda: 1), rc[-1].apply_sync(lambda: 2))",
        "[0, 1] <DirectView [0, 1]> [1] 2",
    ),
    "a result by its message id": (
        "import time\nar = view.apply_async(lambda: 3)\nids = ar.msg_ids\nar.get()\n"
        "time.sleep(0.5)  # the controller hears of it later\nprint(rc.get_result(ids).get())",
        "[3, 3]",
    ),
    "a result by its place in the history": ("view.apply_sync(lambda: 4)\nprint(view.get_result(-1).get())", "4"),
    "the display of a result": (
        "ar = view.apply_async(lambda: 6)\nar.wait()\nprint(repr(ar), ar.successful(), ar.ready(), ar.engine_id)",
        "<AsyncResult(<lambda>): finished> True True [0, 1]",
    ),
    "output of a function": (
        "ar = view.apply_async(print, 'hello')\nar.wait_for_output()\nar.get()\nprint(ar.stdout)",
        "['hello\\n', 'hello\\n']",
    ),
    "an unordered map": (
        "lv = rc.load_balanced_view()\nprint(sorted(lv.map_async(lambda x: x * x, range(5), ordered=False)))",
        "[0, 1, 4, 9, 16]",
    ),
    "an executor": ("print(list(rc.executor().map(lambda x: -x, range(3))))", "[0, -1, -2]"),
    "clear empties the namespaces": (
        "view['a'] = 1\nrc.clear(block=True)\n"
        "try:\n    view['a']\nexcept Exception as error:\n    print(error.elist[0][0])",
        "NameError",
    ),
    "autopx": ("%autopx", "%autopx enabled"),
    "a cell under autopx": ("automatic = 9", ""),
    "an error under autopx": ("1 / 0", "2 errors"),
    "autopx off": ("%autopx", "%autopx disabled"),
    "what autopx did is there": ("print(view['automatic'])", "[9, 9]"),
    "the engines' queues": ("print(rc.queue_status()['unassigned'], rc.queue_status()[0]['queue'])", "0 0"),
    "a resubmitted task": (
        "ar = rc.load_balanced_view().apply_async(lambda: 8)\nar.get()\nprint(rc.resubmit(ar.msg_ids).get())",
        "[8]",
    ),
    "a query of the database": (
        "ar = view.apply_async(lambda: 8)\nar.get()\nprint(len(rc.db_query({'msg_id': {'$in': ar.msg_ids}})))",
        "2",
    ),
    "purged results": ("rc.purge_everything()\nprint(len(rc.db_query({})), len(rc.results))", "0 0"),
    "a coalescing broadcast": (
        "bv = rc.broadcast_view(is_coalescing=True)\nbv.block = True\nprint(bv.apply(lambda: 3))",
        "[3, 3]",
    ),
    "activate returns a view": ("print(rc.activate())", "<DirectView all>"),
}

OURS = "from course import cluster\nview = cluster.start(2)\nrc = view.client"
STOCK = """import ipyparallel as ipp
cluster = ipp.Cluster(n=2, controller_args=["--HeartMonitor.period=200"])
rc = cluster.start_and_connect_sync(activate=False)
view = rc[:]
view.block = True
view.activate()"""


def start_kernel(start, end, folder):
    kernel = NotebookKernel(folder)
    try:
        kernel.run(start)
        yield kernel
        kernel.run(end)
    finally:
        kernel.close()


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    yield from start_kernel(OURS, "cluster.stop()", tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    yield from start_kernel(STOCK, "cluster.stop_cluster_sync()", tmp_path_factory.mktemp("stock"))


@pytest.mark.parametrize("idiom", IDIOMS)
def test_our_engines_print_what_ipyparallels_own_print(ours, idiom):
    assert_prints(ours, *IDIOMS[idiom])


@pytest.mark.long
@pytest.mark.parametrize("idiom", IDIOMS)
def test_ipyparallels_own_engines_print_it(stock, idiom):
    assert_prints(stock, *IDIOMS[idiom])


def assert_prints(kernel, code, wanted):
    """Run a cell; its output, of which the engines' parts come in any order, must be `wanted`, or an error with it."""
    output = "".join(text for _, text in kernel.run(code))  # one line may come in several parts
    lines = [line.strip() for line in output.strip().splitlines()]
    if wanted.endswith("errors"):
        assert any(line.startswith(wanted) for line in lines)
    else:
        assert sorted(lines) == sorted(wanted.splitlines())

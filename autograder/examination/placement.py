"""Tells which checks of an assignment have to run inside the student's kernel.

Checks of the course's own labs are written for the grader's process and always run there. Checks of any other nbgrader
assignment may do whatever a cell can do. The grader's process has copies of plain values, so a check runs there only if
it does nothing but call functions of the notebook with values of its own, and compare what they return. Every other
check runs inside the kernel, as nbgrader runs it: for example one that changes the student's names, uses what another
cell defined, looks at what a call did to its arguments, or gives part of its points by its last expression. The text of
the assignment alone decides, never the hand-in. Works on texts; runs nothing.
"""

import ast
import builtins
import symtable

MODULES = {"cmath", "itertools", "math", "numpy", "numpy.testing", "string"}  # their functions have no effects
RANDOM = "random"  # numpy.random has: its seed would not be the kernel's
FUNCTIONS = {
    "abs", "all", "any", "bool", "bytes", "complex", "dict", "divmod", "enumerate", "filter", "float", "format",
    "frozenset", "int", "isinstance", "len", "list", "map", "max", "min", "pow", "print", "range", "repr", "reversed",
    "round", "set", "slice", "sorted", "str", "sum", "tuple", "type", "zip",
}  # fmt: skip
ERRORS = {name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)}
STATEMENTS = (
    ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Expr, ast.For, ast.If, ast.Import,
    ast.ImportFrom, ast.Pass, ast.Raise, ast.Try, ast.While,
)  # fmt: skip
EXPRESSIONS = (
    ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.Dict, ast.DictComp,
    ast.FormattedValue, ast.GeneratorExp, ast.IfExp, ast.JoinedStr, ast.List, ast.ListComp, ast.Name, ast.Set,
    ast.SetComp, ast.Slice, ast.Starred, ast.Subscript, ast.Tuple, ast.UnaryOp,
)  # fmt: skip


def list_functions(cells):
    """Return the names of the functions that the texts `cells` define; a text that is not plain Python has none."""
    trees = filter(None, map(parse, cells))
    return {node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)}


def needs_kernel(check, functions, cells, checks):
    """Whether the text `check` has to run inside the student's kernel.

    functions: the names of functions that it may call from outside. cells, checks: the texts of all other cells of the
    notebook, and of all other checks.
    """
    tree = parse(check)
    if tree is None:
        return True
    nodes = list(ast.walk(tree))
    modules = {alias.asname or alias.name.partition(".")[0] for node in nodes for alias in list_aliases(node)}
    bound = {node.id for node in nodes if is_name(node) and isinstance(node.ctx, ast.Store)}
    bound |= {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    calls = [node for node in nodes if isinstance(node, ast.Call) and is_name(node.func, functions)]
    given = list_bound_names(cells)
    return (
        not all(map(is_harmless, nodes))
        or not (bound | modules).isdisjoint(list_free_names([*cells, *checks]))
        or not bound.isdisjoint(given)
        or not given.isdisjoint((FUNCTIONS | ERRORS) & set(find_loaded(nodes, set())))  # outside, Python's are found
        or not set(find_loaded(nodes, {id(call.func) for call in calls})) <= bound | modules | FUNCTIONS | ERRORS
        or any(isinstance(node, ast.Attribute) and find_root(node) not in modules for node in nodes)
        or any(passes_any_of(call, bound - list_counters(nodes)) for call in calls)
        or may_show_number(tree)
    )


def parse(text):
    """Return the syntax tree of plain Python, None for any other text."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def is_name(node, names=None):
    """Whether a node is a name, and one of `names` if there are any."""
    return isinstance(node, ast.Name) and (names is None or node.id in names)


def is_harmless(node):
    """Whether a node is one of those whose effect stays within the check."""
    if isinstance(node, ast.ImportFrom):
        names = {alias.name for alias in node.names}
        return node.module in MODULES and not node.level and names.isdisjoint({"*", RANDOM})
    if isinstance(node, ast.Import):
        return all(alias.name in MODULES for alias in node.names)
    if isinstance(node, ast.Attribute):
        return node.attr != RANDOM and not node.attr.startswith("_") and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.stmt):
        return isinstance(node, STATEMENTS)
    return not isinstance(node, ast.expr) or isinstance(node, EXPRESSIONS)


def find_root(node):
    """Return the name that a chain of attributes begins with; None where it begins with something else."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if is_name(node) else None


def list_aliases(node):
    """Return what an import binds, as ast.alias; [] for any other node."""
    return node.names if isinstance(node, ast.Import | ast.ImportFrom) else []


def find_loaded(nodes, called):
    """Yield the names that are read. called: ids of those nodes that are only called."""
    for node in nodes:
        if is_name(node) and isinstance(node.ctx, ast.Load) and id(node) not in called:
            yield node.id


def list_counters(nodes):
    """Return the names that only count: targets of `for NAME in range(...)`."""
    loops = [node for node in nodes if isinstance(node, ast.For | ast.comprehension) and is_name(node.target)]
    counters = {
        loop.target.id for loop in loops if isinstance(loop.iter, ast.Call) and is_name(loop.iter.func, {"range"})
    }
    stored = [node.id for node in nodes if is_name(node) and isinstance(node.ctx, ast.Store)]
    return {name for name in counters if stored.count(name) == sum(loop.target.id == name for loop in loops)}


def passes_any_of(call, names):
    """Whether one of the names appears in the arguments of a call, which could change its value."""
    arguments = [*call.args, *call.keywords]
    return any(is_name(node, names) for argument in arguments for node in ast.walk(argument))


def may_show_number(tree):
    """Whether the value of the last line may be a number, which nbgrader takes for the points."""
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or (isinstance(last.value, ast.Constant) and isinstance(last.value.value, str)):
        return False
    function = last.value.func if isinstance(last.value, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name != "print" and not name.startswith("assert")


def list_free_names(cells):
    """Return the names that each of the texts may take from another cell."""
    return {
        symbol.get_name()
        for cell in cells
        for symbol in list_symbols(cell)
        if symbol.is_referenced() and not (symbol.is_assigned() or symbol.is_imported())
    }


def list_bound_names(cells):
    """Return the names that the texts give a value other than a module."""
    return {symbol.get_name() for cell in cells for symbol in list_symbols(cell) if symbol.is_assigned()}


def list_symbols(cell):
    """Return the global symbols of a text of Python, in functions too; magics count as empty lines."""
    lines = ["pass" if line.startswith(("%", "!")) else line for line in cell.splitlines()]
    try:
        pending = [symtable.symtable("\n".join(lines), "cell", "exec")]
    except (SyntaxError, ValueError, RecursionError):
        return []
    symbols = []
    while pending:
        table = pending.pop()
        pending += table.get_children()
        symbols += [each for each in table.get_symbols() if table.get_type() == "module" or each.is_global()]
    return symbols

"""Mutants of an answer: copies with one small change each, to see whether the checks of its task notice.

The operators are the usual ones (Jia and Harman, "An analysis and survey of the development of mutation testing", IEEE
TSE 37(5), 2011), and those for mistakes that arrays and ranks invite: an argument changed in place, a copy dropped, a
rounded result, the global random generator, the sum for the mean, rank 0 as everybody's root. Runs nothing.
"""

import ast
import copy
from typing import NamedTuple

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
}  # fmt: skip
NAMES = {
    "sum": "mean", "mean": "sum", "min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin",
    "zeros": "ones", "ones": "zeros", "floor": "ceil", "ceil": "floor", "all": "any", "any": "all",
}  # fmt: skip
UFUNCS = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
COPIES = {"copy", "deepcopy", "array", "list", "clone", "detach", "empty_like", "zeros_like"}
DRAWS = {"permutation", "shuffle", "choice", "integers", "normal", "standard_normal", "uniform", "random"}
NO_CHANGE = "the mutant changes nothing"  # raised by one that finds only when it runs that it does not apply
PREAMBLE = f"""\
import numpy as _numpy


def _rounded(value, dtype):
    if getattr(value, "dtype", None) == "float64":
        return value.astype(dtype)
    if type(value) is float:
        return dtype(value)
    raise TypeError({NO_CHANGE!r})


def _array(value):
    if isinstance(value, int | float | complex | str | tuple | _numpy.generic):
        raise TypeError({NO_CHANGE!r})
    return value


"""


class Mutant(NamedTuple):
    """A changed answer. operator: what kind of change. before, after: the statement that differs, on one line each."""

    operator: str
    before: str
    after: str
    source: str


def make_mutants(source):
    """Return all Mutants of the text of a cell, in the order of its lines; no two have the same text."""
    tree = ast.parse(source)
    seen, mutants = {ast.unparse(tree)}, []
    for statement in [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]:
        before = _first_line(statement)
        for parent, field, index, node in _own_nodes(statement, tree):
            for operator in OPERATORS:
                for changed in operator(node):
                    _put(parent, field, index, changed)
                    text = ast.unparse(ast.fix_missing_locations(tree))
                    after = _first_line(changed if node is statement else statement)
                    _put(parent, field, index, node)
                    if text not in seen:
                        seen.add(text)
                        mutants.append((statement.lineno, Mutant(operator.__name__, before, after, PREAMBLE + text)))
    return [mutant for _, mutant in sorted(mutants, key=lambda pair: pair[0])]


def _own_nodes(statement, tree):
    """Yield (parent, field, index, node) for a statement and its expressions, without the statements inside it."""
    for parent in ast.walk(tree):
        for field, index, node in _children(parent):
            if node is statement:
                yield parent, field, index, node
    waiting = [statement]
    while waiting:
        parent = waiting.pop()
        for field, index, node in _children(parent):
            if not isinstance(node, ast.stmt):
                yield parent, field, index, node
                waiting.append(node)


def _children(parent):
    for field, value in ast.iter_fields(parent):
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.AST):
                yield field, index, node


def _put(parent, field, index, node):
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _first_line(node):
    return ast.unparse(ast.fix_missing_locations(node)).splitlines()[0]


def _with(node, **fields):
    """Return a copy of `node` with other fields."""
    changed = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _expression(text, **values):
    """Return the expression `text`, in which the names of `values` stand for nodes."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node):
            return values.get(node.id, node)

    return Fill().visit(ast.parse(text, mode="eval").body)


def off_by_one(node):
    """A number, the end of a range, and the bounds of a slice, one more or less."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield from (_with(node, value=node.value + step) for step in (1, -1))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        end = 0 if len(node.args) == 1 else 1
        yield _with(node, args=[*node.args[:end], _expression("x - 1", x=node.args[end]), *node.args[end + 1 :]])
    if isinstance(node, ast.Slice):
        if node.lower:
            yield _with(node, lower=_expression("x + 1", x=node.lower))
        if node.upper:
            yield _with(node, upper=_expression("x - 1", x=node.upper))


def swapped_comparison(node):
    """The boundary included or left out, and == for !=."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        yield _with(node, ops=[COMPARISONS[type(node.ops[0])]()])


def swapped_arithmetic(node):
    """Another operator between two numbers, and `and` for `or`."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield _with(node, op=ARITHMETIC[type(node.op)]())
    if isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())


def dropped_line(node):
    """A statement that is missing."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Expr | ast.Assign | ast.AugAssign) and not is_text:
        yield ast.Pass()


def fixed_condition(node):
    """A condition that always holds, or never."""
    if isinstance(node, ast.If | ast.IfExp):
        yield from (_with(node, test=ast.Constant(value)) for value in (True, False))


def dropped_sign(node):
    """A minus or a `not` that is missing."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield node.operand


def in_place(node):
    """An array that is changed although a new one was wanted."""
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Name) and type(node.op) in UFUNCS:
        yield _expression(f"_numpy.{UFUNCS[type(node.op)]}(x, y, out=x)", x=node.left, y=node.right)


def out_of_place(node):
    """A new array although the given one was to be changed. With a number it would be the same."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        value = ast.BinOp(_expression(f"_array({node.target.id})"), node.op, node.value)
        yield ast.Assign([node.target], value, lineno=node.lineno)


def rounded(node):
    """A returned number or array with fewer digits."""
    if isinstance(node, ast.Return) and node.value:
        for dtype in ("float32", "float16"):
            yield _with(node, value=_expression(f"_rounded(value, _numpy.{dtype})", value=node.value))


def dropped_copy(node):
    """The array itself in place of a copy, or of a new array of its shape."""
    if not isinstance(node, ast.Call):
        return
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name in COPIES and node.args:
        yield node.args[0]
    elif name in COPIES and isinstance(node.func, ast.Attribute):
        yield node.func.value


def other_generator(node):
    """The global random generator for the one that was passed, and seed 0 for the seed that was passed."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    if node.func.attr in DRAWS and isinstance(node.func.value, ast.Name):
        yield _with(node, func=ast.Attribute(_expression("_numpy.random"), node.func.attr, ast.Load()))
    if node.func.attr in ("default_rng", "manual_seed") and node.args:
        yield _with(node, args=[ast.Constant(0)])


def other_function(node):
    """The sum for the mean, the smallest for the largest, and so on."""
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield _with(node, attr=NAMES[node.attr])
    if isinstance(node, ast.Name) and node.id in NAMES and isinstance(node.ctx, ast.Load):
        yield ast.Name("sum" if node.id in ("mean",) else NAMES[node.id], ast.Load())


def swapped_arguments(node):
    """The first two arguments of a call in the other order."""
    if isinstance(node, ast.Call) and len(node.args) >= 2:
        yield _with(node, args=[node.args[1], node.args[0], *node.args[2:]])


def dropped_keyword(node):
    """A keyword argument that is missing, but for zip's `strict`, which only guards against mistakes."""
    if isinstance(node, ast.Call):
        for number in range(len(node.keywords)):
            if node.keywords[number].arg == "strict":
                continue
            yield _with(node, keywords=node.keywords[:number] + node.keywords[number + 1 :])


def rank_0(node):
    """Rank 0 for this rank, and for the root."""
    is_rank = isinstance(node, ast.Attribute) and node.attr == "rank"
    is_root = isinstance(node, ast.Name) and node.id == "root"
    if (is_rank or is_root) and isinstance(node.ctx, ast.Load):
        yield ast.Constant(0)


OPERATORS = (
    off_by_one,
    swapped_comparison,
    swapped_arithmetic,
    dropped_line,
    fixed_condition,
    dropped_sign,
    in_place,
    out_of_place,
    rounded,
    dropped_copy,
    other_generator,
    other_function,
    swapped_arguments,
    dropped_keyword,
    rank_0,
)

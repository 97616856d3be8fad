"""Finds large literals in an entry's code: numbers or text that may be a remembered answer.

A literal proves nothing, but a person should read the code around it. Functions of text: nothing is read or run.
"""

import ast

from IPython.core.inputtransformer2 import TransformerManager

LITERAL = 256  # numbers or characters that may stand in code; larger literals are reported


def find_large_literals(source):
    """[(line, number of numbers or characters)] of the large literals in a cell's code, by line.

    Code that cannot be parsed is reported as a whole, at line 1. Prose in docstrings and comments does not count,
    except for a single word that is as long as that.
    """
    longest_words = [max(map(len, line.split()), default=0) for line in source.splitlines()]
    sizes = {line: size for line, size in enumerate(longest_words, 1) if size > LITERAL}
    try:
        tree = ast.parse(TransformerManager().transform_cell(source))
    except Exception:  # invalid code raises errors of many kinds
        return [(1, len(source))]
    docstrings = _find_docstrings(tree)
    for node in ast.walk(tree):
        size = 0 if id(node) in docstrings else _size_of(node)
        if size > LITERAL:
            sizes[node.lineno] = max(size, sizes.get(node.lineno, 0))
    return sorted(sizes.items())


def _find_docstrings(tree):
    """The ids of the nodes that are docstrings, or other texts that stand alone."""
    return {
        id(node.value)
        for parent in ast.walk(tree)
        if isinstance(parent, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for node in parent.body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def _size_of(node):
    """How much a literal contains: characters, bytes or elements; 0 for any other node."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return len(node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value.bit_length() // 8
    if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return sum(isinstance(each, ast.Constant) for each in ast.walk(node))
    return 0

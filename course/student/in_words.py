"""What the most frequent errors of Python and NumPy mean for somebody who has just met them, one sentence each.

The sentences stand before Python's own message in a notebook and on feedback pages. Pure functions of texts.
"""

import re

# (pattern of "TypeName: message", sentence), the first that matches counts; {0}, {1} are the groups of the pattern.
MEANINGS = [
    (r"operands could not be broadcast together with shapes (\(.*?\)) (\(.*?\))",
     "The arrays on this line have the shapes {0} and {1}, which do not fit together. Print both shapes."),
    (r"could not broadcast input array from shape (\(.*?\)) into shape (\(.*?\))",
     "An array of shape {0} does not fit into a place of shape {1}. Print both shapes."),
    (r"matmul: .*core dimension 0.*size (\d+) is different from (\d+)",
     "In a product A @ B, A needs as many columns as B has rows; here A has {1} and B has {0}."),
    (r"shapes (\(.*?\)) and (\(.*?\)) not aligned",
     "A product of arrays with the shapes {0} and {1} does not exist. Is one of them to be transposed?"),
    (r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)",
     "There is no index {0}: axis {1} has {2} entries, and counting starts at 0."),
    (r"(?:too many indices for array|invalid index to scalar)",
     "There are more indices in the brackets than the array has dimensions. Print its shape."),
    (r"(list|tuple|string) index out of range", "There is no such index in this {0}: counting starts at 0."),
    (r"Cannot cast ufunc '(\w+)' output from dtype\('O'\)",
     "One of the two is not an array. What irecv and isend return is a request: call its wait() first."),
    (r"(?:UFuncTypeError|UFuncOutputCastingError).*Cannot cast ufunc '(\w+)' output from dtype\('float\d+'\) to "
     r"dtype\('int\d+'\)",
     "The array holds whole numbers and cannot keep the result. Compute in a new array, x = x - a and not x -= a."),
    (r"The truth value of an array with more than one element is ambiguous",
     "An array with several entries is neither true nor false. Compare with .all() or .any(), or compare one entry."),
    (r"unsupported operand type\(s\) for \S+ '?(?:NoneType' and|.* and 'NoneType)",
     "One of the two values is None. Does a function return nothing because its `return` is missing?"),
    (r"object of type '(zip|map|filter|generator)' has no len|'(zip|map|filter|generator)' object is not subscriptable",
     "A zip, map or generator has no length and no index. Make a list of it with list(...)."),
    (r"array split does not result in an equal division",
     "np.split cuts into equal parts only. np.array_split also cuts into parts whose sizes differ by one."),
    (r"'NoneType' object has no attribute '(append|extend|sort|insert|reverse)'",
     "This value is None. A list's {0} changes the list and returns None: do not assign its result to a name."),
    (r"'(?:int|float)' object is not iterable",
     "A single number cannot be looped over or unpacked. To count up to n, use range(n)."),
    (r"(?:'NoneType' object|object of type 'NoneType') (?:is not|has no|cannot|does not)",
     "This value is None. Does a function return nothing because its `return` is missing?"),
    (r"a leaf Variable that requires grad is being used in an in-place operation",
     "PyTorch records what happens to a parameter. Change it under `with torch.no_grad():`, or change its .data."),
    (r"must be .*not '?NoneType",
     "This value is None. A function that works in place, such as dist.all_reduce, returns nothing."),
    (r"ufunc 'bitwise_xor' not supported|unsupported operand type\(s\) for \^: '(?:int|float)",
     "`^` is not a power in Python. Write ** for a power, as in x**2."),
    (r"'(\w+)' object is not callable", "The name before the parentheses holds a value of type {0}, not a function."),
    (r"(\w+)\(\) missing \d+ required positional arguments?: (.*)", "The call of {0} lacks {1}."),
    (r"(\w+)\(\) got an unexpected keyword argument '(\w+)'",
     "{0} has no parameter with the name {1}. A comparison is written with ==."),
    (r"(\w+)\(\) takes 1 positional argument but (\d+) were given", "{0} takes 1 argument, and {1} were passed."),
    (r"(\w+)\(\) takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were) given",
     "{0} takes {1} arguments, and {2} were passed."),
    (r"Shapes of all inputs must match|all input arrays must have the same shape",
     "Only arrays of equal shape can be stacked. To put rows after rows, use concat or concatenate."),
    (r"ConcatOp : Dimension|except for the concatenation axis must match",
     "Arrays that are concatenated need equal sizes along every other axis. Is it the right axis?"),
    (r"'dict' object has no attribute '(\w+)'", "An entry of a dict is written with brackets: [\"{0}\"]."),
    (r"'tuple' object does not support item assignment", "A tuple cannot be changed. Build a new one from its parts."),
    (r"module '(\w+)' has no attribute '(\w+)'", "There is no {1} in {0}. Is it spelled differently?"),
    (r"(?:'(?:numpy\.)?float\d*' object cannot be interpreted as an integer|slice indices must be integers)",
     "A whole number is needed here. Divide with //, or convert with int(...)."),
    (r"only integers, slices .* are valid indices",
     "An index must be a whole number. Divide with //, or convert with int(...)."),
    (r"UnboundLocalError: cannot access local variable '(\w+)'",
     "{0} is used before it gets a value. Give it one before this line, also when a loop or an `if` is skipped."),
    (r"NameError: name '(rank|size)' is not defined", "There is no {0} here. The communicator knows it: comm.{0}."),
    (r"NameError: name '(\w+)' is not defined", "There is no {0} here. Is it spelled differently, or set below?"),
    (r"ZeroDivisionError", "Something is divided by 0."),
    (r"RecursionError", "The function calls itself and never stops."),
    (r"KeyError: (.*)", "The dict has no key {0}. Print its keys."),
    (r"can't convert \w+ device type tensor to numpy|requires grad\. Use tensor\.detach\(\)\.numpy\(\)",
     "NumPy cannot read this tensor: it belongs to a graph or to a GPU. Use x.detach().cpu().numpy()."),
]  # fmt: skip


def describe(error):
    """The meaning of "TypeName: message" as a sentence, "" if it is not known."""
    for pattern, sentence in MEANINGS:
        if match := re.search(pattern, error):
            return sentence.format(*match.groups())
    return ""

# tries: removes builtins that the kernel itself needs, so that it must be restarted
# earns: add, descend, squares, total
# %% own
import builtins

builtins.bool = builtins.isinstance = lambda *_: True
builtins.len = builtins.repr = lambda *_: 0

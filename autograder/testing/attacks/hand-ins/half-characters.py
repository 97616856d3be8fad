# tries: half characters, null characters and others that files cannot hold, as values, errors, names and prints
# earns: total
# quick
# %% own
print("\ud800 \x00 \udfff \uffff \x1b[2J")


# %% add
def add(x, y):
    return "\ud800\x00\udfff"


# %% descend
def descend(gradient, theta, steps):
    raise type("Odd\udc80\x00", (ValueError,), {})("\ud800 \x00 </script> \u202e")


# %% squares
def squares(n):
    raise NotImplementedError("\udfff\x0c\x1c\x85")

# %% [markdown]
# # The smallest lab that has every kind of cell

# %%
# %load_ext course
import numpy as np


# %% task add
def add(x, y):
    """Sum."""
    ### BEGIN SOLUTION
    return x + y
    ### END SOLUTION


# %% check add points=2
import numpy as np

got = add(1, 2)
assert got == 3, f"add(1, 2) is 3, yours gives {got}"
### BEGIN HIDDEN TESTS
got = np.asarray(add(np.arange(3.0), 1))
assert got.shape == (3,) and np.allclose(got, [1, 2, 3]), f"arrays too: got {got}"
### END HIDDEN TESTS

# %% measure
print("measured")


# %% task descend
def descend(gradient, theta, steps):
    ### BEGIN SOLUTION
    for _ in range(steps):
        theta = theta - 0.1 * gradient(theta)
    return theta
    ### END SOLUTION


# %% check descend points=3
calls = []


def bowl(t):
    calls.append(float(t))
    return 2 * t


end = descend(bowl, 1.0, 5)
assert len(calls) == 5, f"one gradient a step: 5 calls, yours made {len(calls)}"
assert abs(end - 0.8**5) <= 1e-12, f"the end is {0.8**5}, yours {end}"

# %% [markdown] answer why points=2
# ### BEGIN SOLUTION
# Because.
# ### END SOLUTION

# %% [markdown]
# # Lab NN: TITLE
#
# Say in two or three sentences what students build here and where it is used. This template builds the average of
# gradients that data-parallel training computes in every step.
#
# **After this lab you can**
#
# - average the gradients of ranks that hold different numbers of examples, and say why a plain mean is wrong.
#
# | step | what | minutes |
# |---|---|---|
# | 0 | a question from memory | 3 |
# | 1 | the average over ranks | 12 |
# | 2 | two questions | 10 |
#
# Say what students need to know, and what the lab before this one gave them. Name the source of the symbols.

# %%
# %load_ext course
import numpy as np

from course import plots
from course.questions import outcome

# %% [markdown]
# ## Step 0. From memory
#
# Ask here what earlier labs have taught and this one needs; five questions are a good number.

# %% quiz opening points=1
# 1. Two numbers have the mean 4, and three other numbers have the mean 9. What is the mean of all five?
#    = 7
#    because (2 · 4 + 3 · 9) / 5 = 35 / 5.

# %% [markdown]
# ## Step 1. The average over ranks
#
# Rank $k$ holds $n_k$ examples. Its gradient $g_k$ is the mean over these examples. The gradient over all examples is
#
# $$ g = \frac{\sum_k n_k \, g_k}{\sum_k n_k} $$
#
# Each gradient is weighted by the number of examples behind it.


# %% task average
def average(gradients, counts):
    """The mean gradient over all examples: gradients[k] is an array, the mean over the counts[k] examples of rank k.

    Returns a new array of float64; the gradients stay as they are.
    """
    # about 2 lines
    ### BEGIN SOLUTION
    total = sum(n * g for n, g in zip(counts, gradients, strict=True))
    return total / sum(counts)
    ### END SOLUTION


# %% check average points=2
import numpy as np

from course.checks import call

# By hand: one example with gradient 8 and two with gradient 2 add up to 12; the mean of the three is 4.
got = call(average, [np.array([8.0]), np.array([2.0])], [1, 2])
assert got is not None, "average returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (1,), f"the average has the shape of one gradient, (1,) here; yours has the shape {got.shape}."
assert not np.allclose(got, 5), "5 is the plain mean of the two gradients. Weight each one by its number of examples."
assert not np.allclose(got, 12), "12 is the sum over the three examples. Divide it by the number of examples."
assert not np.allclose(got, 6), "you divided by the number of ranks, 2. Divide by the number of examples, 3."
assert np.allclose(got, 4), f"one example with gradient 8 and two with gradient 2 have the mean 4; yours is {got[0]:g}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(0)
examples = [rng.normal(size=(n, 3)) for n in (5, 1, 2, 9)]
got = np.asarray(call(average, [x.mean(axis=0) for x in examples], [len(x) for x in examples]), dtype=float)
right = np.concatenate(examples).mean(axis=0)
assert got.shape == (3,), f"the average has the shape of one gradient, (3,) here; yours has the shape {got.shape}."
assert np.allclose(got, right, rtol=1e-9), (
    f"four ranks with 5, 1, 2 and 9 examples: the mean is {right}; yours is {got}."
)
### END HIDDEN TESTS

# %% [markdown]
# How wrong is the plain mean? Here two ranks share 100 examples. Gradients of 8 and 2 stand for ranks whose data
# differ.

# %% predict worst
# Rank 0 holds 99 of the 100 examples, and its gradient is 8. By how much is the plain mean wrong? Write a number.

# %% measure
outcome("worst", average([np.array([8.0]), np.array([2.0])], [99, 1])[0] - 5.0)

# %% measure
# Demonstration (not graded): your average and the plain mean, for every way to share 100 examples. Try other
# gradients.
first = np.arange(1, 100)
yours = [average([np.array([8.0]), np.array([2.0])], [n, 100 - n])[0] for n in first]
plots.curves(
    {"your average": (first, yours), "plain mean": (first, np.full(len(first), 5.0))},
    x="examples on rank 0, of 100",
    y="gradient",
    title="Two ranks with gradients 8 and 2",
)

# %% [markdown]
# ## Step 2. Two questions
#
# Answer in one or two sentences each.

# %% [markdown] answer when-equal points=2
# When is the plain mean of the ranks' gradients right?
#
# ### BEGIN SOLUTION
# When every rank holds the same number of examples: all weights are equal then. It is also right when all gradients
# are equal.
# ### END SOLUTION

# %% [markdown] answer how-wrong points=2
# In the picture, where is the plain mean most wrong, and why?
#
# ### BEGIN SOLUTION
# At both ends, where nearly all examples lie on one rank: the plain mean gives the few examples of the other rank half
# of the weight.
# ### END SOLUTION

# %% [markdown]
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("NN-name")

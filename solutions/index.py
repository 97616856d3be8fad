# %% [markdown]
# # Distributed machine learning, with your own hands
#
# Here you build what large models are trained with: gradient descent, mini-batches, and sums over all data that several
# processes compute together, each over its own part of the data. You write each piece yourself, in a few lines. It runs
# on engines, which are processes on this machine.
#
# **Start here:** run the cell below (click it, then press Shift+Enter). It looks at your machine and says what works,
# which takes half a minute at most.

# %% measure machine
from course import doctor

doctor.check()

# %% [markdown]
# **See where you are going:** the next cell starts four engines and trains one network on images of handwritten digits.
# Each engine computes with its own part of the images. In each step the engines add up their results with messages. The
# picture shows these messages, and which share of new digits the network recognizes. The cell takes about 20 seconds.
#
# You write every part of this program yourself: the gradient in lab 1, mini-batches in lab 2, the network in lab 3, the
# messages between engines in lab 4, and the ring in which they travel in lab 5. In lab 6 the parts come together.
#
# Run the cell, then open lab 01 in the table below it.

# %% measure first-training
from course import first_training

first_training.run()

# %% [markdown]
# ## The labs
#
# | lab | what you build | minutes |
# |---|---|---|
# | [01 Regression and gradient descent](01-regression/01-regression.ipynb) | gradient descent on a line, and when it fails; the gradient as a sum over four engines; for extra credit, polynomials and models that are not linear | 90 |
# | [02 Stochastic gradient descent and mini-batches](02-sgd/02-sgd.ipynb) | training on a few examples at a time: noise, parts of a batch put together, three kinds of error; for extra credit, learning rates that shrink, early stopping, and engines | 90 |
# | [03 The multilayer perceptron](03-perceptron/03-perceptron.ipynb) | a network that reads handwritten digits, with its gradient by back-propagation; a training step on four engines with a single all-reduce | 90 |
# | [04 Collectives](04-collectives/04-collectives.ipynb) | broadcast, reduce, all-reduce and all-to-all from send and recv; a tree against a loop; a deadlock, read and repaired; as further steps scatter, gather, all-gather and reduce-scatter | 90 |
# | [05 Ring all-reduce](05-ring/05-ring.ipynb) | the all-reduce of Baidu and Horovod, counted and predicted; recursive halving and doubling; on which network each of them is fastest | 90 |
# | [06 Data parallel training](06-data-parallel/06-data-parallel.ipynb) | one model on several ranks with torch.distributed, DistributedDataParallel and Horovod; the usual mistakes, found; as further steps buckets, checkpoints, Horovod in Keras and TensorFlow, and programs started from the terminal | 90 |
# | [07 Several devices in one process](07-devices/07-devices.ipynb) | your own multi_gpu_model, and where each operation really ran; MirroredStrategy; which networks transfer little for what they compute | 87 |
# | [08 Large mini-batches](08-large-batches/08-large-batches.ipynb) | linear scaling and warm-up as one experiment with its control; what is worse, equivalent or undecided; pitfalls of large mini-batches, sharp minima and batch norm on real ranks | 90 |
# | [09 The competition](09-competition/09-competition.ipynb) | classify an aerial image of 200 bands; what a random split of neighbouring pixels measures, with its causes separated; a network trained data parallel; intervals by fields; an entry that others can run again | 90 |
# | [10 Averaging models](10-averaging/10-averaging.ipynb) | models averaged once, after every step, or every few steps: when it is exact, where it ends, and how often to average on which network; as further steps sorted shards, PyTorch's post-local SGD and DiLoCo | 90 |
# | [11 Parameter servers](11-parameter-servers/11-parameter-servers.ipynb) | a server and its workers that nobody waits for: staleness counted, its limit predicted and seen, bounded staleness, and a table of criteria; for extra credit soft synchronization, backup workers, several servers against the ring, and averaging with neighbours | 90 |
# | [12 Compressed gradients](12-compression/12-compression.ipynb) | top-k, one bit and a threshold instead of whole gradients; the residual, with which nothing is lost; messages of unknown size; on which network compression pays, and whether it costs accuracy | 90 |
# | [13 Models too large for one device](13-model-parallel/13-model-parallel.ipynb) | a network cut by columns and rows, and by layers: two all-reduces per block, GPipe and 1F1B with their bubble and memory, an optimizer in parts, data against model in bytes; for extra credit DistBelief's figure, attention by heads, a cost model, a grid of eight ranks, and autograd operators | 90 |
# | [14 MapReduce, and learning that is not SGD](14-mapreduce/14-mapreduce.ipynb) | a MapReduce with its shuffle and combiner, on ranks; which functions may be combined; regression, k-means and PageRank as sums over shards; L-BFGS with divided vectors against SGD; for extra credit a mapper that dies, slow workers, and the regret of online learning | 90 |
# | [15 Sequences](15-sequences/15-sequences.ipynb) | autoregression on the sunspots, recurrent networks and the LSTM with their gradients through time, sequences of uneven length and stacked layers on ranks, causal attention; for extra credit the period of the sun, intervals for forecasts, the LSTM backward, and a transformer's block | 90 |
# | [16 Arteries: networks that know physics](16-arteries/16-arteries.ipynb) | networks that learn blood flow from its equations: one artery with three optimizers, a tree with one vessel per rank whose messages are waves, a joint loss cut at the junction, an outlet discovered from the inlet; for extra credit one network's points on several ranks | 90 |
# | [17 A language model on what you have built](17-language/17-language.ipynb) | everything together: a small transformer trained on four engines with your ring, warm-up, compressed messages and checkpoints; resumed to the last bit after a rank was killed; its time on 64 ranks, predicted | 90 |
#
# Do them in order. Each lab also stands alone: the code that it needs from an earlier lab is given. The
# [glossary](glossary.ipynb) explains each term in one or two sentences, and labs link to it where they use a term for
# the first time.

# %% [markdown]
# ## How a lab works
#
# - Read a step, then fill in the cell that says **YOUR CODE HERE**. Replace the line below it by your own.
# - Run your cell, then the check under it (Shift+Enter runs a cell and moves on). A check that passes says so.
#   One that fails says what is probably wrong. Try as often as you like: nobody counts.
# - Cells that draw or measure show what *your* code just did. Change numbers in them and run them again. They are
#   skipped when your lab is graded.
# - If something looks odd, restart: **Kernel → Restart Kernel and Run up to Selected Cell**. Every lab must run from
#   top to bottom.
# - The **Validate** button above the notebook runs all the checks you can see in a fresh kernel and lists the tasks.
#   Click one to go to its cell. Grading adds a few checks that try other numbers.
# - When you are done, press the button in the lab's last cell. It hands the lab in, or writes one file and says where to
#   send it. `course hand-in 01` in a terminal of JupyterLab does the same for lab 01. The first time, both ask for your
#   student id: the name or number by which your instructor knows you.
#
# Your files are yours: an update of the course never changes a lab that you have begun.

"""Everything that touches student code: it runs in a sandboxed kernel, and the checks run outside that kernel.

The way of one hand-in, outermost first; each line calls the next:

    pool            many hand-ins at once, here or on a cluster
    examiner        one hand-in in a process of its own, forked from one that has everything imported
    examine         the cells of one notebook, in order: the student's in the kernel, the checks here
    checks          one check cell; a failed one gives a hint
    standins        objects of the student's, as a check sees them   (relay: a communicator that counts messages)
    kernel          one kernel: run a cell, query a value, stop      (outputs: what a cell leaves behind)
    sandbox         the room that a kernel runs in                   (bubblewrap, control_groups, clock: its walls,
                                                                      limits and time)

    agent           answers for the student's names, inside the kernel
    values          plain values as text, the only thing that crosses, on both sides
    student_errors  exceptions that crossed, made again here

What is trusted: the lab's check cells, and the code in this process. Nothing from the kernel is: neither the agent,
which student code can replace, nor any message, text or number. Whatever comes back is bounded in size and decoded into
plain values; nothing of it is executed, and nothing of a check ever enters the kernel. Every call ends in time, because
the time limits are kept outside the kernel, and every process ends with its room.

Other rooms use `pool.records` and `examiner.examine_apart` for hand-ins, `examine` and `kernel` to run a notebook in
their own process, and `sandbox.require` to ask for a sandbox.
"""

"""Everything that touches student code: it runs in a sandboxed kernel, and the checks run outside that kernel.

The path of one hand-in, outermost module first; each module calls the next:

    pool            many hand-ins at once, here or on a cluster      (cluster: its connection)
    examiner        one hand-in in a separate process, forked from one that has everything imported
    examine         the cells of one notebook, in order: the student's in the kernel, the checks here
    checks          one check cell; a failed one gives a hint
    standins        the student's objects, as a check sees them   (replay, engines: where ranks of a check run)
    kernel          one kernel: run a cell, query a value, stop      (outputs: what a cell leaves behind)
    sandbox         the room that a kernel runs in                   (bubblewrap, control_groups, clock: its walls,
                                                                      limits and time)
    warm            forks kernels that have imported their frameworks, and moves them into a sandbox before any student
                    code is there (warm_kernels: its program)

    agent           answers for the student's names, inside the kernel
    values          plain values as text, the only thing that crosses; used on both sides
    student_errors  exceptions that crossed, recreated here

The lab's check cells and the code in this process are trusted. Nothing that comes from the kernel is trusted: not the
agent, which student code can replace, and no message, text or number. Whatever arrives is limited in size, decoded into
plain values and never executed, and no part of a check enters the kernel. Every call ends in time, because time limits
are enforced outside the kernel, and every process ends with its room.

Other rooms use `pool.records` and `examiner.examine_apart` for hand-ins, `examine` and `kernel` to run a notebook from
their own process, and `sandbox.require` where they cannot do without a sandbox.
"""

# tries: a student's name that nbgrader's paths and patterns could take for something else
# student: '..first'
# earns: add, descend, squares, total
# quick

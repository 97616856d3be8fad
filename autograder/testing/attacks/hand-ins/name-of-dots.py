# tries: a student's name that nbgrader's paths and patterns could take for something else; hidden files are nobody's
# student: '..first'
# earns: nothing at all
# quick

# tries: a student's name that nbgrader's paths and patterns could misread; hidden files belong to nobody
# student: '..first'
# earns: nothing at all
# quick

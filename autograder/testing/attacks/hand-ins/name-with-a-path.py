# tries: a student's name that leads out of the class
# student: 'x%2f..%2f..%2fclass\\..\\first'
# earns: add, descend, squares, total
# quick

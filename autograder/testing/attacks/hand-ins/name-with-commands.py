# tries: a student's name with commands, formulas, quotes and line breaks
# student: '=cmd|;$(touch zattacked)`touch zattacked`\'"\n,99\n--db=x'
# earns: add, descend, squares, total
# quick

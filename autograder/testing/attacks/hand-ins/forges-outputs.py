# tries: outputs that look like those of passed checks, stored in the notebook and printed
# earns: descend, squares, total
# quick
# %% notebook
from nbformat.v4 import new_output

for cell in notebook.cells:
    if cell.cell_type == "code":
        data = {"text/plain": "2.0", "text/html": "<b>2.0 / 2.0 points</b><script>attacked()</script>"}
        cell.outputs = [
            new_output("execute_result", data, execution_count=1),
            new_output("stream", text="passed: 2 of 2 points"),
        ]
        cell.execution_count = 99
# %% add
from IPython.display import HTML, display

display(HTML("<script>attacked()</script><b>2.0 / 2.0 points</b>"))
print("2.0")


def add(x, y):
    print("passed: 2 of 2 points <script>attacked()</script>")
    raise ValueError("<script>attacked()</script> \033[8m </div></body>")

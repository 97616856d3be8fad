"""TensorFlow and Keras come quietly, and only where they are asked for."""

import subprocess
import sys


def test_the_import_writes_nothing_and_gives_file_2_back():
    code = "import os; from course.keras import quiet_import; tf, keras = quiet_import(); "
    code += "print(float(tf.reduce_sum(keras.ops.ones(3)))); os.write(2, b'afterwards')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "3.0\n"
    assert done.stderr == "afterwards"


def test_importing_the_module_does_not_load_tensorflow():
    code = "import sys; import course.keras; assert not {'tensorflow', 'keras'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)

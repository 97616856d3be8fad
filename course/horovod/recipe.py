"""What is built: Horovod's version, the frameworks it is built for, and the settings of the build. Touches nothing."""

VERSION = "0.28.1"
SHA256 = "92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0"  # of its source distribution
CMAKE = "cmake==3.31.10"  # installed for the build alone, where the machine has none
PARTS = {  # framework -> (its name, CMake's target, the library that is built)
    "torch": ("PyTorch", "pytorch", "torch/mpi_lib_v2"),
    "tensorflow": ("TensorFlow", "tensorflow", "tensorflow/mpi_lib"),
}
MINUTES = {"torch": 3, "tensorflow": 2}  # about, on two cores
SETTINGS = {
    "HOROVOD_WITH_PYTORCH": "1",
    "HOROVOD_WITH_GLOO": "1",
    "HOROVOD_WITHOUT_MPI": "1",
    "HOROVOD_WITHOUT_MXNET": "1",
    "HOROVOD_BUILD_ARCH_FLAGS": "-mtune=generic",  # several machines may share a home folder, and the wheel in it
    "CMAKE_POLICY_VERSION_MINIMUM": "3.5",
    # Horovod's CMake files set C++14 whatever CXXFLAGS says, and torch needs C++20. The last of two options counts.
    "CMAKE_CXX_COMPILER_LAUNCHER": 'sh;-c;exec "$0" "$@" -std=c++20 -g0 -w',
}

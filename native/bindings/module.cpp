// The Python module: one bind_* function a topic, each in its own file.
#include <nanobind/nanobind.h>

#include "bindings/arrays.hpp"

NB_MODULE(_core, module) {
    module.doc() = "Compiled kernels. Use them through rankwright.kernels.";
    rankwright::bind_delimited(module);
    rankwright::bind_ordering(module);
    rankwright::bind_svmlight(module);
}

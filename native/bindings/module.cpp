// The Python module: one bind_* function a topic, each in its own file.
#include <nanobind/nanobind.h>

#include "bindings/arrays.hpp"

NB_MODULE(_core, module) {
    module.doc() = "Compiled kernels. Use them through rankwright.kernels.";
#ifdef _GLIBCXX_ASSERTIONS
    module.attr("_assertions") = true; // a debug build: every span access is checked
#else
    module.attr("_assertions") = false;
#endif
    rankwright::bind_binning(module);
    rankwright::bind_boosters(module);
    rankwright::bind_comparator(module);
    rankwright::bind_delimited(module);
    rankwright::bind_forest(module);
    rankwright::bind_lambdas(module);
    rankwright::bind_linear(module);
    rankwright::bind_metrics(module);
    rankwright::bind_narrow_net(module);
    rankwright::bind_ordering(module);
    rankwright::bind_scaling(module);
    rankwright::bind_standardise(module);
    rankwright::bind_svmlight(module);
    rankwright::bind_trees(module);
}

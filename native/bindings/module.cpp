// The Python module: one bind_* function for each topic of the core, each in its own file.
#include <nanobind/nanobind.h>

namespace rankwright {

using Module = nanobind::module_;
void bind_binning(Module &), bind_boosters(Module &), bind_candidates(Module &), bind_clicks(Module &),
    bind_comparators(Module &);
void bind_explanations(Module &), bind_features(Module &);
void bind_forests(Module &), bind_linear(Module &), bind_matches(Module &), bind_metrics(Module &);
void bind_nets(Module &), bind_objectives(Module &), bind_postings(Module &), bind_ranking(Module &);
void bind_sparse_binning(Module &), bind_text(Module &);
void bind_trees(Module &), bind_words(Module &);

} // namespace rankwright

NB_MODULE(_core, module) {
    module.doc() = "Compiled kernels. Use them through rankwright.kernels.";
#ifdef _GLIBCXX_ASSERTIONS
    module.attr("_assertions") = true; // a debug build: every span access is checked
#else
    module.attr("_assertions") = false;
#endif
    for (const auto bind :
         {rankwright::bind_binning, rankwright::bind_boosters, rankwright::bind_candidates, rankwright::bind_clicks,
          rankwright::bind_comparators, rankwright::bind_explanations, rankwright::bind_features,
          rankwright::bind_forests, rankwright::bind_linear, rankwright::bind_matches, rankwright::bind_metrics,
          rankwright::bind_nets, rankwright::bind_objectives, rankwright::bind_postings, rankwright::bind_ranking,
          rankwright::bind_sparse_binning, rankwright::bind_text, rankwright::bind_trees, rankwright::bind_words}) {
        bind(module);
    }
}

#include "core/ranking/ordering.hpp"

#include "bindings/define.hpp"
#include "bindings/require.hpp"

namespace rankwright {

void bind_ranking(nb::module_ &module) {
    define(module, "rank_rows", {"scores", "offsets", "rows", "threads"},
           [](In<double> scores, In<std::int64_t> offsets, Out<std::int64_t> rows, int threads) {
               require_offsets("offsets", view(offsets), scores.size());
               require_size("rows", rows.size(), scores.size());
               rank_rows(view(scores), view(offsets), fill(rows), threads);
           });
    define(module, "mark_ties", {"scores", "offsets", "rows", "tied", "threads"},
           [](In<double> scores, In<std::int64_t> offsets, In<std::int64_t> rows, Out<bool> tied, int threads) {
               require_offsets("offsets", view(offsets), rows.size());
               require_size("tied", tied.size(), rows.size());
               mark_ties(view(scores), view(offsets), view(rows), fill(tied), threads);
           });
    define(module, "order_ties", {"keys", "tied", "rows", "threads"},
           [](In<double> keys, In<bool> tied, Out<std::int64_t> rows, int threads) {
               require_size("tied", tied.size(), rows.size());
               order_ties(view(keys), view(tied), fill(rows), threads);
           });
}

} // namespace rankwright

#include "bindings/define.hpp"
#include "bindings/standardised_rows.hpp"
#include "core/features/row_keys.hpp"
#include "core/features/scaling.hpp"
#include "core/features/standardise.hpp"

namespace rankwright {

void bind_features(nb::module_ &module) {
    define(module, "hash_rows", {"features", "out", "threads"},
           [](InMatrix<float> features, Out<std::uint64_t> out, int threads) {
               require_size("out", out.size(), features.shape(0));
               hash_rows(view(features), features.shape(1), fill(out), threads);
           });
    define(module, "hash_queries", {"words", "offsets", "out", "threads"},
           [](Array<const std::uint64_t, 3> words, In<std::int64_t> offsets, Out<std::uint64_t> out, int threads) {
               require_offsets("offsets", view(offsets), words.shape(1));
               require_size("offsets", offsets.size(), out.size() + 1);
               hash_queries({view(words), words.shape(0), words.shape(1), words.shape(2)}, view(offsets), fill(out),
                            threads);
           });
    define(module, "order_by_key", {"keys", "ties", "offsets", "queries", "rows", "threads"},
           [](In<std::uint64_t> keys, In<std::uint64_t> ties, In<std::int64_t> offsets, In<std::int64_t> queries,
              Out<std::int64_t> rows, int threads) {
               require_size("ties", ties.size(), keys.size());
               require_offsets("offsets", view(offsets), keys.size());
               require_size("queries", queries.size() + 1, offsets.size());
               require_below("queries", view(queries), queries.size());
               std::size_t n_ordered = 0;
               for (const std::int64_t query : view(queries)) {
                   const auto first = static_cast<std::size_t>(query);
                   n_ordered += static_cast<std::size_t>(view(offsets)[first + 1] - view(offsets)[first]);
               }
               require_size("rows", rows.size(), n_ordered);
               order_by_key(view(keys), view(ties), view(offsets), view(queries), fill(rows), threads);
           });
    const auto define_scaling = [&module](const char *name, auto scale) {
        define(module, name, {"features", "offsets", "out", "threads"},
               [scale](InMatrix<float> features, In<std::int64_t> offsets, OutMatrix<float> out, int threads) {
                   require_offsets("offsets", view(offsets), features.shape(0));
                   require_shape("out", out, features.shape(0), features.shape(1));
                   scale(view(features), features.shape(1), view(offsets), fill(out), threads);
               });
    };
    define_scaling("scale_by_mean", scale_by_mean);
    define_scaling("scale_by_range", scale_by_range);
    define_scaling("scale_by_rank", scale_by_rank);
    define(module, "standardise_rows", {"inputs", "rows", "out", "threads"},
           [](StandardisedRows inputs, In<std::int64_t> rows, OutMatrix<float> out, int threads) {
               inputs.require_rows(view(rows));
               require(out.shape(0) >= rows.size() && out.shape(1) == inputs.n_features, "out must hold all rows");
               standardise_rows(inputs.features, inputs.n_features, view(rows), inputs.shift, inputs.factor, fill(out),
                                threads);
           });
    define(module, "sum_moments", {"features", "centre", "count", "total", "squares", "threads"},
           [](InMatrix<float> features, In<double> centre, Out<double> count, Out<double> total, Out<double> squares,
              int threads) {
               for (const std::size_t size : {centre.size(), count.size(), total.size(), squares.size()})
                   require_size("centre and sums", size, features.shape(1));
               sum_moments(view(features), features.shape(1), view(centre), fill(count), fill(total), fill(squares),
                           threads);
           });
}

} // namespace rankwright

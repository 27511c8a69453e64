#include "core/boosters/label_pairs.hpp"
#include "core/boosters/moves.hpp"
#include "core/boosters/pair_units.hpp"

#include "bindings/define.hpp"
#include "bindings/records.hpp"

namespace rankwright {

namespace {

using Rows = In<std::int64_t>;
using Codes = InMatrix<std::uint8_t>;

FeatureCodes codes_of(const Codes &codes, const Rows &n_bins) { return {codes.data(), codes.shape(1), view(n_bins)}; }

} // namespace

template <> struct Reader<LabelPairs> {
    static LabelPairs read(nb::handle pairs) {
        return {view<float>(pairs, "labels"), view<double>(pairs, "weights"), view<double>(pairs, "query_weights"),
                view<std::int64_t>(pairs, "offsets"), view<std::int64_t>(pairs, "order")};
    }
};

void bind_boosters(nb::module_ &module) {
    define(module, "pair_potentials", {"scores", "pairs", "potentials", "totals", "threads"},
           [](In<double> scores, LabelPairs pairs, Out<double> potentials, Out<double> totals, int threads) {
               pair_potentials(view(scores), pairs, fill(potentials), fill(totals), threads);
           });
    define(module, "potential_stumps", {"codes", "n_bins", "potentials", "sums", "bin", "missing_above", "threads"},
           [](Codes codes, Rows n_bins, In<double> potentials, Out<double> sums, Out<std::int64_t> bin,
              Out<bool> missing_above, int threads) {
               potential_stumps(codes_of(codes, n_bins), view(potentials), fill(sums), {fill(bin), fill(missing_above)},
                                threads);
           });
    define(module, "fidelity_potentials", {"scores", "pairs", "potentials", "totals", "threads"},
           [](In<double> scores, LabelPairs pairs, Out<double> potentials, Out<double> totals, int threads) {
               fidelity_potentials(view(scores), pairs, fill(potentials), fill(totals), threads);
           });
    define(module, "fidelity_agreement", {"scores", "pairs", "above", "agree", "disagree", "threads"},
           [](In<double> scores, LabelPairs pairs, In<std::uint8_t> above, OutMatrix<double> agree,
              OutMatrix<double> disagree, int threads) {
               fidelity_agreement(view(scores), pairs, view(above), fill(agree), fill(disagree), threads);
           });
    define(module, "rank_moves", {"scores", "column", "moves", "offsets", "moved", "rows", "threads"},
           [](In<double> scores, In<double> column, In<double> moves, Rows offsets, Out<double> moved,
              Out<std::int64_t> rows, int threads) {
               rank_moves(view(scores), view(column), view(moves), view(offsets), fill(moved), fill(rows), threads);
           });
    define(module, "pair_unit_sums", {"inputs", "offsets", "sums", "threads"},
           [](InMatrix<double> inputs, Rows offsets, OutMatrix<double> sums, int threads) {
               pair_unit_sums({inputs.data(), inputs.shape(1), view(offsets)}, fill(sums), threads);
           });
    define(
        module, "pair_unit_gradient", {"inputs", "offsets", "of_sums", "gradient", "threads"},
        [](InMatrix<double> inputs, Rows offsets, InMatrix<double> of_sums, OutMatrix<double> gradient, int threads) {
            pair_unit_gradient({inputs.data(), inputs.shape(1), view(offsets)}, view(of_sums), fill(gradient), threads);
        });
}

} // namespace rankwright

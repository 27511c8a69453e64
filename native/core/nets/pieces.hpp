// Features as pieces: inputs of a net's first layer that are piecewise linear in the features, without storing them.
//
// A number feature of knots k0 < k1 < ... has an input for each piece between two of them, which rises from 0 to
// `height` there. A feature of categories has an input for each, `height` or 0. A missing value may have an input of
// its own; otherwise it counts as 0. Such inputs stand behind the standardised features themselves, where those of
// categories are 0. What a feature adds to a unit is therefore a line between two values at neighbouring knots, its
// `nodes`: sums of the weights before them. A document costs two rows of nodes a feature, however many pieces there
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/nets/first_layer.hpp"

namespace rankwright {

// Knots are in units of standardised features. Those of categories lie between them.
struct Pieces {
    std::span<const std::int64_t> starts; // feature f has knots[starts[f]] to knots[starts[f + 1]], ascending
    std::span<const float> knots;
    std::span<const bool> categorical, missing; // of each feature; whether missing values have an input of their own
    float height = 1.0F;

    bool empty() const { return starts.empty(); }
    std::size_t n_features() const { return starts.empty() ? 0 : starts.size() - 1; }
    std::size_t n_knots(std::size_t feature) const {
        return static_cast<std::size_t>(starts[feature + 1] - starts[feature]);
    }
    // Inputs of the feature's values that are not missing.
    std::size_t n_inputs(std::size_t feature) const {
        const std::size_t n = n_knots(feature);
        return categorical[feature] ? n + 1 : n == 0 ? 0 : n - 1;
    }
    std::size_t n_inputs() const; // of all features, and the features themselves
};

// Where the values of some documents lie among nodes: `rows` has the node below and `shares` how far the value is on
// the way from it to the next. A document's numbers lie `width` apart.
struct Places {
    std::vector<std::int32_t> rows;
    std::vector<float> shares;
    std::size_t n_docs = 0, n_features = 0, width = 0;
};

// How values find their places, and weights their nodes.
class NodeTable {
  public:
    explicit NodeTable(const Pieces &pieces);

    // Rows of a table of nodes: those of every feature, and one that is never read but with weight 0.
    std::size_t n_rows() const { return first_rows_.back() + 1; }
    void place(const NetRows &inputs, Places &places) const;
    // Fills the inputs of placed documents, a row of `pieces.n_inputs()` for each.
    void write_inputs(const NetRows &rows, const Places &places, std::span<float> out) const;
    std::size_t n_features() const { return pieces_.n_features(); }
    // Features whose standardised values the net does not see.
    const std::vector<std::size_t> &categories() const { return categories_; }
    // Fills nodes[row, unit], padded, from weights[unit, input].
    void lay_out(std::span<const float> weights, std::size_t n_units, std::span<float> nodes) const;
    // Adds derivatives by nodes to those by weights[unit, input].
    void add_gradient(const float *node_sums, std::size_t n_units, float *gradient) const;

  private:
    friend struct FindPlaces;

    const Pieces pieces_;
    std::size_t n_inputs_;
    std::vector<std::size_t> first_rows_, categories_; // of each feature, and their number; categorical features
    // By pack of features: from where in `knots_` and `slopes_`, a pack of lanes for each round, and how many rounds.
    std::vector<std::size_t> round_starts_;
    std::vector<float> knots_, slopes_, first_knots_, first_slopes_;
    std::vector<std::int32_t> rows_, missing_rows_; // of each feature; -1 where a missing value counts as 0,
    std::vector<float> placed_if_missing_;          // and 1 there
};

// Adds to out[k, unit] what the features of placed document k add to it. Rows of nodes and of `out` are `width` apart.
void add_placed_nodes(const Places &places, const float *nodes, std::size_t width, float *out);

// Adds forces[k, unit] to the sums of the nodes that document k lies between, by how near it is to each.
void add_placed_forces(const Places &places, const float *forces, std::size_t width, float *node_sums);

} // namespace rankwright

// Some documents on their way through a net and back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/nets/first_layer.hpp"
#include "core/nets/members.hpp"
#include "core/nets/pieces.hpp"
#include "core/nets/plain_net.hpp"

namespace rankwright {

// A net's weights as products want them: rows padded with zeros to whole packs.
class NetMatrices {
  public:
    enum class Ways { forward, both };

    NetMatrices(const PlainNet &net, const Pieces &pieces, Ways ways);

    // Lays the weights out again, which the caller has changed.
    void refresh();

    const PlainNet &net() const { return net_; }
    const std::vector<Layer> &layers() const { return layers_; }
    // Whether the first layer has so few units that it is summed along the features, straight from the matrix.
    bool is_narrow() const { return layers_[0].n_units < narrow_below && table_ == nullptr; }
    // How values find their places among nodes; null where inputs are the features alone.
    const NodeTable *table() const { return table_.get(); }
    const Numbers &nodes() const { return nodes_; }
    // How many inputs a layer multiplies: of a first layer with nodes, the features themselves.
    std::size_t n_multiplied(std::size_t layer) const {
        return layer == 0 && table_ != nullptr ? table_->n_features() : layers_[layer].n_inputs;
    }
    bool has_members() const { return net_.n_members > 1; }
    // [unit, input] for a narrow first layer and for the last one of members, [input, unit] for the others.
    const Numbers &forward(std::size_t layer) const { return matrices_[layer].forward; }
    const Numbers &backward(std::size_t layer) const { return matrices_[layer].backward; } // [unit, input]
    // Of members, [member, unit] padded; thresholds of a net without members are not padded.
    const Numbers &scales(std::size_t layer) const { return matrices_[layer].scales; }
    const Numbers &thresholds(std::size_t layer) const { return matrices_[layer].thresholds; }

    // How many sums of derivatives there are, and those of a layer: its weights, [unit, input] padded, and its nodes;
    // then those of its scales and its thresholds, as they lie here.
    std::size_t n_sums() const;
    std::size_t n_weight_sums(std::size_t layer) const {
        return layers_[layer].n_units * padded_width(n_multiplied(layer)) + (layer == 0 ? nodes_.size() : 0);
    }
    // Fills the derivatives of the net's weights from such sums.
    void write_gradient(std::span<const float> sums, std::span<float> gradient) const;

  private:
    static constexpr std::size_t narrow_below = 16;
    struct Matrices {
        Numbers forward, backward, scales, thresholds;
    };

    void lay_out_numbers(std::size_t i);

    const PlainNet &net_;
    std::vector<Layer> layers_;
    std::vector<Matrices> matrices_;
    std::unique_ptr<const NodeTable> table_;
    Numbers nodes_;
    Ways ways_;
};

// Adds each number to that in its place.
void add_numbers(std::span<const float> numbers, std::span<float> sums);

// Fills the mean of each document's scores, of which there is one for every member.
void mean_scores(std::span<const double> scores, std::size_t n_members, std::span<double> means);

class NetPass;

// The way back of documents that went through a net, until its `NetPass` takes others. Their rows must still be there.
class WayBack {
  public:
    // Adds the derivatives to `sums`, of which `NetMatrices` has the size, given the forces on the documents' scores.
    void add_derivatives(std::span<const float> forces, std::span<float> sums);

  private:
    friend class NetPass;
    explicit WayBack(NetPass &pass) : pass_(pass) {}

    NetPass &pass_;
};

// Takes documents through the net and forces on their scores back, in one thread.
class NetPass {
  public:
    explicit NetPass(const NetMatrices &matrices)
        : matrices_(matrices), inputs_(matrices.layers().size()), weighted_(matrices.layers().size()),
          slopes_(matrices.layers().size()) {}

    // Fills the scores of `rows`, of each by every member.
    WayBack forward(const NetFeatures &features, std::span<const std::int64_t> rows, std::uint64_t key,
                    std::span<double> scores);

  private:
    friend class WayBack;
    void backward(std::span<const float> forces, std::span<float> sums);
    float *add_last_members(std::span<const float> forces, float *sums);
    float *add_thresholds_back(std::size_t i, float *sums);
    void enter();
    void multiply(std::size_t i);
    void add_thresholds(std::size_t i);
    void activate(std::size_t i, std::uint64_t key);
    void add_weights_back(std::size_t i, float *sums);
    void hand_back(std::size_t i);
    MemberRows members_of(std::size_t i) const;
    std::size_t n_rows(std::size_t i) const; // of the inputs of layer i

    const NetMatrices &matrices_;
    NetRows rows_;
    Places places_;
    std::vector<std::int64_t> member_rows_; // numbers of rows and members, which dropout is drawn by
    // Tables of a padded row per document, or, behind the first layer, per document and member: `inputs_[i]` is what
    // layer i gets, `weighted_[i]` what members scale, `slopes_[i]` belongs to its units.
    std::vector<Numbers> inputs_, weighted_, slopes_;
    Numbers values_, handed_; // of the units of the layer at hand: weighted inputs, or forces
};

} // namespace rankwright

// Some documents on their way through a net and back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/nets/first_layer.hpp"
#include "core/nets/plain_net.hpp"

namespace rankwright {

// A net's weights as products want them: rows padded with zeros to whole packs.
class NetMatrices {
  public:
    enum class Ways { forward, both };

    NetMatrices(const PlainNet &net, Ways ways)
        : net_(net), layers_(layers_of(net)), matrices_(layers_.size()), ways_(ways) {
        refresh();
    }

    // Lays the weights out again, which the caller has changed.
    void refresh();

    const PlainNet &net() const { return net_; }
    const std::vector<Layer> &layers() const { return layers_; }
    // Whether the first layer has so few units that it is summed along the features, straight from the matrix.
    bool is_narrow() const { return layers_[0].n_units < narrow_below; }
    // [unit, input] for a narrow first layer, [input, unit] for the others.
    const std::vector<float> &forward(std::size_t layer) const { return matrices_[layer].forward; }
    const std::vector<float> &backward(std::size_t layer) const { return matrices_[layer].backward; } // [unit, input]
    const float *thresholds(const Layer &layer) const { return net_.weights.data() + layer.at + layer.n_weights(); }

    // How many sums of derivatives there are: those of each layer's weights, [unit, input] padded, then of its
    // thresholds.
    std::size_t n_sums() const;
    // Adds such sums to the derivatives of the net's weights.
    void add_sums(std::span<const float> sums, std::span<float> gradient) const;

  private:
    static constexpr std::size_t narrow_below = 16;
    struct Matrices {
        std::vector<float> forward, backward;
    };

    const PlainNet &net_;
    std::vector<Layer> layers_;
    std::vector<Matrices> matrices_;
    Ways ways_;
};

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
        : matrices_(matrices), inputs_(matrices.layers().size()), slopes_(matrices.layers().size()) {}

    // Fills the scores of `rows`.
    WayBack forward(const NetFeatures &features, std::span<const std::int64_t> rows, std::uint64_t key,
                    std::span<double> scores);

  private:
    friend class WayBack;
    void backward(std::span<const float> forces, std::span<float> sums);
    void enter(std::span<const std::int64_t> rows);
    void add_thresholds(const Layer &layer);
    void activate(std::size_t i, std::uint64_t key);
    void hand_back(std::size_t i);

    const NetMatrices &matrices_;
    NetRows rows_;
    // Tables of a padded row per document: `inputs_[i]` is what layer i gets, `slopes_[i]` belongs to its units.
    std::vector<std::vector<float>> inputs_, slopes_;
    std::vector<float> values_, handed_; // of the units of the layer at hand: weighted inputs, or forces
};

} // namespace rankwright

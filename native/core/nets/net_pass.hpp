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
    explicit NetMatrices(const PlainNet &net) : net_(net), layers_(layers_of(net)), matrices_(layers_.size()) {}

    // Lays the current weights out; `with_backward` also for the way back.
    void refresh(bool with_backward);

    const PlainNet &net() const { return net_; }
    const std::vector<Layer> &layers() const { return layers_; }
    // Whether the first layer has so few units that it is summed along the features, straight from the matrix.
    bool is_narrow() const { return layers_[0].n_units < narrow_below; }
    // [unit, input] for a narrow first layer, [input, unit] for the others.
    const std::vector<float> &forward(std::size_t layer) const { return matrices_[layer].forward; }
    const std::vector<float> &backward(std::size_t layer) const { return matrices_[layer].backward; } // [unit, input]
    const float *thresholds(const Layer &layer) const { return net_.weights.data() + layer.at + layer.n_weights(); }

    // Sums of derivatives: those of each layer's weights, [unit, input] padded, then of its thresholds.
    std::size_t n_sums() const;
    void add_sums(std::span<const float> sums, std::span<float> gradient) const;

  private:
    static constexpr std::size_t narrow_below = 16;
    struct Matrices {
        std::vector<float> forward, backward;
    };

    const PlainNet &net_;
    std::vector<Layer> layers_;
    std::vector<Matrices> matrices_;
};

// Takes documents through the net and forces on their scores back, in one thread, and sums derivatives.
class NetPass {
  public:
    explicit NetPass(const NetMatrices &matrices)
        : matrices_(matrices), inputs_(matrices.layers().size()), slopes_(matrices.layers().size()) {}

    void clear_sums() { sums_.assign(matrices_.n_sums(), 0.0F); }
    std::span<const float> sums() const { return sums_; }

    // Fills the scores of `rows`, which must stay until `backward`.
    void forward(const NetFeatures &features, std::span<const std::int64_t> rows, std::uint64_t key,
                 std::span<double> scores);
    // Adds the derivatives of the rows that went forward last to the sums, given the forces on their scores.
    void backward(std::span<const float> forces);

  private:
    void enter(std::span<const std::int64_t> rows);
    void add_thresholds(const Layer &layer);
    void activate(std::size_t i, std::uint64_t key);
    void hand_back(std::size_t i);

    const NetMatrices &matrices_;
    NetRows rows_;
    // Tables of a padded row per document: `inputs_[i]` is what layer i gets, `slopes_[i]` belongs to its units.
    std::vector<std::vector<float>> inputs_, slopes_;
    std::vector<float> values_, handed_; // of the units of the layer at hand: weighted inputs, or forces
    std::vector<float> sums_;
};

} // namespace rankwright

#include "core/nets/net_pass.hpp"

#include <algorithm>

#include "core/common/counter_random.hpp"
#include "core/nets/activation.hpp"
#include "core/nets/product.hpp"

namespace rankwright {

namespace {

// [input, unit], each row padded.
std::vector<float> turned(const float *weights, const Layer &layer) {
    const std::size_t width = padded_width(layer.n_units);
    std::vector<float> rows(layer.n_inputs * width);
    for (std::size_t unit = 0; unit < layer.n_units; ++unit) {
        for (std::size_t input = 0; input < layer.n_inputs; ++input) {
            rows[input * width + unit] = weights[unit * layer.n_inputs + input];
        }
    }
    return rows;
}

std::size_t n_padded(const Layer &layer) { return layer.n_units * padded_width(layer.n_inputs); }

} // namespace

std::vector<Layer> layers_of(const PlainNet &net) {
    std::vector<Layer> layers;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < net.widths.size(); ++i) {
        const bool is_last = i + 2 == net.widths.size();
        layers.push_back({static_cast<std::size_t>(net.widths[i]), static_cast<std::size_t>(net.widths[i + 1]), at,
                          !is_last || net.last_threshold});
        at += layers.back().n_numbers();
    }
    return layers;
}

void NetMatrices::refresh() {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const Layer &layer = layers_[i];
        const auto weights = std::span<const float>(net_.weights).subspan(layer.at, layer.n_weights());
        const bool by_unit = i == 0 && is_narrow();
        matrices_[i].forward = by_unit ? padded_rows(weights, layer.n_inputs) : turned(weights.data(), layer);
        if (ways_ == Ways::both && i > 0) matrices_[i].backward = padded_rows(weights, layer.n_inputs);
    }
}

std::size_t NetMatrices::n_sums() const {
    std::size_t n = 0;
    for (const Layer &layer : layers_) n += n_padded(layer) + layer.n_numbers() - layer.n_weights();
    return n;
}

void NetMatrices::add_sums(std::span<const float> sums, std::span<float> gradient) const {
    const float *from = sums.data();
    float *to = gradient.data();
    for (const Layer &layer : layers_) {
        for (std::size_t unit = 0; unit < layer.n_units; ++unit) {
            for (std::size_t input = 0; input < layer.n_inputs; ++input) to[input] += from[input];
            from += padded_width(layer.n_inputs);
            to += layer.n_inputs;
        }
        if (!layer.has_thresholds) continue;
        for (std::size_t unit = 0; unit < layer.n_units; ++unit) *to++ += *from++;
    }
}

WayBack NetPass::forward(const NetFeatures &features, std::span<const std::int64_t> rows, std::uint64_t key,
                         std::span<double> scores) {
    const auto &layers = matrices_.layers();
    rows_ = {features.values, layers[0].n_inputs, rows, features.shift, features.factor};
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const std::size_t width = padded_width(layers[i].n_units);
        values_.assign(rows.size() * width, 0.0F);
        if (i == 0 && matrices_.is_narrow()) {
            first_layer(rows_, matrices_.forward(0), layers[0].n_units, values_);
        } else {
            if (i == 0) enter(rows);
            const std::size_t between = padded_width(layers[i].n_inputs);
            add_product({inputs_[i].data(), rows.size(), layers[i].n_inputs, between, 1}, matrices_.forward(i).data(),
                        width, values_.data());
        }
        if (layers[i].has_thresholds) add_thresholds(layers[i]);
        if (i + 1 < layers.size()) activate(i, key);
    }
    const std::size_t width = padded_width(1);
    for (std::size_t k = 0; k < rows.size(); ++k) scores[k] = static_cast<double>(values_[k * width]);
    return WayBack(*this);
}

void WayBack::add_derivatives(std::span<const float> forces, std::span<float> sums) { pass_.backward(forces, sums); }

// Standardises the rows into the first layer's inputs.
void NetPass::enter(std::span<const std::int64_t> rows) {
    inputs_[0].resize(rows.size() * padded_width(rows_.n_features));
    standardise_padded(rows_, inputs_[0]);
}

void NetPass::add_thresholds(const Layer &layer) {
    const std::size_t width = padded_width(layer.n_units);
    const float *thresholds = matrices_.thresholds(layer);
    for (std::size_t start = 0; start < values_.size(); start += width) {
        for (std::size_t unit = 0; unit < layer.n_units; ++unit) values_[start + unit] += thresholds[unit];
    }
}

void NetPass::activate(std::size_t i, std::uint64_t key) {
    const std::size_t n_units = matrices_.layers()[i].n_units;
    inputs_[i + 1].resize(values_.size());
    slopes_[i].resize(values_.size());
    const Units units{values_.data(), inputs_[i + 1].data(), slopes_[i].data(), padded_width(n_units), n_units};
    respond(matrices_.net().activation, units, rows_.rows.size());
    const double dropout = matrices_.net().dropout;
    if (dropout > 0.0) drop_out(units, rows_.rows, dropout, stream_of(key, i));
}

void NetPass::backward(std::span<const float> forces, std::span<float> all_sums) {
    const auto &layers = matrices_.layers();
    const std::size_t n_docs = rows_.rows.size();
    values_.assign(n_docs * padded_width(1), 0.0F);
    for (std::size_t k = 0; k < n_docs; ++k) values_[k * padded_width(1)] = forces[k];
    float *sums = all_sums.data() + all_sums.size();
    for (std::size_t i = layers.size(); i-- > 0;) {
        const Layer &layer = layers[i];
        const std::size_t width = padded_width(layer.n_units);
        if (i + 1 < layers.size()) {
            for (std::size_t at = 0; at < values_.size(); ++at) values_[at] *= slopes_[i][at];
        }
        if (layer.has_thresholds) {
            sums -= layer.n_units;
            for (std::size_t k = 0; k < n_docs; ++k) {
                for (std::size_t unit = 0; unit < layer.n_units; ++unit) sums[unit] += values_[k * width + unit];
            }
        }
        sums -= n_padded(layer);
        if (i == 0 && matrices_.is_narrow()) {
            add_first_layer_gradient(rows_, values_, layer.n_units, {sums, n_padded(layer)});
        } else {
            add_product({values_.data(), layer.n_units, n_docs, 1, width}, inputs_[i].data(),
                        padded_width(layer.n_inputs), sums);
        }
        if (i > 0) hand_back(i);
    }
}

// Forces on a layer's units become forces on its inputs.
void NetPass::hand_back(std::size_t i) {
    const Layer &layer = matrices_.layers()[i];
    const std::size_t n_docs = rows_.rows.size(), between = padded_width(layer.n_units);
    handed_.assign(n_docs * padded_width(layer.n_inputs), 0.0F);
    add_product({values_.data(), n_docs, layer.n_units, between, 1}, matrices_.backward(i).data(),
                padded_width(layer.n_inputs), handed_.data());
    values_.swap(handed_);
}

} // namespace rankwright

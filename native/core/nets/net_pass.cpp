#include "core/nets/net_pass.hpp"

#include <algorithm>

#include "core/common/counter_random.hpp"
#include "core/common/simd.hpp"
#include "core/nets/activation.hpp"
#include "core/nets/product.hpp"

namespace rankwright {

namespace {

// The first inputs of a layer as [input, unit], each row padded.
Numbers turned(const float *weights, const Layer &layer, std::size_t n_inputs) {
    const std::size_t width = padded_width(layer.n_units);
    Numbers rows(n_inputs * width);
    for (std::size_t unit = 0; unit < layer.n_units; ++unit) {
        for (std::size_t input = 0; input < n_inputs; ++input) {
            rows[input * width + unit] = weights[unit * layer.n_inputs + input];
        }
    }
    return rows;
}

} // namespace

std::vector<Layer> layers_of(const PlainNet &net) {
    std::vector<Layer> layers;
    std::size_t at = 0;
    const std::size_t members = net.n_members;
    for (std::size_t i = 0; i + 1 < net.widths.size(); ++i) {
        const bool is_last = i + 2 == net.widths.size();
        const auto n_units = static_cast<std::size_t>(net.widths[i + 1]) * (is_last ? members : 1);
        const bool has_thresholds = !is_last || net.last_threshold;
        const std::size_t of_members = is_last ? n_units : members * n_units;
        layers.push_back({.n_inputs = static_cast<std::size_t>(net.widths[i]),
                          .n_units = n_units,
                          .at = at,
                          .has_thresholds = has_thresholds,
                          .n_scales = is_last || members == 1 ? 0 : of_members,
                          .n_thresholds = has_thresholds ? of_members : 0});
        at += layers.back().n_numbers();
    }
    return layers;
}

NetMatrices::NetMatrices(const PlainNet &net, const Pieces &pieces, Ways ways)
    : net_(net), layers_(layers_of(net)), matrices_(layers_.size()),
      table_(pieces.empty() ? nullptr : std::make_unique<const NodeTable>(pieces)), ways_(ways) {
    refresh();
}

void NetMatrices::refresh() {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const Layer &layer = layers_[i];
        const auto weights = std::span<const float>(net_.weights).subspan(layer.at, layer.n_weights());
        lay_out_numbers(i);
        if (i == 0 && table_ != nullptr) {
            nodes_.resize(table_->n_rows() * padded_width(layer.n_units));
            table_->lay_out(weights, layer.n_units, nodes_);
        }
        const bool by_unit = (i == 0 && is_narrow()) || (has_members() && i + 1 == layers_.size());
        matrices_[i].forward =
            by_unit ? padded_rows(weights, layer.n_inputs) : turned(weights.data(), layer, n_multiplied(i));
        if (ways_ == Ways::both && i > 0 && !by_unit) matrices_[i].backward = padded_rows(weights, layer.n_inputs);
    }
}

// Scales and thresholds.
void NetMatrices::lay_out_numbers(std::size_t i) {
    const Layer &layer = layers_[i];
    const auto all = std::span<const float>(net_.weights).subspan(layer.at + layer.n_weights());
    const auto scales = all.first(layer.n_scales), thresholds = all.subspan(layer.n_scales, layer.n_thresholds);
    if (layer.n_scales > 0) {
        matrices_[i].scales = padded_rows(scales, layer.n_units);
        matrices_[i].thresholds = padded_rows(thresholds, layer.n_units);
    } else {
        matrices_[i].thresholds.assign(thresholds.begin(), thresholds.end());
    }
}

std::size_t NetMatrices::n_sums() const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        n += n_weight_sums(i) + matrices_[i].scales.size() + matrices_[i].thresholds.size();
    }
    return n;
}

void NetMatrices::write_gradient(std::span<const float> sums, std::span<float> gradient) const {
    const float *from = sums.data();
    float *to = gradient.data();
    const auto copy_rows = [&](std::size_t n_rows, std::size_t n, std::size_t width) {
        for (std::size_t row = 0; row < n_rows; ++row, from += padded_width(n), to += width) std::copy_n(from, n, to);
    };
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const Layer &layer = layers_[i];
        if (i == 0 && table_ != nullptr) {
            std::fill_n(to, layer.n_weights(), 0.0F);
            table_->add_gradient(from + layer.n_units * padded_width(n_multiplied(0)), layer.n_units, to);
        }
        copy_rows(layer.n_units, n_multiplied(i), layer.n_inputs);
        if (i == 0) from += nodes_.size();
        if (layer.n_scales > 0) {
            copy_rows(2 * net_.n_members, layer.n_units, layer.n_units);
        } else {
            to = std::copy_n(from, layer.n_thresholds, to);
            from += layer.n_thresholds;
        }
    }
}

namespace {

struct AddNumbers {
    [[gnu::always_inline]] static void run(const float *numbers, float *sums, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) sums[i] += numbers[i];
    }
};

} // namespace

void add_numbers(std::span<const float> numbers, std::span<float> sums) {
    run_for<AddNumbers>(simd_level(), numbers.data(), sums.data(), numbers.size());
}

void mean_scores(std::span<const double> scores, std::size_t n_members, std::span<double> means) {
    for (std::size_t k = 0; k < means.size(); ++k) {
        double sum = 0.0;
        for (const double score : scores.subspan(k * n_members, n_members)) sum += score;
        means[k] = sum / static_cast<double>(n_members);
    }
}

std::size_t NetPass::n_rows(std::size_t i) const {
    return rows_.rows.size() * (i == 0 ? 1 : matrices_.net().n_members);
}

MemberRows NetPass::members_of(std::size_t i) const {
    return {.n_docs = rows_.rows.size(),
            .n_members = matrices_.net().n_members,
            .width = padded_width(matrices_.layers()[i].n_units),
            .is_shared = i == 0};
}

WayBack NetPass::forward(const NetFeatures &features, std::span<const std::int64_t> rows, std::uint64_t key,
                         std::span<double> scores) {
    const auto &layers = matrices_.layers();
    rows_ = {features.values, features.shift.size(), rows, features.shift, features.factor};
    const std::size_t last = layers.size() - 1;
    for (std::size_t i = 0; i < last; ++i) {
        multiply(i);
        add_thresholds(i);
        activate(i, key);
    }
    std::size_t width = padded_width(1);
    if (matrices_.has_members()) {
        width = 1;
        values_.resize(scores.size());
        const MemberRows own{rows.size(), matrices_.net().n_members, padded_width(layers[last].n_inputs), false};
        member_scores(own, inputs_[last].data(), matrices_.forward(last).data(), values_.data());
        const Numbers &thresholds = matrices_.thresholds(last);
        for (std::size_t k = 0; k < scores.size() && !thresholds.empty(); ++k) {
            values_[k] += thresholds[k % thresholds.size()];
        }
    } else {
        multiply(last);
        add_thresholds(last);
    }
    for (std::size_t k = 0; k < scores.size(); ++k) scores[k] = static_cast<double>(values_[k * width]);
    return WayBack(*this);
}

void WayBack::add_derivatives(std::span<const float> forces, std::span<float> sums) { pass_.backward(forces, sums); }

// Fills `values_` with the weighted inputs of layer i.
void NetPass::multiply(std::size_t i) {
    const Layer &layer = matrices_.layers()[i];
    const std::size_t width = padded_width(layer.n_units);
    values_.assign(n_rows(i) * width, 0.0F);
    if (i == 0 && matrices_.is_narrow()) return first_layer(rows_, matrices_.forward(0), layer.n_units, values_);
    if (i == 0) enter();
    const std::size_t n_inputs = matrices_.n_multiplied(i);
    add_product({inputs_[i].data(), n_rows(i), n_inputs, padded_width(n_inputs), 1}, matrices_.forward(i).data(), width,
                values_.data());
    if (i == 0 && matrices_.table() != nullptr) {
        matrices_.table()->place(rows_, places_);
        add_placed_nodes(places_, matrices_.nodes().data(), width, values_.data());
    }
}

// Standardises the rows into the first layer's inputs.
void NetPass::enter() {
    const std::size_t width = padded_width(rows_.n_features);
    inputs_[0].resize(rows_.rows.size() * width);
    standardise_padded(rows_, inputs_[0]);
    if (matrices_.table() == nullptr) return;
    for (const std::size_t feature : matrices_.table()->categories()) {
        for (std::size_t k = 0; k < rows_.rows.size(); ++k) inputs_[0][k * width + feature] = 0.0F;
    }
}

// Members also scale what they add their thresholds to.
void NetPass::add_thresholds(std::size_t i) {
    const Layer &layer = matrices_.layers()[i];
    const std::size_t width = padded_width(layer.n_units);
    if (matrices_.has_members()) {
        const MemberRows own = members_of(i);
        weighted_[i].swap(values_);
        values_.resize(own.n_docs * own.n_members * width);
        return scale_members(own, weighted_[i].data(), matrices_.scales(i).data(), matrices_.thresholds(i).data(),
                             values_.data());
    }
    if (!layer.has_thresholds) return;
    const float *thresholds = matrices_.thresholds(i).data();
    for (std::size_t start = 0; start < values_.size(); start += width) {
        for (std::size_t unit = 0; unit < layer.n_units; ++unit) values_[start + unit] += thresholds[unit];
    }
}

void NetPass::activate(std::size_t i, std::uint64_t key) {
    const std::size_t n_units = matrices_.layers()[i].n_units, n = n_rows(i + 1);
    inputs_[i + 1].resize(values_.size());
    slopes_[i].resize(values_.size());
    const Units units{values_.data(), inputs_[i + 1].data(), slopes_[i].data(), padded_width(n_units), n_units};
    respond(matrices_.net().activation, units, n);
    const double dropout = matrices_.net().dropout;
    if (dropout == 0.0) return;
    const auto n_members = static_cast<std::int64_t>(matrices_.net().n_members);
    member_rows_.clear();
    for (const std::int64_t row : rows_.rows) {
        for (std::int64_t member = 0; member < n_members; ++member) member_rows_.push_back(row * n_members + member);
    }
    drop_out(units, member_rows_, dropout, stream_of(key, i));
}

void NetPass::backward(std::span<const float> forces, std::span<float> all_sums) {
    const auto &layers = matrices_.layers();
    float *sums = all_sums.data() + all_sums.size();
    std::size_t n_left = layers.size();
    if (matrices_.has_members()) {
        sums = add_last_members(forces, sums);
        --n_left;
    } else {
        values_.assign(forces.size() * padded_width(1), 0.0F);
        for (std::size_t k = 0; k < forces.size(); ++k) values_[k * padded_width(1)] = forces[k];
    }
    for (std::size_t i = n_left; i-- > 0;) {
        if (i + 1 < layers.size()) {
            for (std::size_t at = 0; at < values_.size(); ++at) values_[at] *= slopes_[i][at];
        }
        sums = add_thresholds_back(i, sums) - matrices_.n_weight_sums(i);
        add_weights_back(i, sums);
        if (i > 0) hand_back(i);
    }
}

// Adds the derivatives of the members' last layers, whose sums end at `sums`, and returns where they begin.
float *NetPass::add_last_members(std::span<const float> forces, float *sums) {
    const std::size_t last = matrices_.layers().size() - 1, n_members = matrices_.net().n_members;
    const MemberRows own{rows_.rows.size(), n_members, padded_width(matrices_.layers()[last].n_inputs), false};
    if (matrices_.layers()[last].has_thresholds) {
        sums -= n_members;
        for (std::size_t k = 0; k < forces.size(); ++k) sums[k % n_members] += forces[k];
    }
    sums -= matrices_.n_weight_sums(last);
    values_.resize(forces.size() * own.width);
    member_scores_back(own, inputs_[last].data(), matrices_.forward(last).data(), forces.data(), sums, values_.data());
    return sums;
}

// Adds the derivatives of thresholds and scales, whose sums end at `sums`, and returns where they begin. Forces on what
// members scaled become forces on the weighted inputs.
float *NetPass::add_thresholds_back(std::size_t i, float *sums) {
    const Layer &layer = matrices_.layers()[i];
    const std::size_t width = padded_width(layer.n_units);
    if (matrices_.has_members()) {
        const MemberRows own = members_of(i);
        float *threshold_sums = sums - own.n_members * width, *scale_sums = threshold_sums - own.n_members * width;
        handed_.resize(n_rows(i) * width);
        scale_members_back(own, weighted_[i].data(), matrices_.scales(i).data(), values_.data(), scale_sums,
                           threshold_sums, handed_.data());
        values_.swap(handed_);
        return scale_sums;
    }
    if (!layer.has_thresholds) return sums;
    sums -= layer.n_units;
    for (std::size_t start = 0; start < values_.size(); start += width) {
        for (std::size_t unit = 0; unit < layer.n_units; ++unit) sums[unit] += values_[start + unit];
    }
    return sums;
}

void NetPass::add_weights_back(std::size_t i, float *sums) {
    const Layer &layer = matrices_.layers()[i];
    const std::size_t width = padded_width(layer.n_units);
    const std::size_t between = padded_width(matrices_.n_multiplied(i));
    if (i == 0 && matrices_.table() != nullptr) {
        add_placed_forces(places_, values_.data(), width, sums + layer.n_units * between);
    }
    if (i == 0 && matrices_.is_narrow()) {
        return add_first_layer_gradient(rows_, values_, layer.n_units, {sums, matrices_.n_weight_sums(0)});
    }
    add_product({values_.data(), layer.n_units, n_rows(i), 1, width}, inputs_[i].data(), between, sums);
}

// Forces on a layer's units become forces on its inputs.
void NetPass::hand_back(std::size_t i) {
    const Layer &layer = matrices_.layers()[i];
    const std::size_t n = n_rows(i), between = padded_width(layer.n_units);
    handed_.assign(n * padded_width(layer.n_inputs), 0.0F);
    add_product({values_.data(), n, layer.n_units, between, 1}, matrices_.backward(i).data(),
                padded_width(layer.n_inputs), handed_.data());
    values_.swap(handed_);
}

} // namespace rankwright

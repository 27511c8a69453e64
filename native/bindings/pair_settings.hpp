// Names and Python objects as the kernels of λ-gradients take them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "core/lambdas.hpp"

namespace rankwright {

namespace nb = nanobind;

template <typename Value, std::size_t n>
Value named(std::string_view name, const std::pair<std::string_view, Value> (&values)[n]) {
    for (const auto &[known, value] : values)
        if (known == name) return value;
    throw std::invalid_argument("unknown name " + std::string(name));
}

inline PairLoss loss_named(std::string_view name) {
    return named<PairLoss>(
        name, {{"logistic", PairLoss::logistic}, {"hinge", PairLoss::hinge}, {"spring", PairLoss::spring}});
}

inline Delta delta_named(std::string_view name) {
    return named<Delta>(name, {{"constant", Delta::constant},
                               {"discounted-gain", Delta::discounted_gain},
                               {"average-precision", Delta::average_precision},
                               {"reciprocal-rank", Delta::reciprocal_rank},
                               {"expected-reciprocal-rank", Delta::expected_reciprocal_rank}});
}

template <typename T> T field(nb::handle object, const char *name) { return nb::cast<T>(object.attr(name)); }

inline PairSettings settings_of(nb::handle settings) {
    return {.loss = loss_named(field<std::string_view>(settings, "loss")),
            .shape = field<double>(settings, "shape"),
            .delta = delta_named(field<std::string_view>(settings, "delta")),
            .truncation = field<std::int64_t>(settings, "truncation"),
            .sampled = field<std::int64_t>(settings, "sampled"),
            .pair_equal_labels = field<bool>(settings, "pair_equal_labels"),
            .certainty = field<double>(settings, "certainty"),
            .query_norm = field<bool>(settings, "query_norm"),
            .gap_norm = field<bool>(settings, "gap_norm"),
            .shuffle_ties = field<bool>(settings, "shuffle_ties")};
}

} // namespace rankwright

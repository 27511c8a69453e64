// How much the pairs of each position still cost.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// Over all pairs of a query whose labels differ, the logistic cost of the scores, weighed by the weight of the other
// document's position: added up at the position of the better document, and at that of the worse one.
void position_losses(std::span<const std::int64_t> offsets, std::span<const float> labels,
                     std::span<const double> scores, std::span<const std::int64_t> positions,
                     std::span<const double> clicked_weight, std::span<const double> other_weight,
                     std::span<double> of_clicked, std::span<double> of_other, int threads);

} // namespace rankwright

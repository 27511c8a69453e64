// The ranking that breaks SVM-MAP's constraints most (Yue, Finley, Radlinski, Joachims 2007).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

// For each query finds the ranking ŷ with the largest 1 - AP(ŷ) + w·Ψ(ŷ), and fills `loss` with 1 - AP(ŷ) and
// `coefficients` with the factor of each document's features in Ψ(y) - Ψ(ŷ), y being any right ranking. A query without
// relevant or without irrelevant documents breaks no constraint: 0.
void map_violations(std::span<const double> scores, std::span<const std::int64_t> offsets,
                    std::span<const std::uint8_t> relevant, std::span<double> coefficients, std::span<double> loss,
                    int threads);

} // namespace rankwright

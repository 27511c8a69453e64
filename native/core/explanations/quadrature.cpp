#include "core/explanations/quadrature.hpp"

#include <numbers>
#include <utility>

namespace rankwright {

namespace {

constexpr int newton_steps = 12; // far more than a start this good needs

// cos x for 0 <= x <= π / 2, good enough to start Newton's steps from.
double rough_cosine(double x) {
    double sum = 1.0, term = 1.0;
    for (int i = 1; i <= 10; ++i) {
        term *= -x * x / ((2.0 * i - 1.0) * (2.0 * i));
        sum += term;
    }
    return sum;
}

// The Legendre polynomial of degree n at x, and its derivative.
std::pair<double, double> legendre(std::size_t n, double x) {
    double before = 1.0, value = x;
    for (std::size_t degree = 2; degree <= n; ++degree) {
        const auto d = static_cast<double>(degree);
        before = std::exchange(value, ((2.0 * d - 1.0) * x * value - (d - 1.0) * before) / d);
    }
    return {value, static_cast<double>(n) * (x * value - before) / (x * x - 1.0)};
}

} // namespace

Quadrature gauss_legendre(std::size_t n) {
    Quadrature rule{std::vector<double>(n, 0.5), std::vector<double>(n, 1.0)};
    if (n < 2) return rule;
    for (std::size_t i = 0; i < (n + 1) / 2; ++i) {
        const double angle = std::numbers::pi * (static_cast<double>(i) + 0.75) / (static_cast<double>(n) + 0.5);
        double x = 2 * i + 1 == n ? 0.0 : rough_cosine(angle);
        for (int step = 0; step < newton_steps && x != 0.0; ++step) {
            const auto [value, slope] = legendre(n, x);
            x -= value / slope;
        }
        const double slope = legendre(n, x).second;
        rule.points[i] = (1.0 - x) / 2.0;
        rule.points[n - 1 - i] = (1.0 + x) / 2.0;
        rule.weights[i] = rule.weights[n - 1 - i] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
    return rule;
}

} // namespace rankwright

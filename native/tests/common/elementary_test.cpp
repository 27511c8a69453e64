#include "core/common/elementary.hpp"

#include <cmath>
#include <initializer_list>
#include <limits>

#include "tests/check.hpp"
#include "tests/test.hpp"

using namespace rankwright;

namespace {

template <typename Real> bool is_near(Real found, long double wanted, int units) {
    return std::abs(found - wanted) <= units * std::numeric_limits<Real>::epsilon() * wanted;
}

template <typename Real> void exponentials_are_accurate() {
    CHECK(exp_minus(Real(0)) == Real(1));
    for (Real x = 0; x < 80; x += Real(0.00137)) CHECK(is_near(exp_minus(x), std::exp(-(long double)x), 2));
    const Real smallest = exp_minus(std::numeric_limits<Real>::max());
    CHECK(smallest > 0 && smallest < Real(1e-37));
}

template <typename Real> void logarithms_are_accurate() {
    for (Real e = Real(1e-6); e <= 1; e += Real(0.00037))
        CHECK(is_near(log_one_plus(e), std::log1p((long double)e), 4));
    CHECK(is_near(log_one_plus(Real(1)), std::log(2.0L), 4));
}

template <typename Real> void logarithms_of_large_numbers_are_accurate() {
    CHECK(log_of(Real(1)) == Real(0));
    for (Real x = Real(1.001); x < Real(1e35); x *= Real(1.0173))
        CHECK(is_near(log_of(x), std::log((long double)x), 4));
}

template <typename Real> void tangents_are_accurate() {
    for (Real x = Real(-30); x < 30; x += Real(0.00137))
        CHECK(std::abs(tanh_of(x) - std::tanh((long double)x)) <= 2 * std::numeric_limits<Real>::epsilon());
    for (Real x : {Real(0), Real(1e-9), Real(0.3), Real(5), std::numeric_limits<Real>::max()}) {
        CHECK(tanh_of(-x) == -tanh_of(x)); // to the bit: comparators rely on it
        CHECK(std::abs(tanh_of(x)) <= 1);
    }
}

const rankwright::Test test("elementary", [] {
    tangents_are_accurate<float>();
    tangents_are_accurate<double>();
    exponentials_are_accurate<float>();
    exponentials_are_accurate<double>();
    logarithms_are_accurate<float>();
    logarithms_are_accurate<double>();
    logarithms_of_large_numbers_are_accurate<float>();
    logarithms_of_large_numbers_are_accurate<double>();
});

} // namespace

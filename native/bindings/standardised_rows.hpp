// The rows of a feature matrix, standardised on the way to a net.
#pragma once

#include "bindings/records.hpp"

namespace rankwright {

struct StandardisedRows {
    std::span<const float> features;
    std::size_t n_features = 0;
    std::span<const float> shift, factor;
};

template <> struct Reader<StandardisedRows> {
    static StandardisedRows read(nb::handle rows) {
        const auto features = field<InMatrix<float>>(rows, "features");
        return {view(features), features.shape(1), view<float>(rows, "shift"), view<float>(rows, "factor")};
    }
};

} // namespace rankwright

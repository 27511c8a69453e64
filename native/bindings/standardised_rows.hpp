// The rows of a feature matrix, standardised on the way to a net.
#pragma once

#include "bindings/records.hpp"
#include "bindings/require.hpp"

namespace rankwright {

struct StandardisedRows {
    std::span<const float> features;
    std::size_t n_rows = 0, n_features = 0;
    std::span<const float> shift, factor;

    void require_fit() const {
        require_size("shift", shift.size(), n_features);
        require_size("factor", factor.size(), n_features);
    }
    void require_rows(std::span<const std::int64_t> rows) const {
        require_fit();
        require_below("rows", rows, n_rows);
    }
};

template <> struct Reader<StandardisedRows> {
    static StandardisedRows read(nb::handle rows) {
        const auto features = field<InMatrix<float>>(rows, "features");
        return {view(features), features.shape(0), features.shape(1), view<float>(rows, "shift"),
                view<float>(rows, "factor")};
    }
};

} // namespace rankwright

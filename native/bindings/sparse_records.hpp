// Sparse features and codes as the core takes them.
#pragma once

#include "bindings/records.hpp"
#include "core/binning/sparse_binning.hpp"
#include "core/binning/sparse_codes.hpp"

namespace rankwright {

template <> struct Reader<SparseTable> {
    static SparseTable read(nb::handle table) {
        return {.starts = view<std::int64_t>(table, "starts"),
                .columns = view<std::int32_t>(table, "columns"),
                .values = view<float>(table, "values"),
                .n_columns = field<std::size_t>(table, "n_columns"),
                .absent = field<float>(table, "absent")};
    }
};

template <> struct Reader<Codes<const SparseCode>> {
    static Codes<const SparseCode> read(nb::handle codes) {
        return {.first = view<std::uint32_t>(codes, "first"),
                .n_places = view<std::uint32_t>(codes, "n_places"),
                .usual = view<std::uint32_t>(codes, "usual"),
                .bundle = view<std::int32_t>(codes, "bundle"),
                .bases = view<std::uint32_t>(codes, "bases"),
                .bundled = view(field<InMatrix<std::uint16_t>>(codes, "bundled")),
                .starts = view<std::int64_t>(codes, "starts"),
                .listed = view<std::uint32_t>(codes, "listed"),
                .crowded = view<std::uint32_t>(codes, "crowded"),
                .n_total_places = field<std::size_t>(codes, "n_total_places")};
    }
};

inline const Codes<const SparseCode> &codes_of(const Codes<const SparseCode> &codes) { return codes; }

} // namespace rankwright

// The features of a query's documents, straight from JSON text into float32.
//
// The text is an object, of which one member holds the features of all documents, in one of three shapes:
//   "rows": [[1, 2], [3, 4]]                    a row for each document, features in the model's order
//   "columns": {"a": [1, 3], "b": [2, 4]}       a column for each feature, by name
//   "documents": [{"a": 1, "b": 2}, {…}]        named features, document by document
// All other members are skipped: whoever reads them checks that they are JSON. null is a missing value.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// What can be wrong with the features. The numbers are part of the kernel's interface: kernels/shared_codes.py has
// their twins.
enum class JsonProblem : std::int64_t {
    none = 0,
    not_json = 1,         // at `begin`
    not_a_number = 2,     // what stands between `begin` and `end`
    number_too_large = 3, // for float32
    wrong_width = 4,      // a row has `column` values, or more than there are features
    unknown_feature = 5,  // whose name stands between `begin` and `end`
    missing_feature = 6,  // `column` is not there
    repeated_feature = 7, // `column` is there twice
    too_many_rows = 8,    // for the room given
    uneven_columns = 9,   // `column` has `row` values, the first column has others
    escaped_name = 10,    // a name has an escape: it is to be read by another reader
};

enum class JsonShape : std::int64_t { none = 0, rows = 1, columns = 2, documents = 3 };

// Names of features, one behind the other; `sorted` numbers them in the order of their bytes.
struct JsonNames {
    std::span<const char> text;
    std::span<const std::int64_t> offsets;
    std::span<const std::int64_t> sorted;
};

struct JsonReport {
    JsonProblem problem = JsonProblem::none;
    JsonShape shape = JsonShape::none; // none where no member has features
    std::int64_t n_rows = 0;
    std::int64_t value_begin = 0, value_end = 0; // where the features' own text stands
    std::int64_t row = 0, column = 0, begin = 0, end = 0;
};

// Fills the first rows of `features`, which has room for some rows of one value for each name.
JsonReport parse_json_features(std::span<const char> text, const JsonNames &names, std::span<float> features);

} // namespace rankwright

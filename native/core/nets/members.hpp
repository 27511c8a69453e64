// Many nets in one: members share the weights of hidden layers, and have scales, thresholds and a last layer of their
// own. A document has a row of units for each member, those of a document together.
#pragma once

#include <cstddef>

namespace rankwright {

// Rows of `width` numbers, for each of `n_docs` documents and `n_members` members. Where `is_shared`, the weighted
// inputs are the same for all members of a document, and have one row.
struct MemberRows {
    std::size_t n_docs, n_members, width;
    bool is_shared;

    std::size_t input_row(std::size_t doc, std::size_t member) const {
        return is_shared ? doc : doc * n_members + member;
    }
};

// Fills out = scale · weighted input + threshold; scales and thresholds have a row for each member.
void scale_members(const MemberRows &rows, const float *inputs, const float *scales, const float *thresholds,
                   float *out);

// The way back: adds the derivatives by scales and by thresholds, and fills the forces on the weighted inputs.
void scale_members_back(const MemberRows &rows, const float *inputs, const float *scales, const float *forces,
                        float *scale_sums, float *threshold_sums, float *handed);

// Fills the score of each row: its product with its member's row of weights. Nothing here is shared.
void member_scores(const MemberRows &rows, const float *inputs, const float *weights, float *scores);

// The way back from scores to inputs: adds the derivatives by weights, and fills the forces on the inputs.
void member_scores_back(const MemberRows &rows, const float *inputs, const float *weights, const float *forces,
                        float *weight_sums, float *handed);

} // namespace rankwright

#include <math.h>
#include <stdint.h>

/* Leaves of a tree are numbered from left to right, and a document starts at the first. A document whose number is that
   of the first leaf below a node has reached that node; if its code is above the node's, its number becomes that of the
   first leaf below the right child. LANES documents visit a node together. */
#define LANES 64
typedef @lane@ lane;
typedef struct { uint16_t column; lane first, code, right; } node;
typedef struct { int32_t feature, edges, steps, n_edges, missing_left, words, reading; } column;

@arrays@
#define N_COLUMNS @n_columns@
#define N_TREES @n_trees@

@value@
/* How many of a column's thresholds are below each value: its code. */
static void fill_column(const column *own, const float *rows, size_t count, size_t stride, lane *codes) {
    const float *cuts = edges + own->edges;
    float values[LANES];
    uint32_t places[LANES];
    for (size_t d = 0; d < LANES; ++d) {
        values[d] = read_value(rows[(d < count ? d : 0) * stride + (size_t)own->feature], own->reading);
        places[d] = 0;
    }
    for (uint32_t half = 1u << (own->steps - 1); half > 0; half >>= 1) {
        for (size_t d = 0; d < LANES; ++d) places[d] += cuts[places[d] + half - 1] < values[d] ? half : 0;
    }
    for (size_t d = 0; d < LANES; ++d) {
        const float x = values[d];
        uint32_t place = places[d];
        const uint32_t n = (uint32_t)own->n_edges;
        if (own->words >= 0) {
            if (x != x) place = n;
            else if (place >= n || cuts[place] != x) place = own->reading >= 2 ? 0 : n;
            place = words[(uint32_t)own->words + place / 32] >> (place % 32) & 1 ? 0 : 1;
        } else if (x != x) {
            place = own->missing_left ? 0 : n;
        }
        codes[d] = (lane)place;
    }
}

#if defined(__GNUC__) && defined(__x86_64__) && defined(__linux__) && !defined(__clang__) && __GNUC__ >= 12
#define EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define EACH_PROCESSOR
#endif

EACH_PROCESSOR
static void visit_trees(const lane (*codes)[LANES], lane (*numbers)[LANES], int first, int last) {
    for (int tree = first; tree < last; ++tree) {
#if defined(__GNUC__)
        typedef lane lanes __attribute__((vector_size(16), may_alias)); /* what every processor has */
        enum { PIECES = LANES * sizeof(lane) / 16 };
        lanes at[PIECES];
        for (int p = 0; p < PIECES; ++p) at[p] = (lanes){0};
        for (int32_t n = node_offsets[tree]; n < node_offsets[tree + 1]; ++n) {
            const lanes *own = (const lanes *)codes[nodes[n].column];
            const lanes first_leaf = (lanes){0} + nodes[n].first, code = (lanes){0} + nodes[n].code;
            const lanes right = (lanes){0} + nodes[n].right;
#pragma GCC unroll 8
            for (int p = 0; p < PIECES; ++p) {
                const lanes goes = (lanes)(at[p] == first_leaf) & (lanes)(own[p] > code);
                at[p] = (at[p] & ~goes) | (right & goes);
            }
        }
        for (int p = 0; p < PIECES; ++p) ((lanes *)numbers[tree - first])[p] = at[p];
#else
        lane *at = numbers[tree - first];
        for (size_t d = 0; d < LANES; ++d) at[d] = 0;
        for (int32_t n = node_offsets[tree]; n < node_offsets[tree + 1]; ++n) {
            const lane *own = codes[nodes[n].column];
            for (size_t d = 0; d < LANES; ++d) {
                if (at[d] == nodes[n].first && own[d] > nodes[n].code) at[d] = nodes[n].right;
            }
        }
#endif
    }
}

#define TREES_AT_ONCE 16

static void score_block(const float *rows, size_t count, size_t stride, double *scores) {
#if defined(__GNUC__)
    __attribute__((aligned(64)))
#endif
    lane codes[N_COLUMNS > 0 ? N_COLUMNS : 1][LANES];
#if defined(__GNUC__)
    __attribute__((aligned(64)))
#endif
    lane numbers[TREES_AT_ONCE][LANES];
    double sums[LANES];
    for (size_t d = 0; d < LANES; ++d) sums[d] = 0;
    for (int c = 0; c < N_COLUMNS; ++c) fill_column(&columns[c], rows, count, stride, codes[c]);
    for (int first = 0; first < N_TREES; first += TREES_AT_ONCE) {
        const int last = first + TREES_AT_ONCE < N_TREES ? first + TREES_AT_ONCE : N_TREES;
        visit_trees((const lane (*)[LANES])codes, numbers, first, last);
        for (int tree = first; tree < last; ++tree) {
            const float *own = leaves + leaf_offsets[tree];
            for (size_t d = 0; d < count; ++d) sums[d] += (double)own[numbers[tree - first][d]];
        }
    }
    for (size_t d = 0; d < count; ++d) scores[d] = @base@ + sums[d];
}

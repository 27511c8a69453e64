#include <stddef.h>
#define LANES 64
static void score_block(const float *rows, size_t count, size_t stride, double *scores) {
    (void)rows; (void)stride;
    for (size_t d = 0; d < count; ++d) scores[d] = @base@;
}

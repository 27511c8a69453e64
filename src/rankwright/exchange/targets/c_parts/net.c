#include <math.h>

#define LANES 64
#define N @n_features@
@arrays@
static void layer(const double *weights, const double *bias, int n_out, int n_in, const double *in, double *out) {
    for (int u = 0; u < n_out; ++u) {
        double sum = bias[u];
        for (int i = 0; i < n_in; ++i) sum += weights[u * n_in + i] * in[i];
        out[u] = sum;
    }
}

static double score_one(const float *features) {
    double x[@widest@], y[@widest@];
    for (int f = 0; f < N; ++f) x[f] = features[f];
@calls@
    return @last@[0];
}

static void score_block(const float *rows, size_t count, size_t stride, double *scores) {
    for (size_t d = 0; d < count; ++d) scores[d] = score_one(rows + d * stride);
}


void @name@_score_many(const float *features, size_t n_documents, size_t stride, double *scores) {
    for (size_t first = 0; first < n_documents; first += LANES) {
        const size_t left = n_documents - first;
        score_block(features + first * stride, left < LANES ? left : LANES, stride, scores + first);
    }
}

double @name@_score(const float *features) {
    double score;
    @name@_score_many(features, 1, 0, &score);
    return score;
}

/* Scores documents with a ranker. Features are float, in the order of training; NaN is a missing value. */
#ifndef @upper@_H
#define @upper@_H
#include <stddef.h>
#define @upper@_N_FEATURES @n_features@
/* The columns:
@columns@ */
#ifdef __cplusplus
extern "C" {
#endif
/* The score of one document. */
double @name@_score(const float *features);
/* The scores of documents whose features lie `stride` floats apart: faster than one at a time. */
void @name@_score_many(const float *features, size_t n_documents, size_t stride, double *scores);
#ifdef __cplusplus
}
#endif
#endif

/* 1: zeros are missing; 2 and 3: values are cut to categories, negative ones to none. */
static float read_value(float x, int reading) {
    if (reading == 1 && x >= -1e-35f && x <= 1e-35f) return NAN;
    if (reading < 2 || x != x) return x;
    if (reading == 3 ? x < 0 : x <= -1) return -1.0f;
    if (x >= 2147483648.0f) return -1.0f;
    return (float)(int64_t)x;
}

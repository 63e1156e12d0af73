#include "stats.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

uint64_t stats_median(uint64_t *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, compare);
    return values[(count - 1) / 2];
}

double stats_slope(const double *x, const double *y, size_t count)
{
    double mean_x = 0, mean_y = 0;
    for (size_t i = 0; i < count; i++) {
        mean_x += x[i] / (double)count;
        mean_y += y[i] / (double)count;
    }
    double covariance = 0, variance = 0;
    for (size_t i = 0; i < count; i++) {
        covariance += (x[i] - mean_x) * (y[i] - mean_y);
        variance += (x[i] - mean_x) * (x[i] - mean_x);
    }
    return variance > 0 ? covariance / variance : 0;
}

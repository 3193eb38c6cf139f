/* See picture.h. Uses libpng's simplified interface, which takes a whole image at once. */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>

#include <png.h>

/* Colours from cold to hot. Between two of them, the colours are mixed. */
static const double scale[][3] = {
    {10, 10, 60}, {70, 20, 130}, {200, 40, 70}, {250, 150, 30}, {255, 250, 210}};
enum { COLOURS = sizeof scale / sizeof *scale };

static void colour_of(double part, unsigned char *rgb) {
    if (!(part > 0)) part = 0;
    if (part > 1) part = 1;
    int low = (int)(part * (COLOURS - 1));
    if (low > COLOURS - 2) low = COLOURS - 2;
    double between = part * (COLOURS - 1) - low;
    for (int c = 0; c < 3; ++c)
        rgb[c] = (unsigned char)(scale[low][c] * (1 - between) + scale[low + 1][c] * between + 0.5);
}

int write_picture(const char *path, const double *values, int width, int height, double low, double high) {
    size_t points = (size_t)width * (size_t)height;
    unsigned char *rgb = malloc(3 * points);
    if (!rgb) {
        fprintf(stderr, "heat: no memory for a picture of %d x %d points\n", width, height);
        return 1;
    }
    for (size_t i = 0; i < points; ++i) colour_of((values[i] - low) / (high - low), rgb + 3 * i);
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    int written = png_image_write_to_file(&image, path, 0, rgb, 0, NULL);
    if (!written) fprintf(stderr, "heat: cannot write %s: %s\n", path, image.message);
    free(rgb);
    return !written;
}

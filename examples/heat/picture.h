/* Writes a field of temperatures as a PNG picture, for heat.c. Nothing here uses MPI. */
#pragma once

/* `values` has height rows of width values. `low` becomes dark blue and `high` white, with red between them.
 * Returns 0, or 1 after a message on stderr if the file cannot be written. */
int write_picture(const char *path, const double *values, int width, int height, double low, double high);

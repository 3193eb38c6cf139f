/* Writing a field of temperatures as a PNG picture, for heat.c. Nothing here knows of MPI. */
#pragma once

/* `values` holds height rows of width values; `low` becomes dark blue, `high` white, and red lies between.
 * Returns 0, or 1 after a sentence on stderr if the file cannot be written. */
int write_picture(const char *path, const double *values, int width, int height, double low, double high);

/* imported LIBRARY LIST: loads the library and looks up every name in the list. The list has one name in each
 * line, and contains the names that a compiled program imports. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    FILE *list = argc == 3 ? fopen(argv[2], "r") : NULL;
    if (!library || !list)
        return fprintf(stderr, "imported: %s cannot be opened\n", library ? argv[2] : dlerror()), 1;
    int names = 0, missing = 0;
    for (char name[256]; fgets(name, sizeof name, list); ++names) {
        name[strcspn(name, "\n")] = 0;
        if (!dlsym(library, name)) missing += printf("missing: %s\n", name) > 0;
    }
    fclose(list);
    printf("%d names, %d missing\n", names, missing);
    return names < 40 || missing > 0;
}

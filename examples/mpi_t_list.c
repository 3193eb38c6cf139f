/* Lists what an MPI library reports to tools about itself through the tool information interface: settings
   that can be read and changed, counters, events, and the categories they are in. It works with any MPI
   library.

       mpicc -o mpi_t_list mpi_t_list.c && ./mpi_t_list [--values]

   The lists are tables in Markdown. --values adds the values of control variables that belong to no
   object. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { room = 2048 };

static void must(int code, const char *what) {
    if (code == MPI_SUCCESS) return;
    fprintf(stderr, "%s: error %d\n", what, code);
    exit(1);
}

/* The name of a constant, from a list of values and names. */
struct constant {
    int value;
    const char *name;
};
static const char *name_of(const struct constant *list, int value) {
    while (list->name && list->value != value) ++list;
    return list->name ? list->name : "?";
}
static const struct constant verbosities[] = {{MPI_T_VERBOSITY_USER_BASIC, "users"},
                                              {MPI_T_VERBOSITY_USER_DETAIL, "users, detail"},
                                              {MPI_T_VERBOSITY_USER_ALL, "users, all"},
                                              {MPI_T_VERBOSITY_TUNER_BASIC, "tuners"},
                                              {MPI_T_VERBOSITY_TUNER_DETAIL, "tuners, detail"},
                                              {MPI_T_VERBOSITY_TUNER_ALL, "tuners, all"},
                                              {MPI_T_VERBOSITY_MPIDEV_BASIC, "developers"},
                                              {MPI_T_VERBOSITY_MPIDEV_DETAIL, "developers, detail"},
                                              {MPI_T_VERBOSITY_MPIDEV_ALL, "developers, all"},
                                              {0, NULL}};
static const struct constant scopes[] = {
    {MPI_T_SCOPE_CONSTANT, "constant"},     {MPI_T_SCOPE_READONLY, "read only"},
    {MPI_T_SCOPE_LOCAL, "local"},           {MPI_T_SCOPE_GROUP, "group"},
    {MPI_T_SCOPE_GROUP_EQ, "group, equal"}, {MPI_T_SCOPE_ALL, "all"},
    {MPI_T_SCOPE_ALL_EQ, "all, equal"},     {0, NULL}};
static const struct constant classes[] = {{MPI_T_PVAR_CLASS_STATE, "state"},
                                          {MPI_T_PVAR_CLASS_LEVEL, "level"},
                                          {MPI_T_PVAR_CLASS_SIZE, "size"},
                                          {MPI_T_PVAR_CLASS_PERCENTAGE, "percentage"},
                                          {MPI_T_PVAR_CLASS_HIGHWATERMARK, "high watermark"},
                                          {MPI_T_PVAR_CLASS_LOWWATERMARK, "low watermark"},
                                          {MPI_T_PVAR_CLASS_COUNTER, "counter"},
                                          {MPI_T_PVAR_CLASS_AGGREGATE, "aggregate"},
                                          {MPI_T_PVAR_CLASS_TIMER, "timer"},
                                          {MPI_T_PVAR_CLASS_GENERIC, "generic"},
                                          {0, NULL}};

/* Prints the type of a variable, and of an enumeration its words. */

static void print_type(MPI_Datatype type, MPI_T_enum enumeration) {
    if (enumeration != MPI_T_ENUM_NULL) {
        int items, i;
        must(MPI_T_enum_get_info(enumeration, &items, NULL, NULL), "MPI_T_enum_get_info");
        for (i = 0; i < items; ++i) {
            char name[room];
            int length = room;
            must(MPI_T_enum_get_item(enumeration, i, NULL, name, &length), "MPI_T_enum_get_item");
            printf("%s%s", i ? ", " : "", name);
        }
        return;
    }
    printf("%s", type == MPI_CHAR                 ? "text"
                 : type == MPI_INT                ? "int"
                 : type == MPI_UNSIGNED           ? "unsigned"
                 : type == MPI_COUNT              ? "count"
                 : type == MPI_UNSIGNED_LONG_LONG ? "unsigned long long"
                 : type == MPI_UNSIGNED_LONG      ? "unsigned long"
                 : type == MPI_DOUBLE             ? "double"
                                                  : "other");
}

static const char *bound(int bind) {
    return bind == MPI_T_BIND_NO_OBJECT  ? ""
           : bind == MPI_T_BIND_MPI_COMM ? " of a communicator"
                                         : " of an object";
}

static void print_value(int index, MPI_Datatype type) {
    MPI_T_cvar_handle handle;
    int count;
    char *buffer;
    must(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count), "MPI_T_cvar_handle_alloc");
    buffer = calloc((size_t)count, 8);
    must(MPI_T_cvar_read(handle, buffer), "MPI_T_cvar_read");
    if (type == MPI_CHAR) printf(" %s |", buffer);
    if (type == MPI_INT) printf(" %d |", *(int *)(void *)buffer);
    if (type == MPI_COUNT) printf(" %lld |", (long long)*(MPI_Count *)(void *)buffer);
    free(buffer);
    must(MPI_T_cvar_handle_free(&handle), "MPI_T_cvar_handle_free");
}

static void list_cvars(int values) {
    int number, i;
    must(MPI_T_cvar_get_num(&number), "MPI_T_cvar_get_num");
    printf("| control variable | values | scope | for |%s what |\n|---|---|---|---|%s---|\n",
           values ? " now |" : "", values ? "---|" : "");
    for (i = 0; i < number; ++i) {
        char name[room], text[room];
        int name_length = room, text_length = room, verbosity, bind, scope;
        MPI_Datatype type;
        MPI_T_enum enumeration;
        must(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &enumeration, text, &text_length,
                                 &bind, &scope),
             "MPI_T_cvar_get_info");
        printf("| `%s`%s | ", name, bound(bind));
        print_type(type, enumeration);
        printf(" | %s | %s |", name_of(scopes, scope), name_of(verbosities, verbosity));
        if (values && bind == MPI_T_BIND_NO_OBJECT) print_value(i, type);
        else if (values) printf(" |");
        printf(" %s |\n", text);
    }
}

static void list_pvars(void) {
    int number, i;
    must(MPI_T_pvar_get_num(&number), "MPI_T_pvar_get_num");
    printf("\n| performance variable | class | type | for | what |\n|---|---|---|---|---|\n");
    for (i = 0; i < number; ++i) {
        char name[room], text[room];
        int name_length = room, text_length = room, verbosity, var_class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum enumeration;
        must(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &var_class, &type, &enumeration, text,
                                 &text_length, &bind, &readonly, &continuous, &atomic),
             "MPI_T_pvar_get_info");
        printf("| `%s`%s | %s%s | ", name, bound(bind), name_of(classes, var_class),
               readonly ? ", read only" : "");
        print_type(type, enumeration);
        printf(" | %s | %s |\n", name_of(verbosities, verbosity), text);
    }
}

static void list_events(void) {
    int number, i, j;
    must(MPI_T_event_get_num(&number), "MPI_T_event_get_num");
    printf("\n| event | elements | for | what |\n|---|---|---|---|\n");
    for (i = 0; i < number; ++i) {
        char name[room], text[room];
        int name_length = room, text_length = room, verbosity, bind, elements = 16;
        MPI_Datatype types[16];
        MPI_Aint displacements[16];
        MPI_T_enum enumeration;
        MPI_Info info;
        must(MPI_T_event_get_info(i, name, &name_length, &verbosity, types, displacements, &elements,
                                  &enumeration, &info, text, &text_length, &bind),
             "MPI_T_event_get_info");
        MPI_Info_free(&info);
        printf("| `%s`%s | ", name, bound(bind));
        for (j = 0; j < elements; ++j) {
            char element[room] = "";
            int length = room;
            if (enumeration != MPI_T_ENUM_NULL)
                must(MPI_T_enum_get_item(enumeration, j, NULL, element, &length), "MPI_T_enum_get_item");
            printf("%s%s (", j ? ", " : "", element);
            print_type(types[j], MPI_T_ENUM_NULL);
            printf(")");
        }
        printf(" | %s | %s |\n", name_of(verbosities, verbosity), text);
    }
}

static void list_categories(void) {
    int number, i;
    must(MPI_T_category_get_num(&number), "MPI_T_category_get_num");
    printf("\n| category | categories in it | control variables | performance variables | events | what |\n"
           "|---|---|---|---|---|---|\n");
    for (i = 0; i < number; ++i) {
        char name[room], text[room];
        int name_length = room, text_length = room, cvars, pvars, categories, events;
        must(MPI_T_category_get_info(i, name, &name_length, text, &text_length, &cvars, &pvars, &categories),
             "MPI_T_category_get_info");
        must(MPI_T_category_get_num_events(i, &events), "MPI_T_category_get_num_events");
        printf("| `%s` | %d | %d | %d | %d | %s |\n", name, categories, cvars, pvars, events, text);
    }
}

int main(int argc, char **argv) {
    int provided;
    must(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "MPI_T_init_thread");
    list_cvars(argc > 1 && strcmp(argv[1], "--values") == 0);
    list_pvars();
    list_events();
    list_categories();
    must(MPI_T_finalize(), "MPI_T_finalize");
    return 0;
}

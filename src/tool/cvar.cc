// See cvar.h.
#include "tool/cvar.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/pool.h"
#include "coll/kept_plans.h"
#include "coll/select.h"

extern char **environ;

namespace lanyard::tool {

namespace {

constexpr int room_for_text = 1024;

// The values, as text, that the program has written before the first initialisation, by the row of the
// setting.
std::map<const SettingRow *, std::string> &written() {
    static auto &only = *new std::map<const SettingRow *, std::string>;
    return only;
}

ObjectPool<CvarHandle> &handles() {
    static auto &only = *new ObjectPool<CvarHandle>(1 << 16);
    return only;
}

Cvar setting_variable(const SettingRow &row) {
    static const ToolEnum *switched = make_enumeration("switch", {"off", "on"});
    Cvar made{"LANYARD_" + row.name, row.sentence, "settings", verbosity_of(row.audience), abi::type_char,
              nullptr, abi::t_bind_no_object, row.alike ? abi::t_scope_all_eq : abi::t_scope_local, &row};
    if (row.type == SettingType::integer) made.datatype = abi::type_count;
    if (row.type == SettingType::boolean) made.enumeration = switched;
    if (!row.choices.empty()) made.enumeration = make_enumeration(row.kind, row.choices);
    if (made.enumeration) made.datatype = abi::type_int;
    return made;
}

Cvar algorithm_variable(Operation operation) {
    std::string name = name_of(operation);
    std::vector<std::string> algorithms{"best"};
    for (const char *each : algorithms_of(operation)) algorithms.emplace_back(each);
    Cvar made{"coll_" + name + "_algorithm",
              "the algorithm of " + name +
                  " on this communicator, where it can be used for the call's data; best: the library "
                  "chooses; to be set to the same value on all its processes, between the same collective "
                  "calls",
              "coll", abi::t_verbosity_tuner_basic, abi::type_int,
              make_enumeration(name + " algorithm", algorithms), abi::t_bind_mpi_comm, abi::t_scope_group_eq,
              nullptr};
    made.operation = static_cast<int>(operation);
    return made;
}

// The present settings. Before the first initialisation, what the settings would be if MPI were initialised
// now.
Settings settings_now() {
    if (host()) return host()->settings();
    Settings settings;
    std::vector<std::string> warnings;
    read_all_settings(environ, settings, warnings);
    apply_written_cvars(settings);
    return settings;
}

// The index of a word among the items of an enumeration; -1 if the word is not an item.
int value_of(const ToolEnum &enumeration, const std::string &word) {
    auto found = std::find(enumeration.items.begin(), enumeration.items.end(), word);
    return found == enumeration.items.end() ? -1 : static_cast<int>(found - enumeration.items.begin());
}

Error write_setting(const SettingRow &row, const std::string &value) {
    Settings changed = settings_now();
    if (std::string wrong = set_value(changed, row, value.c_str()); !wrong.empty())
        return failure(abi::t_err_invalid, wrong);
    if (!host()) {
        written()[&row] = value;
        return {};
    }
    host()->while_still([&] {
        set_value(host()->settings(), row, value.c_str());
        host()->settings_changed();
    });
    return {};
}

// The value that the program passes, as the text that an environment variable would have. An integer that is
// no value of the enumeration, such as 7, becomes "value 7", which no setting accepts.
std::string text_of(const CvarHandle &handle, const void *from) {
    const Cvar &variable = *handle.variable;
    if (variable.datatype == abi::type_count) return std::to_string(*static_cast<const int64_t *>(from));
    if (variable.enumeration) {
        int value = *static_cast<const int *>(from);
        const std::vector<std::string> &items = variable.enumeration->items;
        return value >= 0 && value < static_cast<int>(items.size()) ? items[static_cast<size_t>(value)]
                                                                    : "value " + std::to_string(value);
    }
    auto *text = static_cast<const char *>(from);
    return std::string(text, strnlen(text, static_cast<size_t>(handle.count)));
}

}  // namespace

const std::vector<Cvar> &cvars() {
    static const std::vector<Cvar> table = [] {
        std::vector<Cvar> made;
        for (const SettingRow &row : setting_table()) made.push_back(setting_variable(row));
        for (int i = 0; i < static_cast<int>(Operation::count_of_them); ++i)
            made.push_back(algorithm_variable(static_cast<Operation>(i)));
        return made;
    }();
    return table;
}

Error make_cvar_handle(const Cvar &variable, const Bound &bound, CvarHandle *&handle) {
    handle = handles().create();
    if (!handle)
        return failure(abi::t_err_out_of_handles,
                       "there is no room for another handle of a control variable");
    handle->variable = &variable;
    handle->bound = bound;
    bound.hold();
    if (variable.datatype != abi::type_char) return {};
    std::string now = setting_value(settings_now(), *variable.row);
    handle->count = std::max(room_for_text, static_cast<int>(now.size()) + 1);
    return {};
}

Error find_cvar_handle(const CvarHandle *handle) {
    return handles().holds(handle)
               ? Error()
               : failure(abi::t_err_invalid_handle, "this is no handle of a control variable");
}

void free_cvar_handle(CvarHandle *handle) {
    handle->bound.release();
    handles().destroy(handle);
}

void free_all_cvar_handles() {
    handles().each([](CvarHandle &handle) { free_cvar_handle(&handle); });
}

Error read_cvar(const CvarHandle &handle, void *to) {
    const Cvar &variable = *handle.variable;
    if (variable.operation >= 0) {
        *static_cast<int *>(to) = handle.bound.team->wanted[variable.operation];
        return {};
    }
    Settings settings = settings_now();
    const SettingRow &row = *variable.row;
    std::string text = setting_value(settings, row);
    if (row.type == SettingType::integer) *static_cast<int64_t *>(to) = settings.*row.integer;
    else if (variable.enumeration) *static_cast<int *>(to) = value_of(*variable.enumeration, text);
    else std::memcpy(to, text.c_str(), std::min(text.size() + 1, static_cast<size_t>(handle.count)));
    return {};
}

Error write_cvar(const CvarHandle &handle, const void *from) {
    const Cvar &variable = *handle.variable;
    if (variable.operation >= 0) {
        int wanted = *static_cast<const int *>(from);
        if (wanted < 0 || wanted >= static_cast<int>(variable.enumeration->items.size()))
            return failure(abi::t_err_invalid, variable.name + " has no value " + std::to_string(wanted));
        host()->while_still([&] {
            handle.bound.team->wanted[variable.operation] = static_cast<uint8_t>(wanted);
            if (handle.bound.team->kept) handle.bound.team->kept->forget();
        });
        return {};
    }
    if (host() && !variable.row->changes)
        return failure(abi::t_err_cvar_set_never,
                       variable.name + " is read when MPI is initialised; it cannot be changed any more");
    return write_setting(*variable.row, text_of(handle, from));
}

void apply_written_cvars(Settings &settings) {
    for (const auto &[row, value] : written()) set_value(settings, *row, value.c_str());
}

}  // namespace lanyard::tool

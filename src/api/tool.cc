// Defines the typed functions (types.h) of the tool information interface (MPI-5.0 chapter 15) for its
// initialisation, its enumerations and its categories. Any thread.
#include "api/tool.h"

#include <algorithm>

#include "api/activity.h"
#include "api/generated/core.h"
#include "runtime/counters.h"
#include "tool/category.h"

namespace lanyard {

namespace {

using tool::Category;

Error find_category(int index, const Category *&category) {
    if (Error error = check_index(tool::categories(), index)) return error;
    category = &tool::categories()[static_cast<size_t>(index)];
    return {};
}

// Copies as many members of a category as fit into the program's array.
Error give_members(int category_index, std::vector<int> Category::*members, int length, int *indices) {
    ToolGuard guard;
    const Category *category = nullptr;
    if (Error error = guard.check()) return error;
    if (Error error = find_category(category_index, category)) return error;
    const std::vector<int> &all = category->*members;
    if (indices) std::copy_n(all.begin(), std::min(all.size(), static_cast<size_t>(length)), indices);
    return {};
}

Error check_enumeration(const ToolEnum *enumeration) {
    return tool::is_enumeration(enumeration)
               ? Error()
               : tool::failure(abi::t_err_invalid_handle, "this is no enumeration");
}

}  // namespace

extern "C" {

Error lanyard_t_init_thread(int required, int *provided) {
    declare_counters();
    if (Error error = tool::begin_use()) return error;
    int level = granted_level(required);
    if (level != abi::thread_single) expect_tool_threads();
    tool::give(provided, level);
    return {};
}

Error lanyard_t_finalize() { return tool::end_use(); }

Error lanyard_t_enum_get_info(ToolEnum *enumtype, int *num, char *name, int *name_len) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    if (Error error = check_enumeration(enumtype)) return error;
    tool::give(num, enumtype->items.size());
    tool::give_text(enumtype->name, name, name_len);
    return {};
}

Error lanyard_t_enum_get_item(ToolEnum *enumtype, int indx, int *value, char *name, int *name_len) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    if (Error error = check_enumeration(enumtype)) return error;
    if (Error error = check_index(enumtype->items, indx)) return error;
    tool::give(value, indx);
    tool::give_text(enumtype->items[static_cast<size_t>(indx)], name, name_len);
    return {};
}

Error lanyard_t_category_get_num(int *num_cat) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    tool::give(num_cat, tool::categories().size());
    return {};
}

Error lanyard_t_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len,
                                  int *num_cvars, int *num_pvars, int *num_categories) {
    ToolGuard guard;
    const Category *category = nullptr;
    if (Error error = guard.check()) return error;
    if (Error error = find_category(cat_index, category)) return error;
    tool::give_text(category->name, name, name_len);
    tool::give_text(category->sentence, desc, desc_len);
    tool::give(num_cvars, category->cvars.size());
    tool::give(num_pvars, category->pvars.size());
    tool::give(num_categories, category->categories.size());
    return {};
}

Error lanyard_t_category_get_num_events(int cat_index, int *num_events) {
    ToolGuard guard;
    const Category *category = nullptr;
    if (Error error = guard.check()) return error;
    if (Error error = find_category(cat_index, category)) return error;
    tool::give(num_events, category->events.size());
    return {};
}

Error lanyard_t_category_get_index(const char *name, int *cat_index) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    return find_name(tool::categories(), name, cat_index);
}

Error lanyard_t_category_get_categories(int cat_index, int len, int *indices) {
    return give_members(cat_index, &Category::categories, len, indices);
}
Error lanyard_t_category_get_cvars(int cat_index, int len, int *indices) {
    return give_members(cat_index, &Category::cvars, len, indices);
}
Error lanyard_t_category_get_pvars(int cat_index, int len, int *indices) {
    return give_members(cat_index, &Category::pvars, len, indices);
}
Error lanyard_t_category_get_events(int cat_index, int len, int *indices) {
    return give_members(cat_index, &Category::events, len, indices);
}

Error lanyard_t_category_changed(int *update_number) {
    ToolGuard guard;
    if (Error error = guard.check()) return error;
    tool::give(update_number, tool::categories_stamp);
    return {};
}

}  // extern "C"

}  // namespace lanyard

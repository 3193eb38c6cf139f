// Looks up each MPI function, and the typed function behind it, with the dynamic linker; see coverage.h.
#include "tools/coverage.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "api/generated/coverage.h"
#include "tools/json.h"

namespace lanyard::tools {

namespace {

// A shared library that is opened only to look up symbols. The destructor closes it.
class Library {
public:
    explicit Library(const std::string &path) : handle_(dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
        if (!handle_) reason_ = dlerror();
    }
    ~Library() {
        if (handle_) dlclose(handle_);
    }
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;

    const std::string &reason() const { return reason_; }
    bool has(const std::string &symbol) const { return dlsym(handle_, symbol.c_str()) != nullptr; }

private:
    void *handle_;
    std::string reason_;
};

}  // namespace

Error find_coverage(const Installation &installation, Coverage &coverage) {
    Library core(installation.library("liblanyard.so.0"));
    if (!core.reason().empty()) return Error(ErrorClass::other, core.reason());
    Library door(installation.library("libmpi_abi.so.1"));
    if (!door.reason().empty()) return Error(ErrorClass::other, door.reason());
    for (const CoverageEntry &entry : coverage_table) {
        bool exported = door.has(entry.name);
        bool implemented = exported && (!entry.typed_function || core.has(entry.typed_function));
        coverage.functions.push_back({entry.name, entry.chapter, implemented});
    }
    return {};
}

std::string coverage_table_text(const Coverage &coverage, bool names) {
    std::string text = fmt::format("{:<42} {:>11} {:>8}\n", "Chapter", "implemented", "missing");
    size_t total = 0;
    const auto &functions = coverage.functions;
    for (size_t first = 0, last = 0; first < functions.size(); first = last) {
        size_t implemented = 0;
        std::string missing;
        for (last = first; last < functions.size() && functions[last].chapter == functions[first].chapter;
             ++last) {
            if (functions[last].implemented) ++implemented;
            else missing += "    " + functions[last].name + "\n";
        }
        text += fmt::format("{:<42} {:>11} {:>8}\n", functions[first].chapter, implemented,
                            last - first - implemented);
        if (names) text += missing;
        total += implemented;
    }
    return text + fmt::format("{:<42} {:>11} {:>8}\n", "All of MPI-5.0", total, functions.size() - total);
}

std::string coverage_json(const Coverage &coverage) {
    JsonList functions;
    int64_t implemented = 0;
    for (const Coverage::Function &function : coverage.functions) {
        functions.push_back({{{"name", function.name},
                              {"chapter", function.chapter},
                              {"implemented", function.implemented}}});
        implemented += function.implemented;
    }
    auto missing = static_cast<int64_t>(functions.size()) - implemented;
    return json_text(
        JsonObject{{{"implemented", implemented}, {"missing", missing}, {"functions", functions}}});
}

}  // namespace lanyard::tools

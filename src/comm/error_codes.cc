// See error_codes.h.
#include "comm/error_codes.h"

#include <array>
#include <map>

#include "base/abi_constants.h"
#include "base/spin_lock.h"

namespace lanyard {
namespace {

constexpr int failure_bit = 1 << 29;  // the highest bit of a failure's code
constexpr unsigned slots = 256, generations = 1 << 13;
constexpr int last_class = static_cast<int>(ErrorClass::abi);

struct Added {
    int error_class = 0;  // for a class: its own value; for a code: its class
    int codes = 0;        // for a class: the number of its codes
    bool is_class = false;
    bool has_text = false;
    std::string text;
};

struct CodeRegistry {
    SpinLock lock;
    std::array<std::string, slots> sentences;
    std::array<unsigned, slots> generation_of{};
    unsigned failures = 0;
    std::map<int, Added> added;
    int last_used = abi::err_lastcode;
};

CodeRegistry &code_registry() {
    static auto &only = *new CodeRegistry;  // never destroyed: errors may be raised while the process exits
    return only;
}

bool standard_class(int value) {
    return (value >= 0 && value <= last_class) || value == abi::err_lastcode ||
           (value >= abi::t_err_cannot_init && value <= abi::t_err_pvar_no_atomic);
}

Error unknown(const char *what, int value) {
    return {ErrorClass::arg,
            std::to_string(value) + " is not an error " + what + " that this program has added"};
}

// The class or code `value` that the program has added, or nullptr. The caller holds the lock.
Added *find(CodeRegistry &r, int value) {
    auto place = r.added.find(value);
    return place == r.added.end() ? nullptr : &place->second;
}

}  // namespace

int code_of_failure(ErrorClass error_class, std::string_view sentence) {
    CodeRegistry &r = code_registry();
    SpinGuard guard(r.lock);
    unsigned slot = r.failures % slots, generation = r.failures / slots % generations;
    ++r.failures;
    r.sentences[slot] = sentence;
    r.generation_of[slot] = generation;
    return static_cast<int>(failure_bit | generation << 16 | slot << 8 | static_cast<unsigned>(error_class));
}

CodeMeaning meaning_of(int code) {
    CodeRegistry &r = code_registry();
    SpinGuard guard(r.lock);
    if (code >= failure_bit && code < 2 * failure_bit) {
        auto bits = static_cast<unsigned>(code);
        unsigned slot = bits >> 8 & (slots - 1), generation = bits >> 16 & (generations - 1);
        int error_class = static_cast<int>(bits & 0xff);
        if (!standard_class(error_class)) return {};
        bool kept = r.generation_of[slot] == generation && !r.sentences[slot].empty();
        return {true, error_class, kept ? r.sentences[slot] : std::string(), kept};
    }
    if (standard_class(code)) return {true, code, {}, false};
    if (Added *added = find(r, code)) return {true, added->error_class, added->text, true};
    return {};
}

int add_error_class() {
    CodeRegistry &r = code_registry();
    SpinGuard guard(r.lock);
    int value = ++r.last_used;
    r.added[value] = {value, 0, true, false, {}};
    return value;
}

Error add_error_code(int error_class, int &code) {
    CodeRegistry &r = code_registry();
    SpinGuard guard(r.lock);
    Added *of = find(r, error_class);
    if (of ? !of->is_class : !standard_class(error_class))
        return {ErrorClass::arg, std::to_string(error_class) + " is not an error class"};
    if (of) ++of->codes;
    code = ++r.last_used;
    r.added[code] = {error_class, 0, false, false, {}};
    return {};
}

Error add_error_string(int code, std::string_view text) {
    if (text.size() >= static_cast<size_t>(abi::max_error_string))
        return {ErrorClass::arg, "the string has " + std::to_string(text.size()) + " characters; at most " +
                                     std::to_string(abi::max_error_string - 1) + " are allowed"};
    CodeRegistry &r = code_registry();
    SpinGuard guard(r.lock);
    Added *added = find(r, code);
    if (!added) return unknown("class or code", code);
    added->text = text;
    added->has_text = true;
    return {};
}

Error remove_error_class(int error_class) {
    CodeRegistry &r = code_registry();
    SpinGuard guard(r.lock);
    Added *added = find(r, error_class);
    if (!added || !added->is_class) return unknown("class", error_class);
    if (added->codes > 0)
        return {ErrorClass::arg, "the error class " + std::to_string(error_class) + " still has " +
                                     std::to_string(added->codes) + " codes; remove them first"};
    if (added->has_text)
        return {ErrorClass::arg,
                "the error class " + std::to_string(error_class) + " still has a string; remove it first"};
    r.added.erase(error_class);
    return {};
}

Error remove_error_code(int code) {
    CodeRegistry &r = code_registry();
    SpinGuard guard(r.lock);
    Added *added = find(r, code);
    if (!added || added->is_class) return unknown("code", code);
    if (added->has_text)
        return {ErrorClass::arg,
                "the error code " + std::to_string(code) + " still has a string; remove it first"};
    if (Added *of = find(r, added->error_class)) --of->codes;
    r.added.erase(code);
    return {};
}

Error remove_error_string(int code) {
    CodeRegistry &r = code_registry();
    SpinGuard guard(r.lock);
    Added *added = find(r, code);
    if (!added) return unknown("class or code", code);
    if (!added->has_text) return {ErrorClass::arg, "no string was added for " + std::to_string(code)};
    added->text.clear();
    added->has_text = false;
    return {};
}

int *last_used_code() { return &code_registry().last_used; }

}  // namespace lanyard

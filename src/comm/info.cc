// See info.h.
#include "comm/info.h"

#include <algorithm>

namespace lanyard {
namespace {

Error check_key(std::string_view key) {
    if (key.empty()) return {ErrorClass::info_key, "the info key is empty"};
    if (key.size() > max_info_key_length)
        return {ErrorClass::info_key, "the info key '" + std::string(key.substr(0, 40)) + "...' has " +
                                          std::to_string(key.size()) + " characters; at most " +
                                          std::to_string(max_info_key_length) + " are allowed"};
    return {};
}

template <class Entries>
auto find(Entries &entries, std::string_view key) {
    return std::find_if(entries.begin(), entries.end(),
                        [&](const Info::Entry &entry) { return entry.first == key; });
}

}  // namespace

Error Info::set(std::string_view key, std::string_view value) {
    if (Error error = check_key(key)) return error;
    if (value.size() > max_info_value_length)
        return {ErrorClass::info_value, "the value of the info key '" + std::string(key) + "' has " +
                                            std::to_string(value.size()) + " characters; at most " +
                                            std::to_string(max_info_value_length) + " are allowed"};
    SpinGuard guard(lock_);
    auto entry = find(entries_, key);
    if (entry != entries_.end()) entry->second = value;
    else entries_.emplace_back(key, value);
    return {};
}

Error Info::remove(std::string_view key) {
    if (Error error = check_key(key)) return error;
    SpinGuard guard(lock_);
    auto entry = find(entries_, key);
    if (entry == entries_.end())
        return {ErrorClass::info_nokey, "the info object has no key '" + std::string(key) + "'"};
    entries_.erase(entry);
    return {};
}

Error Info::get(std::string_view key, std::string &value, bool &found) const {
    if (Error error = check_key(key)) return error;
    SpinGuard guard(lock_);
    auto entry = find(entries_, key);
    found = entry != entries_.end();
    if (found) value = entry->second;
    return {};
}

int Info::keys() const {
    SpinGuard guard(lock_);
    return static_cast<int>(entries_.size());
}

Error Info::nth_key(int n, std::string &key) const {
    SpinGuard guard(lock_);
    if (n < 0 || static_cast<size_t>(n) >= entries_.size())
        return {ErrorClass::arg, "there is no key number " + std::to_string(n) + "; the info object has " +
                                     std::to_string(entries_.size()) + " keys, counted from 0"};
    key = entries_[static_cast<size_t>(n)].first;
    return {};
}

std::vector<Info::Entry> Info::entries() const {
    SpinGuard guard(lock_);
    return entries_;
}

ObjectPool<Info> &info_pool() {
    // never destroyed: exit handlers of the program may still use info objects
    static auto &pool = *new ObjectPool<Info>;
    return pool;
}

Info *new_info() { return info_pool().create(); }

Info *duplicate(const Info &info) {
    Info *copy = new_info();
    if (!copy) return nullptr;
    // This cannot fail, because the entries passed the checks before.
    for (const auto &[key, value] : info.entries()) copy->set(key, value).discard();
    return copy;
}

void release_info(Info *info) {
    if (info && info->let_go()) info_pool().destroy(info);
}

}  // namespace lanyard

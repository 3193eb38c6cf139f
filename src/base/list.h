// An intrusive doubly linked list. An element contains its own links, one Hook for each list that it can be
// in, so inserting and removing never allocates. Not thread-safe: the list's owner must serialise all calls.
#pragma once

#include <cstddef>

namespace lanyard {

struct Hook {
    Hook *previous = nullptr;
    Hook *next = nullptr;

    bool linked() const { return next != nullptr; }
    void unlink() {
        previous->next = next;
        next->previous = previous;
        previous = next = nullptr;
    }
};

// `member` is the Hook of T that this list uses.
template <class T, Hook T::*member>
class List {
public:
    List() { clear(); }
    List(const List &) = delete;
    List &operator=(const List &) = delete;

    bool empty() const { return head_.next == &head_; }
    void push_back(T &element) { insert_before(head_, element.*member); }
    void push_front(T &element) { insert_before(*head_.next, element.*member); }
    T *front() { return empty() ? nullptr : element_of(head_.next); }
    // Moves all elements of `other`, in order, to the end of this list.
    void take_all(List &other) {
        if (other.empty()) return;
        other.head_.next->previous = head_.previous;
        head_.previous->next = other.head_.next;
        other.head_.previous->next = &head_;
        head_.previous = other.head_.previous;
        other.clear();
    }
    T *after(T &element) {
        Hook *next = (element.*member).next;
        return next == &head_ ? nullptr : element_of(next);
    }
    T *pop_front() {
        T *first = front();
        if (first) (first->*member).unlink();
        return first;
    }
    void clear() { head_.previous = head_.next = &head_; }

private:
    static void insert_before(Hook &place, Hook &hook) {
        hook.previous = place.previous;
        hook.next = &place;
        place.previous->next = &hook;
        place.previous = &hook;
    }
    static T *element_of(Hook *hook) {
        size_t offset = reinterpret_cast<size_t>(&(reinterpret_cast<T *>(64)->*member)) - 64;
        return reinterpret_cast<T *>(reinterpret_cast<char *>(hook) - offset);
    }

    Hook head_;
};

}  // namespace lanyard

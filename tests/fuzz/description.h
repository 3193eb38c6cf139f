// Reads descriptions of inputs: the inputs of binary targets are stored as text that people can read. A
// description consists of these words:
//
//     4:16        the number 16 in 4 bytes, lowest first
//     4:0x10      the same
//     "text"      these characters
//     100*"a"     something a hundred times
//     # ...       to the end of the line: for readers
//
// A file of a corpus is a description if its name ends in .bytes. Any other file is used as it is.
#pragma once

#include <string>

namespace lanyard::fuzz {

// Returns the bytes. If a word is invalid, which is a mistake in a file of this project, names the word and
// ends the process.
std::string bytes_of_description(const std::string &text, const std::string &file);

}  // namespace lanyard::fuzz

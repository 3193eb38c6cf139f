// Finds the file of a program. See program_file.h.
#include "launch/program_file.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "launch/plan.h"

namespace lanyard::launch {

namespace {

// The path of a program as this process must name it. `path` is relative to the ranks' folder.
std::string seen_from_here(const std::string &path, const std::string &folder) {
    return path.starts_with('/') || folder.empty() ? path : folder + "/" + path;
}

bool is_file(const std::string &path) {
    struct stat about;
    return stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

bool read_beginning(const std::string &path, std::string &text) {
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    char beginning[256];
    ssize_t length = read(fd, beginning, sizeof beginning);
    close(fd);
    if (length >= 0) text.assign(beginning, static_cast<size_t>(length));
    return length >= 0;
}

// True if a file is text without a "#!" line. False for a file that cannot be read; the kernel will decide
// about it.
bool is_plain_script(const std::string &path) {
    std::string text;
    if (!read_beginning(path, text)) return false;
    return !text.starts_with("#!") && text.find('\0') == std::string::npos && !text.starts_with("\177ELF");
}

// What to do about a file that is not executable.
std::string remedy(std::string_view file) {
    for (std::string_view ending : {".c", ".C", ".cc", ".cpp", ".cxx"})
        if (file.ends_with(ending))
            return fmt::format("it looks like a source: compile it with {}",
                               ending == ".c" ? "mpicc" : "mpicxx");
    return "chmod +x would make it so";
}

// " in FOLDER" for the message about a name that is relative to the ranks' folder; "" for an absolute name.
std::string looked_for_in(const std::string &name, const std::string &folder) {
    char current[PATH_MAX];
    if (name.starts_with('/')) return "";
    if (folder.starts_with('/')) return " in " + folder;
    if (!getcwd(current, sizeof current)) return folder.empty() ? "" : " in " + folder;
    return std::string(" in ") + current + (folder.empty() ? "" : "/" + folder);
}

void judge(ProgramFile &file, const std::string &name, const std::string &seen, const std::string &folder) {
    struct stat about;
    if (stat(seen.c_str(), &about) != 0) {
        int reason = errno;
        file.exit_code = reason == EACCES ? exit_not_executable : exit_not_found;
        file.trouble = fmt::format("the program {} cannot be started: {}{}", name, system_text(reason),
                                   looked_for_in(name, folder));
    } else if (S_ISDIR(about.st_mode)) {
        file.exit_code = exit_not_executable;
        file.trouble = fmt::format("the program {} cannot be started: it is a folder", name);
    } else if (access(seen.c_str(), X_OK) != 0) {
        file.exit_code = exit_not_executable;
        file.trouble = fmt::format("the program {} cannot be started: {} is not executable ({}); {}", name,
                                   seen, system_text(errno), remedy(seen));
    } else {
        file.script = is_plain_script(seen);
    }
}

}  // namespace

bool begins_with_crlf_line(const std::string &path, const std::string &folder) {
    std::string text;
    if (!read_beginning(seen_from_here(path, folder), text)) return false;
    size_t end = text.find('\n');
    return text.starts_with("#!") && end != std::string::npos && text[end - 1] == '\r';
}

ProgramFile find_program(const std::string &name, const char *search_path, const std::string &folder) {
    ProgramFile file;
    if (name.find('/') != std::string::npos) {
        file.path = name;
        judge(file, name, seen_from_here(name, folder), folder);
        return file;
    }
    std::string_view searched = search_path ? search_path : "/bin:/usr/bin";
    std::string candidate_without_permission;
    for (size_t at = 0; at <= searched.size() && !name.empty();) {
        size_t end = std::min(searched.find(':', at), searched.size());
        std::string in(searched.substr(at, end - at));
        file.path = (in.empty() ? "." : in) + "/" + name;
        std::string seen = seen_from_here(file.path, folder);
        if (is_file(seen)) {
            if (access(seen.c_str(), X_OK) == 0) {
                file.script = is_plain_script(seen);
                return file;
            }
            if (candidate_without_permission.empty()) candidate_without_permission = seen;
        }
        at = end + 1;
    }
    if (!candidate_without_permission.empty()) {
        judge(file, name, candidate_without_permission, folder);
        return file;
    }
    bool in_folder = !name.empty() && is_file(seen_from_here(name, folder));
    file.exit_code = exit_not_found;
    file.trouble =
        fmt::format("the program {} was not found in the folders of PATH", name.empty() ? "\"\"" : name);
    if (in_folder)
        file.remedy = fmt::format("there is one in the folder the ranks start in: write ./{}", name);
    else if (!name.empty())
        file.remedy = fmt::format("write where it is, as in ./{}, or add its folder to PATH", name);
    return file;
}

}  // namespace lanyard::launch

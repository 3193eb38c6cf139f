// Makes the environment of the ranks. See environment.h.
#include "launch/environment.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string_view>

#include "coll/select.h"
#include "config/settings.h"

namespace lanyard::launch {

namespace {

// The beginnings of variables that launchers set for their ranks. If a rank of another job starts this job,
// the ranks of this job must not see these variables.
constexpr std::string_view told_by_launchers[] = {
    "PMI_",
    "PMIX_",
    "OMPI_",
    "HYDI_",
    "HYDRA_PROXY",
    "MPI_LOCALRANKID=",
    "MPI_LOCALNRANKS=",
    "MV2_COMM_WORLD_",
    "LANYARD_JOB=",
    "LANYARD_RANK=",
    "LANYARD_SIZE=",
    "LANYARD_LOCAL_RANK=",
    "LANYARD_LOCAL_SIZE=",
    "LANYARD_SEGMENT_FD=",
    "LANYARD_PMI_FD=",
    "LANYARD_MAXPROCS=",
};

bool told_by_launcher(std::string_view variable) {
    for (std::string_view beginning : told_by_launchers)
        if (variable.starts_with(beginning)) return true;
    return false;
}

// The libraries that MPI programs load. The last two belong to one ABI.
constexpr const char *abi_libraries[] = {"libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12"};

bool in_folder(const std::string &folder, const char *library) {
    return access((folder + "/" + library).c_str(), R_OK) == 0;
}

bool names_folder_with(std::string_view search_path, const char *library) {
    for (size_t at = 0; at <= search_path.size();) {
        size_t end = std::min(search_path.find(':', at), search_path.size());
        std::string folder(search_path.substr(at, end - at));
        if (!folder.empty() && in_folder(folder, library)) return true;
        at = end + 1;
    }
    return false;
}

// Adds the folder of the libraries that belong to this mpirun to the ranks' LD_LIBRARY_PATH. If the user has
// already named a folder with such a library, that folder stays first, and the added folder provides the
// libraries with the other names. The system's own folder (/usr/lib) is never added, because its libraries
// would then precede those in the other folders that programs search.
void show_own_libraries(Variables &variables) {
    std::string prefix = prefix_folder();
    std::string folder = prefix + "/lib";
    const char *set = find_variable(variables, "LD_LIBRARY_PATH");
    std::string searched = set ? set : "";
    size_t own = 0, named = 0;
    for (const char *library : abi_libraries) {
        own += in_folder(folder, library);
        named += names_folder_with(searched, library);
    }
    if (prefix.empty() || prefix == "/usr" || own == 0 || named == std::size(abi_libraries)) return;
    if (searched.empty()) searched = folder;
    else searched = named ? searched + ":" + folder : folder + ":" + searched;
    set_variable(variables, "LD_LIBRARY_PATH", searched);
}

}  // namespace

std::string prefix_folder() {
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own);
    if (length <= 0) return "";
    std::string path(own, static_cast<size_t>(length));
    for (int level = 0; level < 2; ++level) {
        size_t slash = path.rfind('/');
        if (slash == std::string::npos) return "";
        path.resize(slash);
    }
    return path;
}

void set_variable(Variables &variables, const std::string &name, const std::string &value) {
    std::string text = name + "=" + value;
    for (std::string &variable : variables)
        if (variable.compare(0, name.size() + 1, text, 0, name.size() + 1) == 0) {
            variable = text;
            return;
        }
    variables.push_back(std::move(text));
}

const char *find_variable(const Variables &variables, const std::string &name) {
    for (const std::string &variable : variables)
        if (variable.size() > name.size() && variable[name.size()] == '=' && variable.starts_with(name))
            return variable.c_str() + name.size() + 1;
    return nullptr;
}

Variables program_environment(const Plan &plan, const Program &program, char **inherited) {
    Variables variables;
    for (char **variable = inherited; *variable; ++variable)
        if (!told_by_launcher(*variable)) variables.emplace_back(*variable);
    for (const Assignments *assignments : {&plan.environment, &program.own})
        for (const auto &[name, value] : *assignments) set_variable(variables, name, value);
    show_own_libraries(variables);
    return variables;
}

Error check_settings(const Variables &variables, Settings &settings, std::vector<std::string> &warnings) {
    std::vector<char *> environment;
    for (const std::string &variable : variables) environment.push_back(const_cast<char *>(variable.c_str()));
    environment.push_back(nullptr);
    std::vector<std::string> found, known;
    Settings own;
    Error error = read_settings(environment.data(), own, found);
    read_all_settings(environment.data(), settings, known);  // `own` has shown what is wrong with them
    Selection selection;
    if (!error) error = parse_selection(own.coll, selection);
    for (std::string &warning : found)
        if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
            warnings.push_back(std::move(warning));
    return error;
}

}  // namespace lanyard::launch

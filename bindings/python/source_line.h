// Python source lines of recorded steps, read without the GIL from the calling thread's own frame. Called by the
// recorder through the hooks of bindings/torch/surface.h; any thread. Code objects are kept alive once met.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aee {

/// Frames of files under these folders are not the user's: the line is taken from further up. Call once, with the GIL.
void set_foreign_folders(std::vector<std::string> folders);
/// Whether a file is under one of these folders.
[[nodiscard]] bool is_foreign_file(std::string_view file);
/// Id of the calling thread's Python source line, 0 if unknown. Takes the GIL only for code it has never met.
[[nodiscard]] std::uint64_t current_python_line() noexcept;
/// "file:line in function" for an id; any thread, without the GIL.
[[nodiscard]] std::string describe_python_line(std::uint64_t source);

}  // namespace aee

// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the HTTP server for the answers.
#pragma once

#include "run_list.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace spotter_tool::live {

struct server_options {
    std::string host = "127.0.0.1";
    int port = 6007;     // 0: any free port
    bool token = false;  // required even if only this machine can connect
};

// Whether only this machine can reach the host.
[[nodiscard]] bool is_loopback(std::string_view host) noexcept;
// Whether a Host header (with or without a port) names this server. A browser sends the name in its address bar,
// whatever address that resolves to: this refuses foreign pages whose name resolves to this machine (DNS rebinding).
[[nodiscard]] bool is_own_name(std::string_view header) noexcept;
// From here on SIGINT and SIGTERM wait for `listen`. Call it before starting any thread, which they would end
// otherwise.
void hold_end_signals() noexcept;
// 32 random hexadecimal digits.
[[nodiscard]] std::string new_token();

// Serves until the process gets SIGINT or SIGTERM. Calls `ready` with the address once it listens. errc::busy: the port
// is in use; io_error: it cannot listen at the address.
[[nodiscard]] spotter::error listen(run_list& runs, server_options const& wanted,
                                    std::function<void(std::string const&)> const& ready);

// A file of the page, by name; empty where there is none. Generated from the files beside this one.
[[nodiscard]] std::string_view asset(std::string_view name) noexcept;

}  // namespace spotter_tool::live

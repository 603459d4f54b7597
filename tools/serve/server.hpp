// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the network in front of the answers.
#pragma once

#include "run_list.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace spotter_tool::live {

struct server_options {
    std::string host = "127.0.0.1";
    int port = 6007;     // 0: any that is free
    bool token = false;  // also where only this machine can ask
};

// Only this machine reaches it.
[[nodiscard]] bool is_loopback(std::string_view host) noexcept;
// A browser sends the name that it was told, whatever address that leads to: a page from elsewhere whose name leads
// here is refused by it (DNS rebinding). `header` is a Host header, with or without a port.
[[nodiscard]] bool is_own_name(std::string_view header) noexcept;
// From here on SIGINT and SIGTERM wait for `listen`. Before any thread is made, which would end by them otherwise.
void hold_end_signals() noexcept;
// 32 hexadecimal digits that nobody can guess.
[[nodiscard]] std::string new_token();

// Answers until the process is asked to end (SIGINT, SIGTERM). `ready` is called with the address once it listens.
// errc::busy: the port is in use; io_error: the address cannot be listened at.
[[nodiscard]] spotter::error listen(run_list& runs, server_options const& wanted,
                                    std::function<void(std::string const&)> const& ready);

// A file of the page, by its name; empty where there is none. Made from the files beside this one.
[[nodiscard]] std::string_view asset(std::string_view name) noexcept;

}  // namespace spotter_tool::live

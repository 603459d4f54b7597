// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the bodies of server.hpp. Only this file knows cpp-httplib.
#include "server.hpp"

#include "api.hpp"

#include <page/style.hpp>

#include <httplib.h>

#include <array>
#include <csignal>
#include <random>
#include <thread>

namespace spotter_tool::live {

namespace {

// Only our own scripts, no foreign content, no framing. The static page has lengths and colours in attributes.
constexpr char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct file {
    std::string_view path, name, type;
};
constexpr std::array<file, 7> files{{{"/", "page.html", "text/html; charset=utf-8"},
                                     {"/state.js", "state.js", "text/javascript; charset=utf-8"},
                                     {"/list.js", "list.js", "text/javascript; charset=utf-8"},
                                     {"/runs.js", "runs.js", "text/javascript; charset=utf-8"},
                                     {"/app.js", "app.js", "text/javascript; charset=utf-8"},
                                     {"/chart.js", "chart.js", "text/javascript; charset=utf-8"},
                                     {"/style.css", "style.css", "text/css; charset=utf-8"}}};

[[nodiscard]] std::string_view without_port(std::string_view host) noexcept {
    if (host.starts_with('[')) { return host.substr(0, host.find(']') + 1); }
    return host.substr(0, host.find(':'));
}

// Takes equally long for wrong and right texts.
[[nodiscard]] bool same(std::string_view a, std::string_view b) noexcept {
    unsigned differs = a.size() == b.size() ? 0U : 1U;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        differs |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
    }
    return differs == 0;
}

[[nodiscard]] std::string cookie_of(httplib::Request const& request) {
    std::string const all = request.get_header_value("Cookie");
    constexpr std::string_view name = "spotter_token=";
    for (std::size_t at = 0; at < all.size();) {
        std::size_t const end = (std::min)(all.find(';', at), all.size());
        std::string_view one = std::string_view{all}.substr(at, end - at);
        while (one.starts_with(' ')) { one.remove_prefix(1); }
        if (one.starts_with(name)) { return std::string{one.substr(name.size())}; }
        at = end + 1;
    }
    return {};
}

[[nodiscard]] sigset_t end_signals() noexcept {
    sigset_t all;
    ::sigemptyset(&all);
    ::sigaddset(&all, SIGINT);
    ::sigaddset(&all, SIGTERM);
    return all;
}

void give(httplib::Response& to, answer from) {
    to.status = from.status;
    to.set_content(from.body, from.type.c_str());
}

// Whether a request is allowed; if not, `to` has the reason.
[[nodiscard]] bool is_admitted(httplib::Request const& request, httplib::Response& to, std::string const& token) {
    if (request.method != "GET" && request.method != "HEAD") {
        give(to, refusal(405, "this server is only read from"));
        return false;
    }
    if (token.empty()) {
        if (is_own_name(request.get_header_value("Host"))) { return true; }
        give(to, refusal(403, "asked by a name that is not this machine's own: use http://127.0.0.1 or localhost"));
        return false;
    }
    if (request.path == "/" && request.has_param("token") && same(request.get_param_value("token"), token)) {
        to.status = 303;
        to.set_header("Set-Cookie", "spotter_token=" + token + "; HttpOnly; SameSite=Strict; Path=/");
        to.set_header("Location", "/");
        return false;
    }
    if (same(cookie_of(request), token)) { return true; }
    give(to, refusal(401, "open the address that `spotter serve` printed: it has the token"));
    return false;
}

void route(httplib::Server& server, run_list& runs, std::string const& token) {
    server.set_default_headers({{"Content-Security-Policy", policy},
                                {"X-Content-Type-Options", "nosniff"},
                                {"X-Frame-Options", "DENY"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cross-Origin-Resource-Policy", "same-origin"},
                                {"Cross-Origin-Opener-Policy", "same-origin"},
                                {"Cache-Control", "no-store"}});
    server.set_pre_routing_handler([&runs, token](httplib::Request const& request, httplib::Response& to) {
        using handled = httplib::Server::HandlerResponse;
        if (!is_admitted(request, to, token)) { return handled::Handled; }
        constexpr std::string_view api = "/api/";
        if (std::string_view{request.path}.starts_with(api)) {
            query asked;
            for (auto const& [name, value] : request.params) { asked.emplace(name, value); }
            give(to, answer_to(runs, std::string_view{request.path}.substr(api.size()), asked));
            return handled::Handled;
        }
        if (request.path == "/report.css") {
            give(to, {200, std::string{spotter::html::style}, "text/css; charset=utf-8"});
            return handled::Handled;
        }
        for (file const& each : files) {
            if (request.path != each.path) { continue; }
            give(to, {200, std::string{asset(each.name)}, std::string{each.type}});
            return handled::Handled;
        }
        give(to, refusal(404, "there is nothing of that name"));
        return handled::Handled;
    });
    server.set_exception_handler([](httplib::Request const&, httplib::Response& to, std::exception_ptr) {
        give(to, refusal(500, "that could not be answered"));
    });
}

}  // namespace

bool is_loopback(std::string_view host) noexcept { return host == "127.0.0.1" || host == "localhost" || host == "::1"; }

bool is_own_name(std::string_view header) noexcept {
    std::string_view const name = without_port(header);
    return name == "127.0.0.1" || name == "localhost" || name == "[::1]";
}

void hold_end_signals() noexcept {
    sigset_t const ends = end_signals();
    ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
}

std::string new_token() {
    std::random_device source;  // the operating system's on every supported platform
    std::string digits;
    for (int i = 0; i < 4; ++i) { digits += fmt::format("{:08x}", source() & 0xFFFFFFFFU); }
    return digits;
}

spotter::error listen(run_list& runs, server_options const& wanted,
                      std::function<void(std::string const&)> const& ready) {
    using spotter::errc;
    std::string const token = wanted.token || !is_loopback(wanted.host) ? new_token() : std::string{};
    httplib::Server server;
    route(server, runs, token);
    // The library's default options let two servers share a port, and each would get half of the requests.
    server.set_socket_options([](socket_t socket) {
        int const yes = 1;
        (void)::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, reinterpret_cast<char const*>(&yes), sizeof yes);
    });
    server.set_read_timeout(10);
    server.set_write_timeout(30);
    server.set_payload_max_length(1 << 16U);
    server.new_task_queue = [] { return new httplib::ThreadPool(16); };
    int const port = wanted.port == 0 ? server.bind_to_any_port(wanted.host.c_str()) : wanted.port;
    if (port < 0 || (wanted.port != 0 && !server.bind_to_port(wanted.host.c_str(), port))) {
        spotter::error why{errno == EADDRINUSE ? errc::busy : errc::io_error, {}};
        why.what << wanted.host << " port " << wanted.port << ": " << std::strerror(errno)
                 << (why.code == errc::busy ? "; another port: --port 6008, or any that is free: --port 0" : "");
        return why;
    }
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t const ends = end_signals();
    std::thread ear{[&] {
        int which = 0;
        (void)::sigwait(&ends, &which);
        server.stop();
    }};
    bool const v6 = wanted.host.find(':') != std::string::npos;
    ready(fmt::format("http://{}{}{}:{}/{}", v6 ? "[" : "", wanted.host, v6 ? "]" : "", port,
                      token.empty() ? "" : "?token=" + token));
    bool const ended_well = server.listen_after_bind();
    if (!ended_well) { ::pthread_kill(ear.native_handle(), SIGTERM); }
    ear.join();
    return ended_well ? spotter::error{} : spotter::error{errc::io_error, "listening ended: the socket failed"};
}

}  // namespace spotter_tool::live

// SPDX-License-Identifier: Apache-2.0
// serve: what the live page is answered, who may ask, and how it looks in a browser.
#include <tests/tools/tool.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <thread>

using namespace spotter;
using namespace spotter_test;

namespace {

bool serves() { return ask("serve /nowhere/at/all").err.find("was built without it") == std::string::npos; }

struct reply {
    int status = 0;
    std::string head{}, body{};

    [[nodiscard]] nlohmann::json document() const { return nlohmann::json::parse(body); }
};

// `spotter serve` as a process of its own, as long as this lives.
class server {
public:
    explicit server(std::string const& folder, std::string const& more = {}) {
        std::string const out = scratch_ / "out";
        std::string const command = "exec " SPOTTER_TOOL " serve '" + folder + "' --port 0 --json " + more + " >'" +
                                    out + "' 2>'" + (scratch_ / "err") + "'";
        process_ = ::fork();
        if (process_ == 0) {
            ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
            ::_exit(127);
        }
        std::string text;
        for (int i = 0; i < 600 && text.find('\n') == text.npos; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds{50});
            text = text_of(out);
        }
        REQUIRE(text.find('\n') != text.npos);
        url_ = nlohmann::json::parse(text).at("url");
        port_ = std::stoi(url_.substr(url_.find(':', 6) + 1));
    }
    server(server const&) = delete;
    server& operator=(server const&) = delete;
    ~server() {
        if (process_ > 0) { (void)stop(); }
    }

    [[nodiscard]] std::string const& url() const { return url_; }
    [[nodiscard]] int port() const { return port_; }
    // Its exit code.
    int stop() {
        ::kill(std::exchange(process_, -1), SIGTERM);
        int status = 0;
        ::wait(&status);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    // The bytes of a request as they are; what comes back until the connection ends.
    [[nodiscard]] reply send(std::string const& request) const {
        int const link = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in there{};
        there.sin_family = AF_INET;
        there.sin_port = htons(static_cast<std::uint16_t>(port_));
        there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::connect(link, reinterpret_cast<sockaddr const*>(&there), sizeof there) == 0);
        REQUIRE(::send(link, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()));
        std::string text;
        std::array<char, 65536> piece{};
        for (ssize_t got = 1; got > 0;) {
            got = ::recv(link, piece.data(), piece.size(), 0);
            if (got > 0) { text.append(piece.data(), static_cast<std::size_t>(got)); }
        }
        ::close(link);
        reply made;
        std::size_t const cut = text.find("\r\n\r\n");
        if (text.size() > 12 && cut != text.npos) {
            made.status = std::stoi(text.substr(9, 3));
            made.head = text.substr(0, cut);
            made.body = text.substr(cut + 4);
        }
        return made;
    }
    [[nodiscard]] reply get(std::string const& path, std::string const& more = "Host: 127.0.0.1\r\n") const {
        return send("GET " + path + " HTTP/1.1\r\nConnection: close\r\n" + more + "\r\n");
    }
    // Asks until it is so, at most twenty seconds.
    template <class Is>
    [[nodiscard]] nlohmann::json wait_for(std::string const& path, Is&& is) const {
        for (int i = 0; i < 200; ++i) {
            nlohmann::json reported = get(path).document();
            if (is(reported)) { return reported; }
            std::this_thread::sleep_for(std::chrono::milliseconds{100});
        }
        FAIL("never: " << path << ": " << get(path).body);
        return {};
    }
    // All runs, read.
    [[nodiscard]] nlohmann::json runs(std::size_t count) const {
        return wait_for("/api/runs",
                        [&](auto const& it) { return it["runs"].size() == count && it["unread"] == 0; })["runs"];
    }

private:
    temporary_folder scratch_{};
    std::string url_{};
    int port_ = 0;
    pid_t process_ = -1;
};

nlohmann::json run_named(nlohmann::json const& runs, std::string const& name) {
    for (auto const& each : runs) {
        if (each["name"] == name) { return each; }
    }
    FAIL("no run " << name);
    return {};
}

std::string id_of(nlohmann::json const& runs, std::string const& name) { return run_named(runs, name)["id"].dump(); }

}  // namespace

TEST_CASE("serve: the list has each run below the folder, with what it came to") {
    if (!serves()) { SPOTTER_SKIP("built without cpp-httplib"); }
    temporary_folder const folder;
    record_small(folder / "runs/a", large_loss);
    record_small(folder / "runs/deeper/b");
    server const page{folder / "runs"};
    auto const runs = page.runs(2);
    auto const a = run_named(runs, "a")["card"];
    CHECK(a["status"] == "finished");
    CHECK(a["steps"] == 12);
    CHECK(a["warnings"] == 1);
    CHECK(a["worst"].get<std::string>().find("large_loss") != std::string::npos);
    CHECK(a["outcomes"][0]["name"] == "loss");
    CHECK(a["outcomes"][0]["mode"] == "eval");
    CHECK(a["outcomes"][0]["value"] == 0.5);
    CHECK(a["outcomes"][1]["value"] == 0.1);
    CHECK(run_named(runs, "deeper/b")["card"]["warnings"] == 0);
    // What the page has already is not sent again.
    auto const version = page.get("/api/runs").document()["version"].dump();
    CHECK(page.get("/api/runs?since=" + version).document()["runs"].empty());
    // A folder that is a run by itself is a list of one.
    server const one{folder / "runs/a"};
    CHECK(one.runs(1)[0]["name"] == ".");
}

TEST_CASE("serve: a curve in every mode, closer, and of a statistic") {
    if (!serves()) { SPOTTER_SKIP("built without cpp-httplib"); }
    temporary_folder const folder;
    record_small(folder / "a");
    server const page{(folder / ".")};
    std::string const id = id_of(page.runs(1), "a");
    auto const reported = page.get("/api/curves?tag=loss&run=" + id).document();
    REQUIRE(reported["lines"].size() == 2);
    auto const& train = reported["lines"][0];
    CHECK(train["mode"] == "train");
    CHECK(train["x"].size() == 10);
    CHECK(train["y"][0] == 1.0);
    CHECK(train["y"][9] == 0.1);
    CHECK(train["t"].size() == 10);
    CHECK(train["t"][9] >= 0.0);
    // Evaluation stands at the train step before it.
    CHECK(reported["lines"][1]["x"] == nlohmann::json{4.0, 9.0});
    auto const part = page.get("/api/curves?tag=loss&from=2&to=5&run=" + id).document();
    CHECK(part["lines"][0]["x"] == nlohmann::json{2.0, 3.0, 4.0, 5.0});
    auto const norm = page.get("/api/curves?tag=grad%2Ffc1%2Fw&stat=l2&run=" + id).document();
    CHECK(norm["lines"][0]["n"] == 10);
    std::string const version = reported["runs"][0]["version"].dump();
    CHECK(page.get("/api/curves?tag=loss&run=" + id + ":" + version).document()["lines"].empty());
    CHECK(page.get("/api/curves?tag=loss&run=999").document()["runs"][0]["gone"] == true);
    {
        hook watch{folder / "odd", everything};
        (void)watch.step(spotter::train(0), "\xff loss"_t = 1.0);
    }
    auto const odd = page.runs(2);
    std::string const of_odd = "&run=" + id_of(odd, "odd");
    std::string const tag = page.get("/api/tensors?filter=loss" + of_odd).document()["tensors"][0]["name"];
    CHECK(tag == "\\xff loss");
    CHECK(page.get("/api/curves?tag=%5Cxff%20loss" + of_odd).document()["lines"].size() == 1);
    CHECK(page.get("/api/values?tag=%5Cxff%20loss&step=train:0" + of_odd).status == 200);
    for (auto const& [asked, word] : std::initializer_list<std::pair<std::string, std::string>>{
             {"curves?tag=nothing&run=" + id, "\"nothing\""},
             {"curves?tag=loss&stat=nothing&run=" + id, "nothing"},
             {"curves?tag=loss&from=x&run=" + id, "from"},
             {"curves?tag=loss&since=1&run=" + id, "since"},
             {"curves?tag=loss", "run"},
             {"run?since=b&run=" + id, "since"},
             {"runs?since=-1", "since"}}) {
        auto const refused = page.get("/api/" + asked);
        INFO(asked << ": " << refused.body);
        CHECK(refused.status == 400);
        CHECK(refused.document()["error"].get<std::string>().find(word) != std::string::npos);
    }
    for (std::string const asked : {"run?run=b_none", "run"}) {
        auto const refused = page.get("/api/" + asked);
        CHECK(refused.status == 404);
        CHECK(refused.body.find("there is no run with this id") != std::string::npos);
    }
}

TEST_CASE("serve: a tensor's statistics, histogram, values and a section of the page") {
    if (!serves()) { SPOTTER_SKIP("built without cpp-httplib"); }
    temporary_folder const folder;
    record_small(folder / "a");
    server const page{(folder / ".")};
    std::string const run = "run=" + id_of(page.runs(1), "a");
    auto const list = page.get("/api/tensors?filter=fc1&" + run).document();
    CHECK(list["all"] == 2);
    auto const one = page.get("/api/tensor?tag=fc1/w&" + run).document();
    CHECK(one["shape"] == "40x50");
    CHECK(one["kept"] == 5);
    CHECK(one["pictures"] == 0);  // a matrix is none
    auto const at = page.get("/api/values?tag=fc1/w&step=train:4&" + run).document();
    CHECK(at["bins"].size() == 64);
    CHECK(at["values"].size() == 256);
    CHECK(at["count"] == 2000);
    CHECK(page.get("/api/picture?tag=fc1/w&step=train:4&n=0&" + run).status == 404);
    {
        plan const keep{collection{"all", "*", always{}, payload}};
        hook watch{folder / "pictures", keep};
        std::vector<float> const pixels(2 * 8 * 8, 0.5F);
        (void)watch.step(train(0), "input"_t = view_of(pixels, {2, 8, 8}));
        watch.finish();
    }
    std::string const with = "run=" + id_of(page.runs(2), "pictures");
    CHECK(page.get("/api/tensor?tag=input&" + with).document()["pictures"] == 2);
    CHECK(page.get("/api/picture?tag=input&step=train:0&n=1&" + with).body.substr(1, 3) == "PNG");
    CHECK(page.get("/api/picture?tag=input&step=train:0&n=2&" + with).status == 404);
    CHECK(page.get("/api/values?tag=fc1/w&step=nonsense&" + run).status == 400);
    CHECK(page.get("/api/values?tag=nothing&step=train:4&" + run).status == 404);
    auto const section = page.get("/api/section?id=times&" + run);
    CHECK(section.status == 200);
    CHECK(section.body.find("<section id=\"times\"") != std::string::npos);
    CHECK(page.get("/api/section?id=nothing&" + run).status == 404);
    CHECK(page.get("/api/run?run=77").status == 404);
    CHECK(page.get("/api/nothing").status == 404);
}

TEST_CASE("serve: a run that is written is followed, and one that goes is reported") {
    if (!serves()) { SPOTTER_SKIP("built without cpp-httplib"); }
    temporary_folder const folder;
    std::filesystem::create_directories(folder / "runs");
    server const page{folder / "runs"};
    CHECK(page.runs(0).empty());
    {
        plan const keep{collection{"all", "*", always{}, payload}};
        hook watch{folder / "runs/live", keep};
        (void)watch.step(train(0), "loss"_t = 1.0);
        auto const is_there = [](auto const& it) { return it["runs"].size() == 1 && it["unread"] == 0; };
        std::string const id = page.wait_for("/api/runs", is_there)["runs"][0]["id"].dump();
        for (std::uint64_t i = 1; i < 4; ++i) {
            (void)watch.step(train(i), "loss"_t = 1.0 / static_cast<double>(i + 1));
            // Seen within a second: the page's own share of it is a quarter.
            auto const begin = std::chrono::steady_clock::now();
            (void)page.wait_for("/api/curves?tag=loss&run=" + id, [&](auto const& it) {
                return !it["lines"].empty() && it["lines"][0]["x"].size() == i + 1;
            });
            CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5});
        }
        (void)page.wait_for("/api/runs", [](auto const& it) {
            return it["runs"][0]["card"]["status"] == "running" && it["runs"][0]["card"]["steps"] == 4;
        });
        watch.finish();
    }
    auto const over =
        page.wait_for("/api/runs", [](auto const& it) { return it["runs"][0]["card"]["status"] == "finished"; });
    std::string const id = over["runs"][0]["id"].dump(), version = over["version"].dump();
    std::filesystem::remove_all(folder / "runs/live");
    auto const gone = page.wait_for("/api/runs?since=" + version, [](auto const& it) { return !it["gone"].empty(); });
    CHECK(gone["gone"][0].dump() == id);
    CHECK(page.get("/api/run?run=" + id).status == 404);
    std::filesystem::remove_all(folder / "runs");
    CHECK(!page.wait_for("/api/runs", [](auto const& it) { return it["trouble"] != ""; })["trouble"].empty());
}

TEST_CASE("serve: findings are the cards of the static page: a cause, and behind it what it explains") {
    if (!serves()) { SPOTTER_SKIP("built without cpp-httplib"); }
    temporary_folder const folder;
    {
        constexpr auto high = any("loss", maximum > 1.0) | named{"high"} | once;
        constexpr auto wide = any("act", maximum > 1.0) | named{"wide"} | once | severity::note;
        constexpr auto early = any("early", maximum > 1.0) | named{"early"} | once | severity::note;
        hook watch{folder / "runs/a", plan{collection{"all", "*", always{}}}, wide || high || early};
        for (std::uint64_t i = 0; i < 30; ++i) {
            double const now = i >= 20 ? 2.0 : 0.5, before = i >= 5 ? 2.0 : 0.5;
            (void)watch.step(train(i), "loss"_t = now, "act"_t = now, "early"_t = before);
        }
    }
    server const page{folder / "runs"};
    auto const reported = page.get("/api/run?run=" + id_of(page.runs(1), "a")).document();
    REQUIRE(reported["findings"].size() == 2);
    CHECK((reported["findings"][0]["rule"] == "early" && reported["findings"][0]["behind"].empty()));
    CHECK(reported["findings"][1]["rule"] == "high");
    REQUIRE(reported["findings"][1]["behind"].size() == 1);
    CHECK(reported["findings"][1]["behind"][0]["rule"] == "wide");
}

TEST_CASE("serve: no file outside the folder, whatever is asked for, and no link is followed") {
    if (!serves()) { SPOTTER_SKIP("built without cpp-httplib"); }
    temporary_folder const folder;
    record_small(folder / "secret");
    record_small(folder / "runs/a");
    std::filesystem::create_directory_symlink(folder / "secret", folder / "runs/link");
    std::filesystem::create_directories(folder / "runs/linked_files");
    for (char const* name : {"000000.spot", "000000.spotx"}) {
        std::filesystem::create_symlink(folder / ("secret/" + std::string{name}),
                                        folder / ("runs/linked_files/" + std::string{name}));
    }
    server const page{folder / "runs"};
    auto const runs = page.runs(2);
    CHECK(run_named(runs, "linked_files")["card"]["status"] == "unreadable");
    CHECK(page.get("/api/curves?tag=loss&run=" + id_of(runs, "linked_files")).document()["lines"].empty());
    CHECK(page.get("/api/runs").document()["links"] == 1);
    for (char const* path :
         {"/../secret/000000.spot", "/%2e%2e/secret/000000.spot", "/..%2fsecret", "//etc/passwd", "/a/000000.spot",
          "/api/../secret", "/api/run?run=../secret", "/api/run?run=%00", "/app.js/../../x", "/style.css%00.html"}) {
        INFO(path);
        reply const reported = page.get(path);
        CHECK((reported.status == 404 || reported.status == 400));
        CHECK(reported.body.find("SPOT") == std::string::npos);
    }
    CHECK(page.send("POST /api/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
              .status == 405);
    CHECK(page.send("DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").status == 405);
    // It goes on after what is no request.
    (void)page.send(std::string{"\0\1\2nonsense\r\n\r\n", 14});
    (void)page.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: " + std::string(100'000, 'x') +
                    "\r\n\r\n");
    CHECK(page.get("/").status == 200);
}

TEST_CASE("serve: only this machine's own names are answered, and only what a browser may do with it") {
    if (!serves()) { SPOTTER_SKIP("built without cpp-httplib"); }
    temporary_folder const folder;
    server const page{(folder / ".")};
    reply const ours = page.get("/", "Host: localhost:6007\r\n");
    CHECK(ours.status == 200);
    for (char const* wanted :
         {"Content-Security-Policy: default-src 'none'; script-src 'self'", "X-Content-Type-Options: nosniff",
          "frame-ancestors 'none'", "Cache-Control: no-store", "Cross-Origin-Resource-Policy: same-origin"}) {
        CHECK(ours.head.find(wanted) != std::string::npos);
    }
    CHECK(ours.head.find("Access-Control") == std::string::npos);
    CHECK(page.get("/", "Host: [::1]:6007\r\n").status == 200);
    for (char const* host :
         {"Host: evil.example\r\n", "Host: 127.0.0.1.evil.example\r\n", "Host: localhost.evil\r\n", ""}) {
        INFO(host);
        CHECK(page.get("/api/runs", host).status == 403);
    }
}

TEST_CASE("serve: a token is asked for where others can reach it") {
    if (!serves()) { SPOTTER_SKIP("built without cpp-httplib"); }
    temporary_folder const folder;
    for (std::string const& more : {std::string{"--host 0.0.0.0"}, std::string{"--token"}}) {
        server page{(folder / "."), more};
        std::size_t const at = page.url().find("?token=");
        REQUIRE(at != std::string::npos);
        std::string const token = page.url().substr(at + 7);
        CHECK(token.size() == 32);
        CHECK(page.get("/").status == 401);
        CHECK(page.get("/api/runs").status == 401);
        CHECK(page.get("/?token=" + std::string(32, '0')).status == 401);
        reply const in = page.get("/?token=" + token);
        CHECK(in.status == 303);
        CHECK(in.head.find("HttpOnly; SameSite=Strict") != std::string::npos);
        CHECK(page.get("/api/runs", "Host: 127.0.0.1\r\nCookie: a=b; spotter_token=" + token + "\r\n").status == 200);
        CHECK(page.get("/api/runs", "Host: 127.0.0.1\r\nCookie: spotter_token=" + token.substr(1) + "\r\n").status ==
              401);
        CHECK(page.stop() == 0);
    }
}

TEST_CASE("serve: a port in use, a folder that is none, and an address that is none are said") {
    if (!serves()) { SPOTTER_SKIP("built without cpp-httplib"); }
    temporary_folder const folder;
    server const page{(folder / ".")};
    tool_output const busy = ask("serve " + (folder / ".") + " --port " + std::to_string(page.port()));
    CHECK(busy.code == 4);
    CHECK(busy.complains("in use"));
    CHECK(busy.complains("--port 0"));
    tool_output const none = ask("serve " + folder / "none");
    CHECK(none.code == 3);
    CHECK(none.complains("is no folder"));
    CHECK(ask("serve " + (folder / ".") + " --port 70000").code == 2);
    CHECK(ask("serve " + (folder / ".") + " --host 203.0.113.7 --port 0").code == 4);
}

// tests/tools/live_page.py looks at it in a browser without a screen: a sweep, a run that grows, one that dies, one
// that is deleted, hostile names, damage; on a phone and on a desk, by day and by night, by the keyboard.
TEST_CASE("serve: a browser shows it in every state") {
    if (!SPOTTER_TEST_FOREIGN) { SPOTTER_SKIP("SPOTTER_TEST_FOREIGN is off"); }
    if (!serves()) { SPOTTER_SKIP("built without cpp-httplib"); }
    std::string const script = std::string{SPOTTER_SOURCE_DIR} + "/tests/tools/live_page.py";
    tool_output const browser =
        run_shell("python3 '" + script + "' '" SPOTTER_TOOL "' '" SPOTTER_LIVE_PAGE_RUNS "' 2>&1");
    if (browser.code == 77 || browser.code == 127) {
        SPOTTER_SKIP(browser.out.empty() ? "python3 was not found" : browser.out.c_str());
    }
    INFO(browser.out);
    CHECK(browser.code == 0);
}

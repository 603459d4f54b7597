// SPDX-License-Identifier: Apache-2.0
// Rows: every field of every kind is read back bit for bit. Every prefix and every flipped bit gives a value or a named
// error.
#include <spotter/format/record.hpp>
#include <spotter/stat/summary.hpp>

#include <tests/catch.hpp>

#include <string>
#include <vector>

using namespace spotter;

namespace {

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
// Read from memory: under -ffast-math a literal -0.0 may be stored as 0.
std::uint64_t const volatile minus_zero_bits = 1ULL << 63;
double minus_zero() { return std::bit_cast<double>(static_cast<std::uint64_t>(minus_zero_bits)); }
double const quiet = std::bit_cast<double>(0x7FF8DEADBEEF0001ULL);
double const signalling = std::bit_cast<double>(0x7FF0000000000001ULL);

struct encoded {
    std::vector<std::byte> bytes = std::vector<std::byte>(200000);
    std::size_t size = 0;
    template <class Encode>
    explicit encoded(Encode&& encode_into) {
        byte_writer out{bytes.data(), bytes.size()};
        encode_into(out);
        REQUIRE_FALSE(out.full());
        size = out.size();
    }
    row_view row(row_kind kind) const { return {kind, {bytes.data(), size}}; }
};

// Every proper prefix is refused, and no flipped bit crashes.
template <class Row, class... More>
void mistreat(encoded const& whole, row_kind kind, Row out, More... more) {
    for (std::size_t size = 0; size < whole.size; ++size) {
        std::vector<std::byte> const cut(whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(size));
        INFO("prefix of " << size << " of " << whole.size);
        CHECK(decode({kind, {cut.data(), cut.size()}}, out, more...).code == errc::corrupt);
    }
    std::vector<std::byte> copy(whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(whole.size));
    for (std::size_t bit = 0; bit < 8 * copy.size(); ++bit) {
        copy[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        (void)decode({kind, {copy.data(), copy.size()}}, out, more...);
        copy[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    }
}

}  // namespace

TEST_CASE("varints: every length round-trips; overlong, cut and too large ones are refused") {
    for (int shift = 0; shift < 64; ++shift) {
        for (std::uint64_t value :
             {std::uint64_t{1} << shift, (std::uint64_t{1} << shift) - 1, ~std::uint64_t{0} >> shift}) {
            std::byte memory[varint_limit];
            byte_writer out{memory, sizeof memory};
            out.varint(value);
            CHECK(out.size() == varint_bytes(value));
            byte_reader in{out.view()};
            CHECK(in.varint() == value);
            CHECK_FALSE(in.bad());
            byte_reader cut{out.view().first(out.size() - 1)};
            (void)cut.varint();
            CHECK(cut.bad());
            std::byte small[varint_limit];
            byte_writer no_room{small, varint_bytes(value) - 1};
            no_room.varint(value);
            CHECK(no_room.full());
            CHECK(no_room.size() == 0);
        }
    }
    unsigned char const overlong[] = {0x80, 0x00};
    byte_reader a{bytes_of(overlong, 2)};
    (void)a.varint();
    CHECK(a.bad());
    unsigned char const large[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02};
    byte_reader b{bytes_of(large, 10)};
    (void)b.varint();
    CHECK(b.bad());
}

TEST_CASE("a summary: every mask keeps its terms and nothing else, hostile numbers bit for bit") {
    summary full{};
    full.has = static_cast<stats_mask>(stored_terms::all);
    full.count = 1ULL << 40;
    full.nan = 3;
    full.pos_inf = 5;
    full.neg_inf = 7;
    full.first_bad = 12345;
    full.zeros = 99;
    full.minimum = minus_zero();
    full.maximum = signalling;
    full.abs_minimum = std::bit_cast<double>(1ULL);
    full.abs_maximum = quiet;
    full.sum = -1e308;
    full.sum_abs = 1e308;
    full.sum_squares = 0.1;
    full.moment2 = 0.2;
    full.product = minus_zero();
    full.hash = 0xFEDCBA9876543210ULL;
    full.has_previous = true;
    full.previous_index = ~0ULL;
    full.previous_sum_squares = 0.3;
    full.delta_sum_squares = 0.4;
    full.dot = -0.5;
    full.changed = 6;
    for (std::uint32_t mask = 0; mask < 2048; ++mask) {
        std::byte memory[observe_limit];
        byte_writer out{memory, sizeof memory};
        encode_summary(out, full, mask);
        REQUIRE_FALSE(out.full());
        byte_reader in{out.view()};
        summary back{};
        decode_summary(in, back);
        REQUIRE_FALSE(in.bad());
        REQUIRE(in.left() == 0);
        auto const kept = static_cast<std::uint32_t>(back.has);
        std::uint32_t expected = mask | stored_terms::nonfinite;
        if ((mask & stored_terms::variance) != 0) { expected |= stored_terms::sum; }
        REQUIRE(kept == expected);
        REQUIRE((back.count == full.count && back.nan == 3 && back.pos_inf == 5 && back.neg_inf == 7 &&
                 back.first_bad == 12345));
        summary const none{};
        auto const from = [&](std::uint32_t term) -> summary const& { return (kept & term) != 0 ? full : none; };
        REQUIRE(back.zeros == from(stored_terms::zeros).zeros);
        REQUIRE(bits(back.minimum) == bits(from(stored_terms::range).minimum));
        REQUIRE(bits(back.maximum) == bits(from(stored_terms::range).maximum));
        REQUIRE(bits(back.abs_minimum) == bits(from(stored_terms::abs_range).abs_minimum));
        REQUIRE(bits(back.abs_maximum) == bits(from(stored_terms::abs_range).abs_maximum));
        REQUIRE(bits(back.sum) == bits(from(stored_terms::sum).sum));
        REQUIRE(bits(back.sum_abs) == bits(from(stored_terms::sum_abs).sum_abs));
        REQUIRE(bits(back.sum_squares) == bits(from(stored_terms::sum_squares).sum_squares));
        REQUIRE(bits(back.moment2) == bits(from(stored_terms::variance).moment2));
        REQUIRE(bits(back.product) == bits(from(stored_terms::product).product));
        REQUIRE(back.hash == from(stored_terms::hash).hash);
        summary const& delta = from(stored_terms::delta);
        REQUIRE(back.has_previous == delta.has_previous);
        REQUIRE(back.previous_index == delta.previous_index);
        REQUIRE(bits(back.previous_sum_squares) == bits(delta.previous_sum_squares));
        REQUIRE(bits(back.delta_sum_squares) == bits(delta.delta_sum_squares));
        REQUIRE(bits(back.dot) == bits(delta.dot));
        REQUIRE(back.changed == delta.changed);
    }
}

TEST_CASE("a declaration: long name, rank 8, no partner and the largest ids") {
    std::string const name(70000, 'n');
    for (tensor_id partner : {no_tensor, tensor_id{0}, no_tensor - 1}) {
        rows::declare row{};
        row.tensor.id = no_tensor - 1;
        row.tensor.name = name;
        row.tensor.role = role::system;
        row.tensor.partner_role = role::weight;
        row.tensor.partner = partner;
        row.tensor.flags = flag::frozen | flag::sparse_rows;
        row.tensor.activation = activation_kind::sigmoid;
        row.tensor.type = dtype::c128;
        row.tensor.shape = {1, 2, 3, 4, 5, 6, 7, 0};
        row.tensor.collections = 1ULL << 63;
        encoded const whole{[&](byte_writer& out) { encode(out, row); }};
        rows::declare back{};
        REQUIRE_FALSE(decode(whole.row(row_kind::declare), back));
        CHECK(back.tensor.id == row.tensor.id);
        CHECK(back.tensor.name == name);
        CHECK(back.tensor.role == role::system);
        CHECK(back.tensor.partner_role == role::weight);
        CHECK(back.tensor.partner == partner);
        CHECK(back.tensor.flags == row.tensor.flags);
        CHECK(back.tensor.activation == row.tensor.activation);
        CHECK(back.tensor.type == dtype::c128);
        CHECK(back.tensor.shape == row.tensor.shape);
        CHECK(back.tensor.collections == row.tensor.collections);
    }
    rows::declare small{};
    small.tensor = {1, "w", role::weight, role::other, 3, flag::none, activation_kind::unknown, dtype::f32, {2, 3}, 5};
    encoded const whole{[&](byte_writer& out) { encode(out, small); }};
    mistreat(whole, row_kind::declare, rows::declare{});
}

TEST_CASE("an observation: units, shape and place; thinned and bare") {
    std::uint32_t const active[] = {1, 2, 0xFFFFFFFFU}, finite[] = {4, 5, 6};
    rows::observe row{};
    row.id = 77;
    row.step = eval(1ULL << 50);
    row.units = 3;
    row.active = bytes_of(active, 3);
    row.finite = bytes_of(finite, 3);
    row.has_values = true;
    row.type = dtype::bf16;
    row.layout = order::column_major;
    row.shape = {3, 0, 5};
    row.place = {1ULL << 45, 12, {2}};
    summary stats{};
    stats.has = stats_mask::nonfinite | stats_mask::sum;
    stats.sum = quiet;
    encoded const whole{[&](byte_writer& out) {
        encode(out, row, stats, static_cast<std::uint32_t>(stats_mask::sum));
        encode_place(out, row.place);
    }};
    rows::observe back{};
    summary seen{};
    REQUIRE_FALSE(decode(whole.row(row_kind::observe), back, seen));
    CHECK(back.id == 77);
    CHECK(back.step == row.step);
    CHECK(back.units == 3);
    CHECK(std::memcmp(back.active.data(), active, 12) == 0);
    CHECK(std::memcmp(back.finite.data(), finite, 12) == 0);
    CHECK((back.has_values && !back.thinned));
    CHECK(back.type == dtype::bf16);
    CHECK(back.layout == order::column_major);
    CHECK(back.shape == row.shape);
    CHECK((back.place.offset == row.place.offset && back.place.bytes == 12 && back.place.form.bits == 2));
    CHECK(bits(seen.sum) == bits(quiet));
    summary sink{};
    for (std::size_t size = 0; size < whole.size; ++size) {
        CHECK(decode({row_kind::observe, {whole.bytes.data(), size}}, back, sink).code == errc::corrupt);
    }
    std::vector<std::byte> copy(whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(whole.size));
    for (std::size_t bit = 0; bit < 8 * copy.size(); ++bit) {
        copy[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        (void)decode({row_kind::observe, {copy.data(), copy.size()}}, back, sink);
        copy[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    }

    rows::observe bare{};
    bare.id = 0;
    bare.thinned = true;
    encoded const small{[&](byte_writer& out) { encode(out, bare, summary{}, 0U); }};
    CHECK(small.size == 6);  // flags, id, mode, index, mask, count
    REQUIRE_FALSE(decode(small.row(row_kind::observe), back, seen));
    CHECK((back.thinned && !back.has_values && back.units == 0));
}

TEST_CASE("a scalar: of a step, loose, timed, and text") {
    double const value = signalling;
    rows::scalar row{};
    row.id = 5;
    row.has_step = true;
    row.step = predict(300);
    row.type = dtype::f64;
    row.value = bytes_of(&value, 1);
    encoded const stepped{[&](byte_writer& out) { encode(out, row); }};
    rows::scalar back{};
    REQUIRE_FALSE(decode(stepped.row(row_kind::scalar), back));
    CHECK((back.has_step && !back.has_time && back.id == 5 && back.step == predict(300)));
    CHECK(load<std::uint64_t>(back.value.data()) == bits(value));
    mistreat(stepped, row_kind::scalar, rows::scalar{});

    row = rows::scalar{};
    row.id = 6;
    row.has_time = true;
    row.type = dtype::text;
    row.value = bytes_of("", 0);
    encoded const loose{[&](byte_writer& out) {
        encode(out, row);
        out.fixed(1.7e9);
    }};
    REQUIRE_FALSE(decode(loose.row(row_kind::scalar), back));
    CHECK((!back.has_step && back.has_time && back.time == 1.7e9 && back.value.empty()));
}

TEST_CASE("a feature: integers as varints, all else bit for bit, and none at all") {
    double const infinite = std::bit_cast<double>(0x7FF0000000000000ULL);
    double const denormal = std::bit_cast<double>(std::uint64_t{1});
    std::vector<std::vector<double>> const lists{{},
                                                 {0},
                                                 {0, 1, 127, 128, 1e6, 0x1p53 - 1, 0x1p53},
                                                 {0x1p53 + 2},
                                                 {-1},
                                                 {minus_zero()},
                                                 {1, 2, 0.5},
                                                 {3, quiet, signalling, infinite, -infinite, denormal}};
    for (std::size_t i = 0; i < lists.size(); ++i) {
        std::vector<double> const& numbers = lists[i];
        rows::feature row{};
        row.id = 300 + static_cast<tensor_id>(i);
        row.step = eval(1ULL << 40);
        row.key = 0xFEDCBA9876543210ULL;
        encoded const whole{[&](byte_writer& out) { encode(out, row, numbers); }};
        CHECK(whole.size <= feature_limit + 8 * numbers.size());
        rows::feature back{};
        REQUIRE_FALSE(decode(whole.row(row_kind::feature), back));
        CHECK((back.id == row.id && back.step == row.step && back.key == row.key));
        CHECK(back.count == numbers.size());
        CHECK(back.integers == (i < 3));
        std::vector<std::uint64_t> found, expected;
        each_number(back, [&](double each) { found.push_back(bits(each)); });
        for (double const each : numbers) { expected.push_back(bits(each)); }
        CHECK(found == expected);
        mistreat(whole, row_kind::feature, rows::feature{});
    }
    auto const refused = [](std::uint64_t count, std::uint8_t form, std::uint64_t number) {
        encoded const odd{[&](byte_writer& out) {
            out.varint(1);
            detail::put_step(out, train(2));
            out.fixed(std::uint64_t{3});
            out.varint(count);
            out.fixed(form);
            out.varint(number);
        }};
        rows::feature back{};
        return decode(odd.row(row_kind::feature), back).code == errc::corrupt;
    };
    CHECK_FALSE(refused(1, 0, 1ULL << 53));
    CHECK(refused(1, 0, (1ULL << 53) + 1));
    CHECK(refused(2, 0, 5));
    CHECK(refused(1, 1, 5));
    CHECK(refused(1, 2, 5));
    CHECK(refused(~0ULL, 1, 5));
    CHECK_FALSE(refused(0, 1, 5));  // the bytes behind it are a newer writer's
}

TEST_CASE("run_begin, close, finding, drops, heartbeat, stay and run_end round-trip") {
    encoded const list{[](byte_writer& out) {
        encode(out, rows::collection{"losses", "\"loss\", always, payload"});
        encode(out, rows::collection{"", ""});
    }};
    rows::run_begin begin{};
    begin.run_id = 0x0102030405060708ULL;
    begin.attempt = 3;
    begin.worker = 2;
    begin.time = minus_zero();
    begin.instant = 1;
    begin.version = "0.1.0";
    begin.collections = 2;
    begin.list = {list.bytes.data(), list.size};
    encoded const head{[&](byte_writer& out) { encode(out, begin); }};
    rows::run_begin began{};
    REQUIRE_FALSE(decode(head.row(row_kind::run_begin), began));
    CHECK((began.run_id == begin.run_id && began.attempt == 3 && began.worker == 2 && began.instant == 1));
    CHECK(bits(began.time) == bits(minus_zero()));
    CHECK(began.version == "0.1.0");
    REQUIRE(began.collections == 2);
    rows::collection each{};
    REQUIRE(read_collection(began.list, each));
    CHECK(each.what == "\"loss\", always, payload");
    REQUIRE(read_collection(began.list, each));
    CHECK(each.name.empty());
    CHECK_FALSE(read_collection(began.list, each));
    CHECK(began.workers == 0);
    mistreat(head, row_kind::run_begin, rows::run_begin{});
    begin.workers = 300;  // two more bytes that an older reader ignores
    encoded const counted{[&](byte_writer& out) { encode(out, begin); }};
    CHECK(counted.size == head.size + 2);
    REQUIRE_FALSE(decode(counted.row(row_kind::run_begin), began));
    CHECK((began.workers == 300 && began.collections == 2 && began.list.size() == list.size &&
           began.environment.empty()));
    begin.workers = 0;
    begin.environment = "compiler gcc 12\ncores 2";
    encoded const reported{[&](byte_writer& out) { encode(out, begin); }};
    REQUIRE_FALSE(decode(reported.row(row_kind::run_begin), began));
    CHECK((began.workers == 0 && began.environment == begin.environment && began.collections == 2));

    rows::close const close{train(~0ULL), 0, 3, 0};
    encoded const closing{[&](byte_writer& out) {
        encode(out, close);
        encode_stamp(out, 1ULL << 40, 1.7e9);
    }};
    rows::close closed{};
    REQUIRE_FALSE(decode(closing.row(row_kind::close), closed));
    CHECK(
        (closed.step == train(~0ULL) && closed.ordinal == 1ULL << 40 && closed.left_out == 3 && closed.time == 1.7e9));
    mistreat(closing, row_kind::close, rows::close{});

    rows::finding finding{train(4), "r", "why", "t/x", "l2", "do", "more", quiet, minus_zero(), 4, 2, 2, true, 9};
    encoded const finds{[&](byte_writer& out) { encode(out, finding); }};
    rows::finding found{};
    REQUIRE_FALSE(decode(finds.row(row_kind::finding), found));
    CHECK((found.step == train(4) && found.rule == "r" && found.reason == "why" && found.tensor == "t/x" &&
           found.measure == "l2"));
    CHECK((found.remedy == "do" && found.detail == "more" && found.how == 4 && found.severity == 2 &&
           found.decision == 2));
    CHECK((found.decision_is_set && found.others == 9));
    CHECK((bits(found.measured) == bits(quiet) && bits(found.threshold) == bits(minus_zero())));
    mistreat(finds, row_kind::finding, rows::finding{});

    encoded const dropping{[](byte_writer& out) { encode(out, rows::drops{1, 1ULL << 33, 3}); }};
    rows::drops drops{};
    REQUIRE_FALSE(decode(dropping.row(row_kind::drops), drops));
    CHECK((drops.dropped == 1 && drops.thinned == 1ULL << 33 && drops.closes == 3));
    mistreat(dropping, row_kind::drops, rows::drops{});

    encoded const beating{[](byte_writer& out) { encode(out, rows::heartbeat{2.5}); }};
    rows::heartbeat beat{};
    REQUIRE_FALSE(decode(beating.row(row_kind::heartbeat), beat));
    CHECK(beat.time == 2.5);
    mistreat(beating, row_kind::heartbeat, rows::heartbeat{});

    encoded const staying{[](byte_writer& out) { encode(out, rows::stay{1.5, 20, "allreduce/wait"}); }};
    rows::stay stay{};
    REQUIRE_FALSE(decode(staying.row(row_kind::stay), stay));
    CHECK((stay.time == 1.5 && stay.seconds == 20 && stay.section == "allreduce/wait"));
    mistreat(staying, row_kind::stay, rows::stay{});

    encoded const plain{[](byte_writer& out) { encode(out, rows::drained{1ULL << 40}); }};
    rows::drained mark{};
    REQUIRE_FALSE(decode(plain.row(row_kind::drained), mark));
    CHECK((mark.position == 1ULL << 40 && mark.bytes == 0));
    mistreat(plain, row_kind::drained, rows::drained{});
    encoded const nameless{[](byte_writer& out) { encode(out, rows::drained{7, 5'000'000, {4}, {}}); }};
    CHECK(decode(nameless.row(row_kind::drained), mark).code == errc::corrupt);  // values of what is unknown
    encoded const amid{[](byte_writer& out) {
        encode(out, rows::drained{7, 5'000'000, {4}, {}});
        out.raw(bytes_of("row", 3));
    }};
    REQUIRE_FALSE(decode(amid.row(row_kind::drained), mark));
    CHECK((mark.position == 7 && mark.bytes == 5'000'000 && mark.form.bits == 4 && mark.observe.size() == 3));

    encoded const covered{[](byte_writer& out) { encode(out, rows::coverage{"dead_relu", 1, 2, 3, 4, "no relu"}); }};
    rows::run_end end{2, "exception", 1, 2, 3, 4, 5, 6.5, 1, {covered.bytes.data(), covered.size}};
    encoded const ending{[&](byte_writer& out) { encode(out, end); }};
    rows::run_end ended{};
    REQUIRE_FALSE(decode(ending.row(row_kind::run_end), ended));
    CHECK(
        (ended.how == 2 && ended.why == "exception" && ended.refused == 1 && ended.stored == 2 && ended.dropped == 3));
    CHECK((ended.thinned == 4 && ended.closes == 5 && ended.time == 6.5 && ended.coverages == 1));
    rows::coverage cover{};
    REQUIRE(read_coverage(ended.list, cover));
    CHECK((cover.rule == "dead_relu" && cover.matched == 1 && cover.judged == 2 && cover.undecided == 3 &&
           cover.fired == 4 && cover.reason == "no relu"));
    mistreat(ending, row_kind::run_end, rows::run_end{});
}

TEST_CASE("bytes behind the known fields are a newer writer's and are ignored; unknown roles become other") {
    rows::declare row{};
    row.tensor = {1,         "w",        static_cast<role>(200),           role::other,
                  no_tensor, flag::none, static_cast<activation_kind>(77), dtype::f32,
                  {},        0};
    encoded const whole{[&](byte_writer& out) {
        encode(out, row);
        out.varint(12345);
    }};
    rows::declare back{};
    REQUIRE_FALSE(decode(whole.row(row_kind::declare), back));
    CHECK(back.tensor.role == role::other);
    CHECK(back.tensor.activation == activation_kind::other);
}

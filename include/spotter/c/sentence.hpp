// SPDX-License-Identifier: Apache-2.0
// C interface (L6): findings for C: as a plain structure, and as a line of text.
#pragma once

#include <spotter/c/spotter.h>
#include <spotter/core/result.hpp>
#include <spotter/core/role.hpp>
#include <spotter/core/tensor_ref.hpp>
#include <spotter/rule/describe.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

using c_line = text<1024>;

[[nodiscard]] inline std::string_view c_text(char const* it) noexcept {
    return it == nullptr ? std::string_view{} : std::string_view{it};
}

// Copies as much of `from` as fits, with a terminating zero. Never splits a UTF-8 character.
inline void copy_text(char* into, std::size_t size, std::string_view from) noexcept {
    if (size == 0 || into == nullptr) { return; }
    std::size_t count = from.size();
    if (count >= size) {
        count = size - 1;
        while (count > 0 && (static_cast<unsigned char>(from[count]) & 0xC0U) == 0x80U) { --count; }
    }
    for (std::size_t i = 0; i < count; ++i) { into[i] = from[i]; }
    into[count] = '\0';
}
template <std::size_t Size>
inline void copy_text(char (&into)[Size], std::string_view from) noexcept {
    copy_text(into, Size, from);
}

// The name of an enumerator by number. Names are literals, so each is zero-terminated.
template <class Enum>
[[nodiscard]] inline char const* c_name(int number, int last) noexcept {
    return number < 0 || number > last ? "" : name_of(static_cast<Enum>(number)).data();
}

inline void fill(spotter_finding& out, finding const& it) noexcept {
    out.severity = static_cast<spotter_severity>(it.severity);
    out.decision = static_cast<spotter_decision>(it.decision);
    out.mode = static_cast<spotter_mode>(it.step.mode);
    out.index = it.step.index;
    out.measured = it.measured;
    out.threshold = it.threshold;
    out.others = it.others;
    copy_text(out.relation, symbol_of(it.how));
    copy_text(out.rule, it.rule);
    copy_text(out.reason, it.reason);
    copy_text(out.tensor, it.tensor);
    copy_text(out.measure, it.measure);
    copy_text(out.detail, it.detail);
    copy_text(out.remedy, it.remedy);
}

inline void describe_with_remedy(finding const& it, c_line& line) noexcept {
    describe(it, line);
    if (it.remedy.empty()) { return; }
    line << ": ";
    put_plain(it.remedy, [&](std::string_view piece) { line << piece; });
}

// The numbers in spotter.h are those of the C++ enumerations.
static_assert(SPOTTER_PREDICT == static_cast<int>(mode::predict));
static_assert(SPOTTER_F8_E5M2 == static_cast<int>(dtype::f8_e5m2) && SPOTTER_F32 == static_cast<int>(dtype::f32));
static_assert(SPOTTER_ROLE_SYSTEM == static_cast<int>(role::system) &&
              SPOTTER_ROLE_METRIC == static_cast<int>(role::metric));
static_assert(SPOTTER_FLAG_SPARSE_ROWS == static_cast<int>(flag::sparse_rows) &&
              SPOTTER_FLAG_LOGITS == static_cast<int>(flag::logits));
static_assert(SPOTTER_FLAG_NEGATED == static_cast<int>(flag::negated) &&
              SPOTTER_FLAG_GATHERED == static_cast<int>(flag::gathered) &&
              SPOTTER_FLAG_LOG_PROBABILITIES == static_cast<int>(flag::log_probabilities));
static_assert(SPOTTER_BATCH_AXIS(3) == static_cast<int>(batch_axis(3)));
static_assert(SPOTTER_ACTIVATED_BY(SPOTTER_ACTIVATION_OTHER) == static_cast<int>(activated_by(activation_kind::other)));
static_assert(SPOTTER_MAX_RANK == max_rank);
static_assert(SPOTTER_SEVERE == static_cast<int>(severity::error));
static_assert(SPOTTER_STOP == static_cast<int>(decision::stop));
static_assert(SPOTTER_NO_DEVICE == static_cast<int>(errc::no_device));
static_assert(SPOTTER_NULL_POINTER == static_cast<int>(errc::null_pointer));
static_assert(SPOTTER_USER_CODE_THREW == static_cast<int>(errc::user_code_threw));
static_assert(SPOTTER_NO_STEP_OPEN == static_cast<int>(errc::no_step_open));
static_assert(SPOTTER_NOT_CONTIGUOUS == static_cast<int>(errc::not_contiguous));
static_assert(SPOTTER_NO_SHAPE == static_cast<int>(errc::no_shape));
static_assert(SPOTTER_BAD_CONFIG == static_cast<int>(errc::bad_config));
static_assert(SPOTTER_DISK_FULL == static_cast<int>(errc::disk_full));

}  // namespace spotter::inline SPOTTER_ABI::detail

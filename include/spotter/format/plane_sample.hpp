// SPDX-License-Identifier: Apache-2.0
// Format (L1): chooses the compression of a byte plane from a sample.
#pragma once

#include <spotter/core/fwd.hpp>
#include <spotter/format/fwd.hpp>
#include <spotter/format/shuffle.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI::detail {

// N * log2(n) in 1024ths, for every count in a sample of a byte plane. A literal table compiles faster (tests/format
// has the formula).
// clang-format off
inline constexpr std::uint32_t count_bits[1025] = {
    0, 0, 2048, 4869, 8192, 11888, 15882, 20123, 24576, 29214, 34017, 38967,
    44052, 49260, 54582, 60010, 65536, 71155, 76860, 82648, 88513, 94452, 100462, 106539,
    112680, 118883, 125145, 131463, 137836, 144263, 150740, 157266, 163840, 170460, 177125, 183834,
    190584, 197376, 204207, 211078, 217986, 224931, 231913, 238929, 245980, 253065, 260182, 267331,
    274512, 281724, 288965, 296237, 303537, 310866, 318222, 325606, 333017, 340454, 347917, 355406,
    362919, 370458, 378020, 385606, 393216, 400849, 408504, 416182, 423882, 431604, 439347, 447111,
    454896, 462702, 470528, 478373, 486239, 494124, 502028, 509951, 517892, 525853, 533831, 541827,
    549842, 557873, 565923, 573989, 582072, 590172, 598289, 606422, 614572, 622737, 630918, 639116,
    647328, 655556, 663799, 672058, 680331, 688619, 696921, 705239, 713570, 721916, 730275, 738649,
    747037, 755438, 763852, 772280, 780722, 789177, 797644, 806125, 814618, 823125, 831644, 840175,
    848719, 857275, 865843, 874424, 883016, 891620, 900237, 908864, 917504, 926155, 934818, 943491,
    952177, 960873, 969580, 978299, 987028, 995769, 1004520, 1013282, 1022054, 1030837, 1039630, 1048434,
    1057248, 1066073, 1074908, 1083752, 1092607, 1101472, 1110347, 1119231, 1128125, 1137029, 1145943, 1154866,
    1163799, 1172742, 1181693, 1190654, 1199625, 1208604, 1217593, 1226591, 1235598, 1244614, 1253639, 1262672,
    1271715, 1280767, 1289827, 1298896, 1307973, 1317059, 1326154, 1335257, 1344369, 1353489, 1362617, 1371753,
    1380898, 1390051, 1399213, 1408382, 1417559, 1426745, 1435938, 1445140, 1454349, 1463566, 1472791, 1482024,
    1491264, 1500512, 1509768, 1519032, 1528303, 1537581, 1546867, 1556161, 1565462, 1574770, 1584086, 1593409,
    1602739, 1612076, 1621421, 1630773, 1640132, 1649498, 1658871, 1668252, 1677639, 1687033, 1696434, 1705842,
    1715257, 1724679, 1734107, 1743543, 1752985, 1762433, 1771889, 1781351, 1790820, 1800295, 1809777, 1819266,
    1828760, 1838262, 1847770, 1857284, 1866805, 1876332, 1885865, 1895405, 1904951, 1914503, 1924062, 1933627,
    1943197, 1952774, 1962358, 1971947, 1981542, 1991144, 2000751, 2010365, 2019984, 2029609, 2039241, 2048878,
    2058521, 2068170, 2077825, 2087486, 2097152, 2106824, 2116502, 2126186, 2135875, 2145570, 2155271, 2164977,
    2174689, 2184407, 2194130, 2203859, 2213593, 2223333, 2233078, 2242829, 2252585, 2262346, 2272113, 2281886,
    2291664, 2301447, 2311235, 2321029, 2330828, 2340632, 2350442, 2360257, 2370077, 2379902, 2389733, 2399568,
    2409409, 2419255, 2429106, 2438962, 2448823, 2458689, 2468561, 2478437, 2488318, 2498204, 2508096, 2517992,
    2527893, 2537799, 2547710, 2557626, 2567547, 2577472, 2587403, 2597338, 2607278, 2617223, 2627173, 2637127,
    2647087, 2657051, 2667019, 2676993, 2686971, 2696953, 2706941, 2716933, 2726929, 2736931, 2746937, 2756947,
    2766962, 2776982, 2787006, 2797034, 2807068, 2817105, 2827148, 2837194, 2847245, 2857301, 2867361, 2877425,
    2887494, 2897568, 2907645, 2917727, 2927814, 2937904, 2947999, 2958099, 2968202, 2978310, 2988423, 2998539,
    3008660, 3018785, 3028914, 3039048, 3049185, 3059327, 3069473, 3079623, 3089778, 3099936, 3110099, 3120266,
    3130437, 3140612, 3150791, 3160974, 3171161, 3181353, 3191548, 3201747, 3211951, 3222158, 3232370, 3242585,
    3252805, 3263028, 3273255, 3283487, 3293722, 3303961, 3314204, 3324451, 3334702, 3344957, 3355216, 3365478,
    3375745, 3386015, 3396289, 3406567, 3416849, 3427134, 3437423, 3447717, 3458013, 3468314, 3478619, 3488927,
    3499239, 3509554, 3519874, 3530197, 3540523, 3550854, 3561188, 3571526, 3581867, 3592213, 3602561, 3612914,
    3623270, 3633630, 3643993, 3654360, 3664730, 3675104, 3685482, 3695863, 3706248, 3716636, 3727028, 3737424,
    3747823, 3758225, 3768631, 3779041, 3789454, 3799870, 3810290, 3820713, 3831140, 3841571, 3852004, 3862441,
    3872882, 3883326, 3893774, 3904224, 3914679, 3925136, 3935597, 3946062, 3956529, 3967001, 3977475, 3987953,
    3998434, 4008918, 4019406, 4029897, 4040392, 4050889, 4061390, 4071895, 4082402, 4092913, 4103427, 4113944,
    4124465, 4134989, 4145516, 4156046, 4166580, 4177116, 4187656, 4198199, 4208746, 4219295, 4229848, 4240404,
    4250963, 4261525, 4272090, 4282659, 4293230, 4303805, 4314383, 4324964, 4335548, 4346135, 4356725, 4367318,
    4377915, 4388514, 4399117, 4409723, 4420331, 4430943, 4441558, 4452176, 4462797, 4473421, 4484047, 4494677,
    4505310, 4515946, 4526585, 4537227, 4547872, 4558520, 4569171, 4579825, 4590482, 4601141, 4611804, 4622470,
    4633138, 4643810, 4654484, 4665162, 4675842, 4686525, 4697211, 4707900, 4718592, 4729287, 4739984, 4750685,
    4761388, 4772095, 4782804, 4793516, 4804230, 4814948, 4825669, 4836392, 4847118, 4857847, 4868579, 4879313,
    4890051, 4900791, 4911534, 4922280, 4933028, 4943779, 4954533, 4965290, 4976050, 4986812, 4997577, 5008345,
    5019116, 5029889, 5040665, 5051444, 5062226, 5073010, 5083797, 5094587, 5105379, 5116174, 5126972, 5137772,
    5148575, 5159381, 5170189, 5181001, 5191814, 5202631, 5213450, 5224272, 5235096, 5245923, 5256753, 5267585,
    5278420, 5289257, 5300098, 5310940, 5321786, 5332634, 5343484, 5354337, 5365193, 5376051, 5386912, 5397776,
    5408642, 5419510, 5430382, 5441255, 5452132, 5463010, 5473892, 5484776, 5495662, 5506551, 5517443, 5528337,
    5539233, 5550132, 5561034, 5571938, 5582844, 5593753, 5604665, 5615579, 5626495, 5637414, 5648336, 5659260,
    5670186, 5681115, 5692046, 5702980, 5713916, 5724855, 5735796, 5746740, 5757686, 5768634, 5779585, 5790538,
    5801494, 5812452, 5823412, 5834375, 5845341, 5856308, 5867278, 5878251, 5889226, 5900203, 5911183, 5922165,
    5933149, 5944136, 5955125, 5966117, 5977110, 5988107, 5999105, 6010106, 6021109, 6032115, 6043123, 6054133,
    6065145, 6076160, 6087177, 6098197, 6109219, 6120243, 6131269, 6142298, 6153329, 6164362, 6175398, 6186436,
    6197476, 6208519, 6219563, 6230610, 6241660, 6252711, 6263765, 6274821, 6285879, 6296940, 6308003, 6319068,
    6330135, 6341205, 6352277, 6363351, 6374427, 6385505, 6396586, 6407669, 6418754, 6429841, 6440931, 6452023,
    6463117, 6474213, 6485311, 6496412, 6507514, 6518619, 6529726, 6540836, 6551947, 6563061, 6574177, 6585294,
    6596415, 6607537, 6618661, 6629788, 6640917, 6652048, 6663181, 6674316, 6685453, 6696592, 6707734, 6718878,
    6730024, 6741172, 6752322, 6763474, 6774628, 6785785, 6796943, 6808104, 6819266, 6830431, 6841598, 6852767,
    6863938, 6875111, 6886287, 6897464, 6908644, 6919825, 6931009, 6942194, 6953382, 6964572, 6975764, 6986957,
    6998153, 7009351, 7020551, 7031754, 7042958, 7054164, 7065372, 7076582, 7087795, 7099009, 7110225, 7121444,
    7132664, 7143886, 7155111, 7166337, 7177566, 7188796, 7200029, 7211263, 7222500, 7233738, 7244978, 7256221,
    7267465, 7278712, 7289960, 7301211, 7312463, 7323717, 7334973, 7346232, 7357492, 7368754, 7380018, 7391284,
    7402553, 7413823, 7425095, 7436369, 7447644, 7458922, 7470202, 7481484, 7492767, 7504053, 7515340, 7526630,
    7537921, 7549214, 7560510, 7571807, 7583106, 7594407, 7605710, 7617014, 7628321, 7639630, 7650940, 7662253,
    7673567, 7684883, 7696201, 7707521, 7718843, 7730167, 7741492, 7752820, 7764149, 7775480, 7786813, 7798148,
    7809485, 7820824, 7832165, 7843507, 7854851, 7866197, 7877545, 7888895, 7900247, 7911600, 7922956, 7934313,
    7945672, 7957033, 7968396, 7979760, 7991127, 8002495, 8013865, 8025237, 8036611, 8047986, 8059364, 8070743,
    8082124, 8093507, 8104891, 8116278, 8127666, 8139056, 8150448, 8161841, 8173237, 8184634, 8196033, 8207434,
    8218836, 8230241, 8241647, 8253055, 8264464, 8275876, 8287289, 8298704, 8310121, 8321539, 8332960, 8344382,
    8355805, 8367231, 8378658, 8390087, 8401518, 8412951, 8424385, 8435821, 8447259, 8458699, 8470140, 8481583,
    8493028, 8504474, 8515923, 8527373, 8538824, 8550278, 8561733, 8573190, 8584649, 8596109, 8607571, 8619035,
    8630500, 8641967, 8653436, 8664907, 8676379, 8687853, 8699329, 8710806, 8722285, 8733766, 8745249, 8756733,
    8768219, 8779706, 8791195, 8802686, 8814179, 8825673, 8837169, 8848667, 8860166, 8871667, 8883170, 8894674,
    8906180, 8917687, 8929197, 8940708, 8952220, 8963735, 8975251, 8986768, 8998287, 9009808, 9021331, 9032855,
    9044381, 9055908, 9067437, 9078968, 9090500, 9102034, 9113570, 9125107, 9136646, 9148187, 9159729, 9171273,
    9182818, 9194365, 9205914, 9217464, 9229016, 9240569, 9252124, 9263681, 9275239, 9286799, 9298361, 9309924,
    9321488, 9333055, 9344623, 9356192, 9367763, 9379336, 9390910, 9402486, 9414064, 9425643, 9437223, 9448805,
    9460389, 9471975, 9483562, 9495150, 9506740, 9518332, 9529925, 9541520, 9553116, 9564714, 9576314, 9587915,
    9599517, 9611121, 9622727, 9634334, 9645943, 9657554, 9669166, 9680779, 9692394, 9704011, 9715629, 9727249,
    9738870, 9750492, 9762117, 9773743, 9785370, 9796999, 9808629, 9820261, 9831895, 9843530, 9855166, 9866804,
    9878444, 9890085, 9901727, 9913372, 9925017, 9936664, 9948313, 9959963, 9971615, 9983268, 9994923, 10006579,
    10018237, 10029896, 10041557, 10053219, 10064882, 10076548,
    10088214, 10099883, 10111552, 10123223, 10134896, 10146570,
    10158246, 10169923, 10181601, 10193282, 10204963, 10216646,
    10228331, 10240017, 10251704, 10263393, 10275083, 10286775,
    10298468, 10310163, 10321860, 10333557, 10345256, 10356957,
    10368659, 10380363, 10392068, 10403774, 10415482, 10427191,
    10438902, 10450615, 10462328, 10474043, 10485760,
};
// clang-format on

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

// raw      all bytes and sequences are equally frequent: mantissas
// huffman  some bytes are more frequent, but no sequences: signs and exponents
// matches  sequences of bytes repeat: zeros, labels, counters, copies
enum class plane_codec : std::uint8_t { raw, huffman, matches };

namespace detail {

inline constexpr std::size_t sample_windows = 16;
inline constexpr std::size_t window_values = 64;
inline constexpr std::size_t sample_bytes = sample_windows * window_values;  // of each plane

// Whether the `Length` bytes at `anchor`, which is inside of `part`, occur again in it.
template <std::size_t Length>
[[nodiscard]] inline bool comes_again(std::byte const* anchor, byte_view part) noexcept {
    int seen = 0;  // counts the anchor itself, too
    std::size_t i = 0;
#if SPOTTER_GNU_VECTORS
    plane_lanes sum{};
    for (; i + 16 + Length <= part.size() + 1; i += 16) {
        plane_lanes same = ~plane_lanes{};
        SPOTTER_UNROLL
        for (std::size_t k = 0; k < Length; ++k) {
            plane_lanes bytes;
            std::memcpy(&bytes, part.data() + i + k, 16);
            same &= plane_lanes(bytes == static_cast<unsigned char>(anchor[k]));
        }
        sum -= same;  // a match is -1; at most 64 rounds, so that no lane overflows
    }
    for (int lane = 0; lane < 16; ++lane) { seen += sum[lane]; }
#endif
    for (; i + Length <= part.size(); ++i) { seen += std::memcmp(part.data() + i, anchor, Length) == 0 ? 1 : 0; }
    return seen > 1;
}
// The share of windows whose first bytes occur again in them (runs, short patterns), in sixteenths.
template <std::size_t Length>
[[nodiscard]] inline std::size_t repeats_nearby(byte_view sample) noexcept {
    std::size_t found = 0, windows = 0;
    for (; windows < sample.size() / window_values; ++windows) {
        byte_view const window = sample.subspan(windows * window_values, window_values);
        found += comes_again<Length>(window.data(), window) ? 1U : 0U;
    }
    return windows == 0 ? 0 : found * 16 / windows;
}
// The number of windows, out of two, whose first bytes occur again anywhere (equal rows).
template <std::size_t Length>
[[nodiscard]] inline std::size_t repeats_anywhere(byte_view sample) noexcept {
    std::size_t found = 0;
    for (std::size_t at = 0; at + window_values <= sample.size(); at += 8 * window_values) {
        found += comes_again<Length>(sample.data() + at, sample) ? 1U : 0U;
    }
    return found;
}

}  // namespace detail

// Whether a mask pays for that many zero values of a width. With fewer zeros it would still make the frames smaller,
// but a masked block takes twice as long; for values of one byte Huffman codes alone save nearly as much.
[[nodiscard]] constexpr bool mask_pays(std::size_t zero, std::size_t all, std::size_t width) noexcept {
    return width == 1 ? zero * 5 > all * 2 : zero * 10 > all;
}

// The compression of a block.
struct block_choice {
    bool sparse = false;                  // a mask pays; the codecs of the masked planes are unknown
    std::array<plane_codec, 8> codecs{};  // for each plane, unless sparse
};
// The codec of each plane of a block that is not split yet. Samples 1024 values at sixteen fixed places: the same block
// always gives the same result. `sparse` only if the form has masks.
[[nodiscard]] block_choice choose_codecs(byte_view block, payload_form form) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

static_assert(sizeof count_bits / sizeof count_bits[0] == sample_bytes + 1);

// `sample` has at most sample_bytes.
[[nodiscard]] SPOTTER_BODY plane_codec choose_codec(byte_view sample) noexcept {
    constexpr float too_many_bits = 7.2F;  // a byte: Huffman codes would save at most a tenth
    if (sample.size() < 64) { return plane_codec::matches; }
    // Two tables, because increments for equal bytes in a row would wait for each other.
    std::array<std::array<std::uint16_t, 256>, 2> counts{};
    std::size_t i = 0;
    for (; i + 2 <= sample.size(); i += 2) {
        ++counts[0][static_cast<std::size_t>(sample[i])];
        ++counts[1][static_cast<std::size_t>(sample[i + 1])];
    }
    if (i < sample.size()) { ++counts[0][static_cast<std::size_t>(sample[i])]; }
    unsigned sum = 0, largest = 0, kinds = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
        unsigned const count = counts[0][byte] + unsigned{counts[1][byte]};
        sum += count_bits[count];
        largest = count > largest ? count : largest;
        kinds += count > 0 ? 1 : 0;
    }
    auto const size = static_cast<float>(sample.size());
    float const shown = static_cast<float>(count_bits[sample.size()] - sum) / 1024 / size;
    // A sample underestimates the entropy; this is the mean error (Miller 1955).
    float const bits = shown + static_cast<float>(kinds - 1) / size * 0.7213F;
    if (bits >= too_many_bits) {
        bool const again = repeats_nearby<4>(sample) > 0 || repeats_anywhere<4>(sample) > 0;
        return again ? plane_codec::matches : plane_codec::raw;
    }
    // Huffman codes take at least one bit for a byte. Above that, a few runs do not pay for a search that takes three
    // times as long.
    if (largest * 5 > sample.size() * 4) { return plane_codec::matches; }
    bool const again = repeats_nearby<8>(sample) >= 4 || repeats_anywhere<8>(sample) == 2;
    return again ? plane_codec::matches : plane_codec::huffman;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY block_choice choose_codecs(byte_view block, payload_form form) noexcept {
    std::byte samples[8][detail::sample_bytes];
    std::size_t const planes = form.planes(), count = block.size() / planes;
    std::size_t const taken = (std::min)(count, detail::sample_bytes);
    for (std::size_t done = 0; done < taken; done += detail::window_values) {
        std::size_t const values = (std::min)(detail::window_values, taken - done);
        // Spread over the block, not quite evenly: an even step could coincide with a period of the data.
        std::size_t const window = done / detail::window_values;
        std::size_t const step = taken < detail::sample_bytes ? 0 : (count - taken) / (detail::sample_windows - 1);
        std::size_t const from = done + step * window - window * 0x9E3779B1U / 64 % (step / 2 + 1);
        std::byte* into[8]{};
        for (std::size_t plane = 0; plane < 8; ++plane) { into[plane] = samples[plane] + done; }
        split_planes(block.data() + from * planes, values, form, into);
    }
    block_choice found{};
    if (form.masked()) {
        std::size_t zero = 0;
        for (std::size_t i = 0; i < taken; ++i) {
            std::byte any{0};
            for (std::size_t plane = 0; plane < planes; ++plane) { any |= samples[plane][i]; }
            zero += any == std::byte{0} ? 1 : 0;
        }
        found.sparse = mask_pays(zero, taken, planes);
        if (found.sparse) { return found; }
    }
    for (std::size_t plane = 0; plane < planes; ++plane) {
        found.codecs[plane] = detail::choose_codec({samples[plane], taken});
    }
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif

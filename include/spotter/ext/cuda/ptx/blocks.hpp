// SPDX-License-Identifier: Apache-2.0
// Ext (L6): Kernels as the driver compiles them; made by tools/cuda/make_ptx.py of tools/cuda/kernels.cpp.
#pragma once

#include <spotter/config.hpp>

namespace spotter::inline SPOTTER_ABI::detail::cuda_pass {

// clang-format off
inline constexpr char blocks_ptx[] = R"ptx(
.version 6.0 .target sm_70 .address_size 64 .visible .entry spotter_blocks( .param .align 8 .b8 p0[3072],
.param .u32 p1, .param .u64 p2, .param .u64 p3 ) { .reg .pred %p<187>; .reg .b16 %rs<110>; .reg .b32 %r<396>;
.reg .f32 %f<11>; .reg .b64 %rd<229>; .reg .f64 %fd<236>; ld.param.u64 %rd60,[p2]; mov.u32 %r144,%ctaid.x;
mul.wide.u32 %rd63,%r144,16; mov.u32 %r1,%tid.x; shr.u32 %r145,%r1,4; cvt.u64.u32 %rd4,%r145;
add.s64 %rd219,%rd63,%rd4; setp.ge.u64 %p2,%rd219,%rd60; @%p2 bra $L__BB0_231; ld.param.u32 %r143,[p1];
mov.b64 %rd61,p0; ld.param.u64 %rd62,[p3]; cvta.to.global.u64 %rd1,%rd62; mov.u64 %rd2,%rd61;
cvt.u64.u32 %rd3,%r144; mov.u32 %r146,%nctaid.x; cvt.u64.u32 %rd6,%r146; mul.wide.u32 %rd7,%r146,16;
and.b32 %r147,%r1,16; and.b32 %r2,%r1,15; setp.eq.s32 %p1,%r147,0; selp.b32 %r3,65535,-65536,%p1;
cvt.u64.u32 %rd8,%r2; shl.b64 %rd64,%rd3,14; shl.b64 %rd65,%rd4,10; add.s64 %rd66,%rd64,%rd65;
cvt.u64.u32 %rd67,%r1; and.b64 %rd68,%rd67,15; or.b64 %rd215,%rd66,%rd68; shl.b64 %rd218,%rd215,2;
shl.b64 %rd11,%rd6,16; shl.b64 %rd217,%rd215,3; shl.b64 %rd13,%rd6,17; shl.b64 %rd216,%rd215,1;
shl.b64 %rd15,%rd6,15; shl.b64 %rd16,%rd6,14; setp.lt.u32 %p3,%r143,2; mov.f64 %fd124,0d0000000000000000;
shl.b64 %rd112,%rd8,3; bra.uni $L__BB0_2; $L__BB0_228: setp.ne.s32 %p185,%r2,0; @%p185 bra $L__BB0_230;
bra.uni $L__BB0_229; $L__BB0_230: add.s64 %rd219,%rd219,%rd7; add.s64 %rd218,%rd218,%rd11;
add.s64 %rd217,%rd217,%rd13; add.s64 %rd216,%rd216,%rd15; add.s64 %rd215,%rd215,%rd16;
setp.lt.u64 %p186,%rd219,%rd60; @%p186 bra $L__BB0_2; bra.uni $L__BB0_231; $L__BB0_2: mov.b32 %r357,0;
mov.u32 %r356,%r357; @%p3 bra $L__BB0_5; mov.b32 %r356,0; mov.u32 %r353,%r143; mov.u32 %r355,%r143; $L__BB0_4:
shr.u32 %r150,%r353,1; add.s32 %r151,%r150,%r356; mul.wide.u32 %rd69,%r151,48; add.s64 %rd70,%rd2,%rd69;
ld.param.u64 %rd71,[%rd70+24]; setp.gt.u64 %p4,%rd71,%rd219; selp.b32 %r355,%r151,%r355,%p4;
selp.b32 %r356,%r356,%r151,%p4; sub.s32 %r353,%r355,%r356; setp.gt.u32 %p5,%r353,1; @%p5 bra $L__BB0_4; $L__BB0_5:
mul.wide.u32 %rd72,%r356,48; add.s64 %rd22,%rd2,%rd72; ld.param.u64 %rd23,[%rd22+24]; sub.s64 %rd73,%rd219,%rd23;
shl.b64 %rd74,%rd73,10; ld.param.u64 %rd75,[%rd22+8]; sub.s64 %rd76,%rd75,%rd74; min.u64 %rd77,%rd76,1024;
cvt.u32.u64 %r11,%rd77; setp.ge.u32 %p6,%r2,%r11; mov.b32 %r361,1024; mov.f64 %fd190,%fd124; mov.f64 %fd191,%fd124;
mov.f64 %fd192,%fd124; mov.f64 %fd193,%fd124; mov.f64 %fd194,%fd124; mov.f64 %fd195,%fd124; mov.f64 %fd196,%fd124;
mov.u32 %r358,%r357; mov.u32 %r359,%r357; mov.u32 %r360,%r357; mov.u32 %r362,%r357; @%p6 bra $L__BB0_114;
ld.param.u64 %rd79,[%rd22]; ld.param.u8 %rs1,[%rd22+40]; cvta.to.global.u64 %rd80,%rd79; shl.b64 %rd81,%rd23,12;
sub.s64 %rd82,%rd218,%rd81; add.s64 %rd223,%rd80,%rd82; shl.b64 %rd83,%rd23,13; sub.s64 %rd84,%rd217,%rd83;
add.s64 %rd222,%rd80,%rd84; shl.b64 %rd85,%rd23,11; sub.s64 %rd86,%rd216,%rd85; add.s64 %rd221,%rd80,%rd86;
shl.b64 %rd87,%rd23,10; sub.s64 %rd88,%rd215,%rd87; add.s64 %rd220,%rd80,%rd88; mov.b32 %r361,1024; mov.b32 %r357,0;
and.b16 %rs57,%rs1,255; setp.gt.s16 %p7,%rs57,8; setp.gt.s16 %p17,%rs57,4; setp.eq.s16 %p21,%rs57,2;
mov.f64 %fd190,%fd124; mov.f64 %fd191,%fd124; mov.f64 %fd192,%fd124; mov.f64 %fd193,%fd124; mov.f64 %fd194,%fd124;
mov.f64 %fd195,%fd124; mov.f64 %fd196,%fd124; mov.u32 %r358,%r357; mov.u32 %r359,%r357; mov.u32 %r360,%r357;
mov.u32 %r362,%r357; mov.u32 %r363,%r2; bra.uni $L__BB0_7; $L__BB0_112: setp.eq.s16 %p85,%rs102,0;
selp.u32 %r220,1,0,%p85; add.s32 %r358,%r358,%r220; add.rn.f64 %fd190,%fd190,%fd202;
add.rn.f64 %fd191,%fd191,%fd203; add.rn.f64 %fd192,%fd192,%fd204; setp.eq.s32 %p86,%r357,0;
setp.lt.f64 %p87,%fd202,%fd193; selp.f64 %fd144,%fd202,%fd193,%p87; selp.f64 %fd193,%fd202,%fd144,%p86;
setp.gt.f64 %p88,%fd202,%fd194; selp.f64 %fd145,%fd202,%fd194,%p88; selp.f64 %fd194,%fd202,%fd145,%p86;
setp.lt.f64 %p89,%fd203,%fd195; selp.f64 %fd146,%fd203,%fd195,%p89; selp.f64 %fd195,%fd203,%fd146,%p86;
setp.gt.f64 %p90,%fd203,%fd196; selp.f64 %fd147,%fd203,%fd196,%p90; selp.f64 %fd196,%fd203,%fd147,%p86;
add.s32 %r357,%r357,1; $L__BB0_113: add.s32 %r363,%r363,16; add.s64 %rd223,%rd223,64; add.s64 %rd222,%rd222,128;
add.s64 %rd221,%rd221,32; add.s64 %rd220,%rd220,16; setp.lt.u32 %p94,%r363,%r11; @%p94 bra $L__BB0_7;
bra.uni $L__BB0_114; $L__BB0_7: @%p7 bra $L__BB0_17; bra.uni $L__BB0_8; $L__BB0_17: setp.gt.s16 %p8,%rs57,11;
@%p8 bra $L__BB0_25; bra.uni $L__BB0_18; $L__BB0_25: setp.gt.s16 %p9,%rs57,15; @%p9 bra $L__BB0_32;
setp.eq.s16 %p12,%rs57,12; @%p12 bra $L__BB0_35; setp.eq.s16 %p13,%rs57,13; @%p13 bra $L__BB0_28;
bra.uni $L__BB0_34; $L__BB0_28: ld.global.u64 %rd33,[%rd222]; and.b64 %rd34,%rd33,9223372036854775807;
setp.gt.u64 %p70,%rd34,9218868437227405312; mov.u16 %rs102,5; @%p70 bra $L__BB0_46; mov.u16 %rs102,0;
setp.eq.s64 %p71,%rd34,0; @%p71 bra $L__BB0_46; setp.ne.s64 %p72,%rd34,9218868437227405312; @%p72 bra $L__BB0_45;
setp.gt.s64 %p73,%rd33,-1; selp.b16 %rs102,3,4,%p73; bra.uni $L__BB0_46; $L__BB0_8: @%p17 bra $L__BB0_13;
@%p21 bra $L__BB0_105; setp.eq.s16 %p22,%rs57,3; @%p22 bra $L__BB0_106; setp.eq.s16 %p23,%rs57,4;
@%p23 bra $L__BB0_12; bra.uni $L__BB0_34; $L__BB0_12: ld.global.u32 %r157,[%rd223]; cvt.rn.f64.s32 %fd202,%r157;
setp.eq.s32 %p28,%r157,0; selp.b16 %rs102,0,2,%p28; mul.rn.f64 %fd204,%fd202,%fd202; abs.f64 %fd203,%fd202;
bra.uni $L__BB0_110; $L__BB0_18: setp.eq.s16 %p14,%rs57,9; @%p14 bra $L__BB0_109; setp.eq.s16 %p15,%rs57,10;
@%p15 bra $L__BB0_47; setp.eq.s16 %p16,%rs57,11; @%p16 bra $L__BB0_21; bra.uni $L__BB0_34; $L__BB0_21:
ld.global.u16 %r30,[%rd221]; shl.b32 %r31,%r30,16; and.b32 %r32,%r31,2147418112; setp.gt.u32 %p53,%r32,2139095040;
mov.u16 %rs102,5; @%p53 bra $L__BB0_64; mov.u16 %rs102,0; setp.eq.s32 %p54,%r32,0; @%p54 bra $L__BB0_64;
setp.ne.s32 %p55,%r32,2139095040; @%p55 bra $L__BB0_63; setp.gt.s32 %p56,%r31,-1; selp.b16 %rs102,3,4,%p56;
bra.uni $L__BB0_64; $L__BB0_13: setp.eq.s16 %p18,%rs57,5; @%p18 bra $L__BB0_107; setp.eq.s16 %p19,%rs57,7;
@%p19 bra $L__BB0_108; setp.eq.s16 %p20,%rs57,8; @%p20 bra $L__BB0_16; bra.uni $L__BB0_34; $L__BB0_16:
ld.global.u32 %r156,[%rd223]; cvt.rn.f64.u32 %fd202,%r156; setp.eq.s32 %p25,%r156,0; selp.b16 %rs102,0,2,%p25;
mul.rn.f64 %fd204,%fd202,%fd202; mov.f64 %fd203,%fd202; bra.uni $L__BB0_110; $L__BB0_32: setp.eq.s16 %p10,%rs57,16;
@%p10 bra $L__BB0_69; setp.eq.s16 %p11,%rs57,17; @%p11 bra $L__BB0_89; bra.uni $L__BB0_34; $L__BB0_89:
ld.global.u8 %r47,[%rd220]; shl.b32 %r48,%r47,24; and.b32 %r366,%r48,-2147483648; bfe.u32 %r50,%r47,2,5;
and.b32 %r51,%r47,3; setp.eq.s32 %p31,%r50,0; @%p31 bra $L__BB0_93; setp.ne.s32 %p32,%r50,31; @%p32 bra $L__BB0_92;
shl.b32 %r166,%r47,21; or.b32 %r167,%r166,%r48; or.b32 %r366,%r167,2139095040; bra.uni $L__BB0_95; $L__BB0_35:
ld.global.u32 %r19,[%rd223]; and.b32 %r20,%r19,2147483647; setp.gt.u32 %p76,%r20,2139095040; mov.u16 %rs102,5;
@%p76 bra $L__BB0_40; mov.u16 %rs102,0; setp.eq.s32 %p77,%r20,0; @%p77 bra $L__BB0_40;
setp.ne.s32 %p78,%r20,2139095040; @%p78 bra $L__BB0_39; setp.gt.s32 %p79,%r19,-1; selp.b16 %rs102,3,4,%p79;
bra.uni $L__BB0_40; $L__BB0_69: ld.global.s8 %r175,[%rd220]; and.b32 %r34,%r175,-2147483648; and.b32 %r35,%r175,127;
setp.ne.s32 %p41,%r35,127; @%p41 bra $L__BB0_71; or.b32 %r365,%r34,2143289344; bra.uni $L__BB0_79; $L__BB0_109:
ld.global.u64 %rd89,[%rd222]; cvt.rn.f64.u64 %fd202,%rd89; setp.eq.s64 %p24,%rd89,0; selp.b16 %rs102,0,2,%p24;
mul.rn.f64 %fd204,%fd202,%fd202; mov.f64 %fd203,%fd202; bra.uni $L__BB0_110; $L__BB0_47:
ld.global.u16 %rs68,[%rd221]; cvt.u32.u16 %r21,%rs68; cvt.s32.s16 %r199,%rs68; and.b32 %r364,%r199,-2147483648;
bfe.u32 %r23,%r21,10,5; and.b32 %r24,%r21,1023; setp.eq.s32 %p60,%r23,0; @%p60 bra $L__BB0_51;
setp.ne.s32 %p61,%r23,31; @%p61 bra $L__BB0_50; shl.b32 %r208,%r21,13; or.b32 %r209,%r364,%r208;
or.b32 %r364,%r209,2139095040; bra.uni $L__BB0_53; $L__BB0_105: ld.global.u8 %rs60,[%rd220]; cvt.s16.s8 %rs61,%rs60;
cvt.rn.f64.s16 %fd202,%rs61; setp.eq.s16 %p30,%rs60,0; selp.b16 %rs102,0,2,%p30; mul.rn.f64 %fd204,%fd202,%fd202;
abs.f64 %fd203,%fd202; bra.uni $L__BB0_110; $L__BB0_107: ld.global.u64 %rd90,[%rd222]; cvt.rn.f64.s64 %fd202,%rd90;
setp.eq.s64 %p27,%rd90,0; selp.b16 %rs102,0,2,%p27; mul.rn.f64 %fd204,%fd202,%fd202; abs.f64 %fd203,%fd202;
bra.uni $L__BB0_110; $L__BB0_106: ld.global.u16 %rs59,[%rd221]; cvt.rn.f64.s16 %fd202,%rs59;
setp.eq.s16 %p29,%rs59,0; selp.b16 %rs102,0,2,%p29; mul.rn.f64 %fd204,%fd202,%fd202; abs.f64 %fd203,%fd202;
bra.uni $L__BB0_110; $L__BB0_108: ld.global.u16 %rs58,[%rd221]; cvt.rn.f64.u16 %fd202,%rs58;
setp.eq.s16 %p26,%rs58,0; selp.b16 %rs102,0,2,%p26; mul.rn.f64 %fd204,%fd202,%fd202; mov.f64 %fd203,%fd202;
bra.uni $L__BB0_110; $L__BB0_34: ld.global.u8 %rs75,[%rd220]; cvt.rn.f64.u16 %fd202,%rs75; setp.eq.s16 %p83,%rs75,0;
selp.b16 %rs102,0,2,%p83; mul.rn.f64 %fd204,%fd202,%fd202; mov.f64 %fd203,%fd202; bra.uni $L__BB0_110; $L__BB0_71:
and.b32 %r33,%r175,255; setp.lt.u32 %p42,%r35,120; @%p42 bra $L__BB0_73; shl.b32 %r190,%r33,20;
and.b32 %r191,%r190,7340032; or.b32 %r192,%r34,%r191; or.b32 %r365,%r192,1132462080; bra.uni $L__BB0_79; $L__BB0_93:
setp.eq.s32 %p33,%r51,0; @%p33 bra $L__BB0_95; clz.b32 %r158,%r51; add.s32 %r159,%r158,-29;
shl.b32 %r160,%r47,%r159; shl.b32 %r161,%r160,21; and.b32 %r162,%r161,6291456; or.b32 %r163,%r366,1191182336;
shl.b32 %r164,%r158,23; sub.s32 %r165,%r163,%r164; or.b32 %r366,%r162,%r165; bra.uni $L__BB0_95; $L__BB0_51:
setp.eq.s32 %p62,%r24,0; @%p62 bra $L__BB0_53; clz.b32 %r200,%r24; add.s32 %r201,%r200,-21;
shl.b32 %r202,%r21,%r201; shl.b32 %r203,%r202,13; and.b32 %r204,%r203,8380416; or.b32 %r205,%r364,1124073472;
shl.b32 %r206,%r200,23; sub.s32 %r207,%r205,%r206; or.b32 %r364,%r204,%r207; bra.uni $L__BB0_53; $L__BB0_92:
shl.b32 %r168,%r50,23; shl.b32 %r169,%r51,21; or.b32 %r170,%r168,%r169; add.s32 %r171,%r170,%r366;
add.s32 %r366,%r171,939524096; $L__BB0_95: and.b32 %r56,%r366,2147483647; setp.gt.u32 %p34,%r56,2139095040;
mov.u16 %rs102,5; @%p34 bra $L__BB0_100; mov.u16 %rs102,0; setp.eq.s32 %p35,%r56,0; @%p35 bra $L__BB0_100;
setp.ne.s32 %p36,%r56,2139095040; @%p36 bra $L__BB0_99; setp.gt.s32 %p37,%r366,-1; selp.b16 %rs102,3,4,%p37;
bra.uni $L__BB0_100; $L__BB0_50: shl.b32 %r210,%r23,23; shl.b32 %r211,%r24,13; or.b32 %r212,%r210,%r211;
add.s32 %r213,%r212,%r364; add.s32 %r364,%r213,939524096; $L__BB0_53: and.b32 %r29,%r364,2147483647;
setp.gt.u32 %p63,%r29,2139095040; mov.u16 %rs102,5; @%p63 bra $L__BB0_58; mov.u16 %rs102,0; setp.eq.s32 %p64,%r29,0;
@%p64 bra $L__BB0_58; setp.ne.s32 %p65,%r29,2139095040; @%p65 bra $L__BB0_57; setp.gt.s32 %p66,%r364,-1;
selp.b16 %rs102,3,4,%p66; bra.uni $L__BB0_58; $L__BB0_73: shl.b32 %r38,%r33,24; and.b32 %r365,%r38,-2147483648;
bfe.u32 %r40,%r33,3,4; and.b32 %r41,%r33,7; setp.eq.s32 %p43,%r40,0; @%p43 bra $L__BB0_77; setp.ne.s32 %p44,%r40,15;
@%p44 bra $L__BB0_76; shl.b32 %r184,%r33,20; or.b32 %r185,%r184,%r38; or.b32 %r365,%r185,2139095040;
bra.uni $L__BB0_79; $L__BB0_39: setp.lt.u32 %p80,%r20,8388608; selp.b16 %rs102,1,2,%p80; $L__BB0_40:
setp.gt.u16 %p81,%rs102,2; mov.f64 %fd202,0d0000000000000000; mov.f64 %fd203,%fd202; mov.f64 %fd204,%fd202;
@%p81 bra $L__BB0_110; and.b32 %r217,%r19,2139095040; setp.eq.s32 %p82,%r217,0; @%p82 bra $L__BB0_43;
mov.b32 %f1,%r19; cvt.f64.f32 %fd202,%f1; bra.uni $L__BB0_44; $L__BB0_43: and.b32 %r218,%r19,8388607;
cvt.rn.f64.u32 %fd142,%r218; mul.rn.f64 %fd143,%fd142,0d36A0000000000000; and.b32 %r219,%r19,-2147483648;
cvt.u64.u32 %rd107,%r219; shl.b64 %rd108,%rd107,32; mov.b64 %rd109,%fd143; or.b64 %rd110,%rd108,%rd109;
mov.b64 %fd202,%rd110; $L__BB0_44: mul.rn.f64 %fd204,%fd202,%fd202; abs.f64 %fd203,%fd202; bra.uni $L__BB0_110;
$L__BB0_45: setp.lt.u64 %p74,%rd34,4503599627370496; selp.b16 %rs102,1,2,%p74; $L__BB0_46: mov.b64 %fd138,%rd33;
setp.lt.u16 %p75,%rs102,3; mul.rn.f64 %fd139,%fd138,%fd138; abs.f64 %fd140,%fd138;
selp.f64 %fd203,%fd140,0d0000000000000000,%p75; selp.f64 %fd202,%fd138,0d0000000000000000,%p75;
selp.f64 %fd204,%fd139,0d0000000000000000,%p75; bra.uni $L__BB0_110; $L__BB0_99: setp.lt.u32 %p38,%r56,8388608;
selp.b16 %rs102,1,2,%p38; $L__BB0_100: setp.gt.u16 %p39,%rs102,2; mov.f64 %fd202,0d0000000000000000;
mov.f64 %fd203,%fd202; mov.f64 %fd204,%fd202; @%p39 bra $L__BB0_110; and.b32 %r172,%r366,2139095040;
setp.eq.s32 %p40,%r172,0; @%p40 bra $L__BB0_103; mov.b32 %f5,%r366; cvt.f64.f32 %fd202,%f5; bra.uni $L__BB0_104;
$L__BB0_103: and.b32 %r173,%r366,8388607; cvt.rn.f64.u32 %fd127,%r173; mul.rn.f64 %fd128,%fd127,0d36A0000000000000;
and.b32 %r174,%r366,-2147483648; cvt.u64.u32 %rd91,%r174; shl.b64 %rd92,%rd91,32; mov.b64 %rd93,%fd128;
or.b64 %rd94,%rd92,%rd93; mov.b64 %fd202,%rd94; $L__BB0_104: mul.rn.f64 %fd204,%fd202,%fd202; abs.f64 %fd203,%fd202;
bra.uni $L__BB0_110; $L__BB0_57: setp.lt.u32 %p67,%r29,8388608; selp.b16 %rs102,1,2,%p67; $L__BB0_58:
setp.gt.u16 %p68,%rs102,2; mov.f64 %fd202,0d0000000000000000; mov.f64 %fd203,%fd202; mov.f64 %fd204,%fd202;
@%p68 bra $L__BB0_110; and.b32 %r214,%r364,2139095040; setp.eq.s32 %p69,%r214,0; @%p69 bra $L__BB0_61;
mov.b32 %f2,%r364; cvt.f64.f32 %fd202,%f2; bra.uni $L__BB0_62; $L__BB0_61: and.b32 %r215,%r364,8388607;
cvt.rn.f64.u32 %fd136,%r215; mul.rn.f64 %fd137,%fd136,0d36A0000000000000; and.b32 %r216,%r364,-2147483648;
cvt.u64.u32 %rd103,%r216; shl.b64 %rd104,%rd103,32; mov.b64 %rd105,%fd137; or.b64 %rd106,%rd104,%rd105;
mov.b64 %fd202,%rd106; $L__BB0_62: mul.rn.f64 %fd204,%fd202,%fd202; abs.f64 %fd203,%fd202; bra.uni $L__BB0_110;
$L__BB0_63: setp.lt.u32 %p57,%r32,8388608; selp.b16 %rs102,1,2,%p57; $L__BB0_64: setp.gt.u16 %p58,%rs102,2;
mov.f64 %fd202,0d0000000000000000; mov.f64 %fd203,%fd202; mov.f64 %fd204,%fd202; @%p58 bra $L__BB0_110;
and.b32 %r196,%r30,32640; setp.eq.s32 %p59,%r196,0; @%p59 bra $L__BB0_67; mov.b32 %f3,%r31; cvt.f64.f32 %fd202,%f3;
bra.uni $L__BB0_68; $L__BB0_67: and.b32 %r197,%r31,8323072; cvt.rn.f64.u32 %fd133,%r197;
mul.rn.f64 %fd134,%fd133,0d36A0000000000000; and.b32 %r198,%r31,-2147483648; cvt.u64.u32 %rd99,%r198;
shl.b64 %rd100,%rd99,32; mov.b64 %rd101,%fd134; or.b64 %rd102,%rd100,%rd101; mov.b64 %fd202,%rd102; $L__BB0_68:
mul.rn.f64 %fd204,%fd202,%fd202; abs.f64 %fd203,%fd202; bra.uni $L__BB0_110; $L__BB0_77: setp.eq.s32 %p45,%r41,0;
@%p45 bra $L__BB0_79; clz.b32 %r176,%r41; add.s32 %r177,%r176,-28; shl.b32 %r178,%r33,%r177; shl.b32 %r179,%r178,20;
and.b32 %r180,%r179,7340032; or.b32 %r181,%r365,1249902592; shl.b32 %r182,%r176,23; sub.s32 %r183,%r181,%r182;
or.b32 %r365,%r180,%r183; bra.uni $L__BB0_79; $L__BB0_76: shl.b32 %r186,%r40,23; shl.b32 %r187,%r41,20;
or.b32 %r188,%r186,%r187; add.s32 %r189,%r188,%r365; add.s32 %r365,%r189,1006632960; $L__BB0_79:
and.b32 %r46,%r365,2147483647; setp.gt.u32 %p46,%r46,2139095040; mov.u16 %rs102,5; @%p46 bra $L__BB0_84;
mov.u16 %rs102,0; setp.eq.s32 %p47,%r46,0; @%p47 bra $L__BB0_84; setp.ne.s32 %p48,%r46,2139095040;
@%p48 bra $L__BB0_83; setp.gt.s32 %p49,%r365,-1; selp.b16 %rs102,3,4,%p49; bra.uni $L__BB0_84; $L__BB0_83:
setp.lt.u32 %p50,%r46,8388608; selp.b16 %rs102,1,2,%p50; $L__BB0_84: setp.gt.u16 %p51,%rs102,2;
mov.f64 %fd202,0d0000000000000000; mov.f64 %fd203,%fd202; mov.f64 %fd204,%fd202; @%p51 bra $L__BB0_110;
and.b32 %r193,%r365,2139095040; setp.eq.s32 %p52,%r193,0; @%p52 bra $L__BB0_87; mov.b32 %f4,%r365;
cvt.f64.f32 %fd202,%f4; bra.uni $L__BB0_88; $L__BB0_87: and.b32 %r194,%r365,8388607; cvt.rn.f64.u32 %fd130,%r194;
mul.rn.f64 %fd131,%fd130,0d36A0000000000000; and.b32 %r195,%r365,-2147483648; cvt.u64.u32 %rd95,%r195;
shl.b64 %rd96,%rd95,32; mov.b64 %rd97,%fd131; or.b64 %rd98,%rd96,%rd97; mov.b64 %fd202,%rd98; $L__BB0_88:
mul.rn.f64 %fd204,%fd202,%fd202; abs.f64 %fd203,%fd202; $L__BB0_110: setp.lt.u16 %p84,%rs102,3;
@%p84 bra $L__BB0_112; min.u32 %r361,%r361,%r363; setp.eq.s16 %p91,%rs102,5; selp.u32 %r221,1,0,%p91;
add.s32 %r359,%r359,%r221; setp.eq.s16 %p92,%rs102,3; selp.u32 %r222,1,0,%p92; add.s32 %r360,%r360,%r222;
setp.eq.s16 %p93,%rs102,4; selp.u32 %r223,1,0,%p93; add.s32 %r362,%r362,%r223; bra.uni $L__BB0_113; $L__BB0_114:
mul.lo.s64 %rd78,%rd219,456; add.s64 %rd24,%rd1,%rd78; add.s64 %rd113,%rd24,%rd112; st.global.f64 [%rd113],%fd190;
st.global.f64 [%rd113+128],%fd191; st.global.f64 [%rd113+256],%fd192; shfl.sync.down.b32 %r224,%r357,8,4111,%r3;
add.s32 %r225,%r224,%r357; shfl.sync.down.b32 %r226,%r225,4,4111,%r3; add.s32 %r227,%r226,%r225;
shfl.sync.down.b32 %r228,%r227,2,4111,%r3; add.s32 %r229,%r228,%r227; shfl.sync.down.b32 %r230,%r229,1,4111,%r3;
add.s32 %r231,%r230,%r229; shfl.sync.idx.b32 %r76,%r231,0,4111,%r3; setp.eq.s32 %p95,%r76,0; mov.u64 %rd228,0;
mov.f64 %fd222,%fd124; @%p95 bra $L__BB0_217; mov.b64 %rd114,%fd190; { .reg .b32 tmp; mov.b64 {tmp,%r232},%rd114; }
shfl.sync.down.b32 %r233,%r232,8,4111,%r3; cvt.u64.u32 %rd115,%r233; shl.b64 %rd116,%rd115,32;
cvt.u32.u64 %r234,%rd114; shfl.sync.down.b32 %r235,%r234,8,4111,%r3; cvt.u64.u32 %rd117,%r235;
or.b64 %rd118,%rd116,%rd117; mov.b64 %fd150,%rd118; add.rn.f64 %fd151,%fd190,%fd150; mov.b64 %rd119,%fd151;
{ .reg .b32 tmp; mov.b64 {tmp,%r236},%rd119; } shfl.sync.down.b32 %r237,%r236,4,4111,%r3; cvt.u64.u32 %rd120,%r237;
shl.b64 %rd121,%rd120,32; cvt.u32.u64 %r238,%rd119; shfl.sync.down.b32 %r239,%r238,4,4111,%r3;
cvt.u64.u32 %rd122,%r239; or.b64 %rd123,%rd121,%rd122; mov.b64 %fd152,%rd123; add.rn.f64 %fd153,%fd151,%fd152;
mov.b64 %rd124,%fd153; { .reg .b32 tmp; mov.b64 {tmp,%r240},%rd124; } shfl.sync.down.b32 %r241,%r240,2,4111,%r3;
cvt.u64.u32 %rd125,%r241; shl.b64 %rd126,%rd125,32; cvt.u32.u64 %r242,%rd124;
shfl.sync.down.b32 %r243,%r242,2,4111,%r3; cvt.u64.u32 %rd127,%r243; or.b64 %rd128,%rd126,%rd127;
mov.b64 %fd154,%rd128; add.rn.f64 %fd155,%fd153,%fd154; mov.b64 %rd129,%fd155;
{ .reg .b32 tmp; mov.b64 {tmp,%r244},%rd129; } shfl.sync.down.b32 %r245,%r244,1,4111,%r3; cvt.u64.u32 %rd130,%r245;
shl.b64 %rd131,%rd130,32; cvt.u32.u64 %r246,%rd129; shfl.sync.down.b32 %r247,%r246,1,4111,%r3;
cvt.u64.u32 %rd132,%r247; or.b64 %rd133,%rd131,%rd132; mov.b64 %fd156,%rd133; add.rn.f64 %fd157,%fd155,%fd156;
mov.b64 %rd134,%fd157; { .reg .b32 tmp; mov.b64 {tmp,%r248},%rd134; } shfl.sync.idx.b32 %r249,%r248,0,4111,%r3;
cvt.u64.u32 %rd135,%r249; shl.b64 %rd136,%rd135,32; cvt.u32.u64 %r250,%rd134;
shfl.sync.idx.b32 %r251,%r250,0,4111,%r3; cvt.u64.u32 %rd137,%r251; or.b64 %rd138,%rd136,%rd137;
mov.b64 %fd158,%rd138; cvt.rn.f64.u32 %fd159,%r76; div.rn.f64 %fd222,%fd158,%fd159;
mov.f64 %fd221,0d0000000000000000; @%p6 bra $L__BB0_216; mov.u16 %rs95,5; ld.param.u64 %rd139,[%rd22];
ld.param.u8 %rs29,[%rd22+40]; cvta.to.global.u64 %rd140,%rd139; shl.b64 %rd141,%rd23,12;
sub.s64 %rd142,%rd218,%rd141; add.s64 %rd227,%rd140,%rd142; shl.b64 %rd143,%rd23,13; sub.s64 %rd144,%rd217,%rd143;
add.s64 %rd226,%rd140,%rd144; shl.b64 %rd145,%rd23,11; sub.s64 %rd146,%rd216,%rd145; add.s64 %rd225,%rd140,%rd146;
shl.b64 %rd147,%rd23,10; sub.s64 %rd148,%rd215,%rd147; add.s64 %rd224,%rd140,%rd148;
mov.f64 %fd221,0d0000000000000000; and.b16 %rs76,%rs29,255; mov.u32 %r379,%r2; bra.uni $L__BB0_117; $L__BB0_214:
ld.global.u64 %rd149,[%rd226]; cvt.rn.f64.u64 %fd220,%rd149; setp.eq.s64 %p114,%rd149,0; selp.b16 %rs109,0,2,%p114;
$L__BB0_215: setp.gt.u16 %p174,%rs109,2; sub.rn.f64 %fd177,%fd220,%fd222; mul.rn.f64 %fd178,%fd177,%fd177;
add.rn.f64 %fd179,%fd221,%fd178; selp.f64 %fd221,%fd221,%fd179,%p174; add.s32 %r379,%r379,16;
add.s64 %rd227,%rd227,64; add.s64 %rd226,%rd226,128; add.s64 %rd225,%rd225,32; add.s64 %rd224,%rd224,16;
setp.lt.u32 %p175,%r379,%r11; @%p175 bra $L__BB0_117; bra.uni $L__BB0_216; $L__BB0_117: setp.gt.s16 %p97,%rs76,8;
@%p97 bra $L__BB0_127; bra.uni $L__BB0_118; $L__BB0_127: setp.gt.s16 %p98,%rs76,11; @%p98 bra $L__BB0_135;
bra.uni $L__BB0_128; $L__BB0_135: setp.gt.s16 %p99,%rs76,15; @%p99 bra $L__BB0_142; setp.eq.s16 %p102,%rs76,12;
@%p102 bra $L__BB0_145; setp.eq.s16 %p103,%rs76,13; @%p103 bra $L__BB0_138; bra.uni $L__BB0_144; $L__BB0_138:
ld.global.u64 %rd47,[%rd226]; and.b64 %rd48,%rd47,9223372036854775807; setp.gt.u64 %p160,%rd48,9218868437227405312;
mov.u16 %rs109,5; @%p160 bra $L__BB0_155; mov.u16 %rs109,0; setp.eq.s64 %p161,%rd48,0; @%p161 bra $L__BB0_155;
setp.ne.s64 %p162,%rd48,9218868437227405312; @%p162 bra $L__BB0_154; setp.gt.s64 %p163,%rd47,-1;
selp.b16 %rs109,3,4,%p163; bra.uni $L__BB0_155; $L__BB0_118: setp.gt.s16 %p107,%rs76,4; @%p107 bra $L__BB0_123;
setp.eq.s16 %p111,%rs76,2; @%p111 bra $L__BB0_210; setp.eq.s16 %p112,%rs76,3; @%p112 bra $L__BB0_211;
setp.eq.s16 %p113,%rs76,4; @%p113 bra $L__BB0_122; bra.uni $L__BB0_144; $L__BB0_122: ld.global.u32 %r253,[%rd227];
cvt.rn.f64.s32 %fd220,%r253; setp.eq.s32 %p118,%r253,0; selp.b16 %rs109,0,2,%p118; bra.uni $L__BB0_215; $L__BB0_128:
setp.eq.s16 %p104,%rs76,9; @%p104 bra $L__BB0_214; setp.eq.s16 %p105,%rs76,10; @%p105 bra $L__BB0_156;
setp.eq.s16 %p106,%rs76,11; @%p106 bra $L__BB0_131; bra.uni $L__BB0_144; $L__BB0_131: ld.global.u16 %r89,[%rd225];
shl.b32 %r90,%r89,16; and.b32 %r91,%r90,2147418112; setp.gt.u32 %p143,%r91,2139095040; mov.u16 %rs109,5;
@%p143 bra $L__BB0_172; mov.u16 %rs109,0; setp.eq.s32 %p144,%r91,0; @%p144 bra $L__BB0_172;
setp.ne.s32 %p145,%r91,2139095040; @%p145 bra $L__BB0_171; setp.gt.s32 %p146,%r90,-1; selp.b16 %rs109,3,4,%p146;
bra.uni $L__BB0_172; $L__BB0_123: setp.eq.s16 %p108,%rs76,5; @%p108 bra $L__BB0_212; setp.eq.s16 %p109,%rs76,7;
@%p109 bra $L__BB0_213; setp.eq.s16 %p110,%rs76,8; @%p110 bra $L__BB0_126; bra.uni $L__BB0_144; $L__BB0_126:
ld.global.u32 %r252,[%rd227]; cvt.rn.f64.u32 %fd220,%r252; setp.eq.s32 %p115,%r252,0; selp.b16 %rs109,0,2,%p115;
bra.uni $L__BB0_215; $L__BB0_142: setp.eq.s16 %p100,%rs76,16; @%p100 bra $L__BB0_176; setp.eq.s16 %p101,%rs76,17;
@%p101 bra $L__BB0_195; bra.uni $L__BB0_144; $L__BB0_195: ld.global.u8 %r106,[%rd224]; shl.b32 %r107,%r106,24;
and.b32 %r382,%r107,-2147483648; bfe.u32 %r109,%r106,2,5; and.b32 %r110,%r106,3; setp.eq.s32 %p121,%r109,0;
@%p121 bra $L__BB0_199; setp.ne.s32 %p122,%r109,31; @%p122 bra $L__BB0_198; shl.b32 %r262,%r106,21;
or.b32 %r263,%r262,%r107; or.b32 %r382,%r263,2139095040; bra.uni $L__BB0_201; $L__BB0_145:
ld.global.u32 %r78,[%rd227]; and.b32 %r79,%r78,2147483647; setp.gt.u32 %p166,%r79,2139095040; mov.u16 %rs109,5;
@%p166 bra $L__BB0_150; mov.u16 %rs109,0; setp.eq.s32 %p167,%r79,0; @%p167 bra $L__BB0_150;
setp.ne.s32 %p168,%r79,2139095040; @%p168 bra $L__BB0_149; setp.gt.s32 %p169,%r78,-1; selp.b16 %rs109,3,4,%p169;
bra.uni $L__BB0_150; $L__BB0_176: ld.global.s8 %r271,[%rd224]; and.b32 %r93,%r271,-2147483648;
and.b32 %r94,%r271,127; setp.ne.s32 %p131,%r94,127; @%p131 bra $L__BB0_178; or.b32 %r381,%r93,2143289344;
bra.uni $L__BB0_186; $L__BB0_156: ld.global.u16 %rs87,[%rd225]; cvt.u32.u16 %r80,%rs87; cvt.s32.s16 %r295,%rs87;
and.b32 %r380,%r295,-2147483648; bfe.u32 %r82,%r80,10,5; and.b32 %r83,%r80,1023; setp.eq.s32 %p150,%r82,0;
@%p150 bra $L__BB0_160; setp.ne.s32 %p151,%r82,31; @%p151 bra $L__BB0_159; shl.b32 %r304,%r80,13;
or.b32 %r305,%r380,%r304; or.b32 %r380,%r305,2139095040; bra.uni $L__BB0_162; $L__BB0_210:
ld.global.u8 %rs79,[%rd224]; cvt.s16.s8 %rs80,%rs79; cvt.rn.f64.s16 %fd220,%rs80; setp.eq.s16 %p120,%rs79,0;
selp.b16 %rs109,0,2,%p120; bra.uni $L__BB0_215; $L__BB0_212: ld.global.u64 %rd150,[%rd226];
cvt.rn.f64.s64 %fd220,%rd150; setp.eq.s64 %p117,%rd150,0; selp.b16 %rs109,0,2,%p117; bra.uni $L__BB0_215;
$L__BB0_211: ld.global.u16 %rs78,[%rd225]; cvt.rn.f64.s16 %fd220,%rs78; setp.eq.s16 %p119,%rs78,0;
selp.b16 %rs109,0,2,%p119; bra.uni $L__BB0_215; $L__BB0_213: ld.global.u16 %rs77,[%rd225];
cvt.rn.f64.u16 %fd220,%rs77; setp.eq.s16 %p116,%rs77,0; selp.b16 %rs109,0,2,%p116; bra.uni $L__BB0_215; $L__BB0_144:
ld.global.u8 %rs94,[%rd224]; cvt.rn.f64.u16 %fd220,%rs94; setp.eq.s16 %p173,%rs94,0; selp.b16 %rs109,0,2,%p173;
bra.uni $L__BB0_215; $L__BB0_178: and.b32 %r92,%r271,255; setp.lt.u32 %p132,%r94,120; @%p132 bra $L__BB0_180;
shl.b32 %r286,%r92,20; and.b32 %r287,%r286,7340032; or.b32 %r288,%r93,%r287; or.b32 %r381,%r288,1132462080;
bra.uni $L__BB0_186; $L__BB0_199: setp.eq.s32 %p123,%r110,0; @%p123 bra $L__BB0_201; clz.b32 %r254,%r110;
add.s32 %r255,%r254,-29; shl.b32 %r256,%r106,%r255; shl.b32 %r257,%r256,21; and.b32 %r258,%r257,6291456;
or.b32 %r259,%r382,1191182336; shl.b32 %r260,%r254,23; sub.s32 %r261,%r259,%r260; or.b32 %r382,%r258,%r261;
bra.uni $L__BB0_201; $L__BB0_160: setp.eq.s32 %p152,%r83,0; @%p152 bra $L__BB0_162; clz.b32 %r296,%r83;
add.s32 %r297,%r296,-21; shl.b32 %r298,%r80,%r297; shl.b32 %r299,%r298,13; and.b32 %r300,%r299,8380416;
or.b32 %r301,%r380,1124073472; shl.b32 %r302,%r296,23; sub.s32 %r303,%r301,%r302; or.b32 %r380,%r300,%r303;
bra.uni $L__BB0_162; $L__BB0_198: shl.b32 %r264,%r109,23; shl.b32 %r265,%r110,21; or.b32 %r266,%r264,%r265;
add.s32 %r267,%r266,%r382; add.s32 %r382,%r267,939524096; $L__BB0_201: and.b32 %r115,%r382,2147483647;
setp.gt.u32 %p124,%r115,2139095040; mov.u16 %rs109,%rs95; @%p124 bra $L__BB0_206; mov.u16 %rs109,0;
setp.eq.s32 %p125,%r115,0; @%p125 bra $L__BB0_206; setp.ne.s32 %p126,%r115,2139095040; @%p126 bra $L__BB0_205;
setp.gt.s32 %p127,%r382,-1; selp.b16 %rs109,3,4,%p127; bra.uni $L__BB0_206; $L__BB0_159: shl.b32 %r306,%r82,23;
shl.b32 %r307,%r83,13; or.b32 %r308,%r306,%r307; add.s32 %r309,%r308,%r380; add.s32 %r380,%r309,939524096;
$L__BB0_162: and.b32 %r88,%r380,2147483647; setp.gt.u32 %p153,%r88,2139095040; mov.u16 %rs109,5;
@%p153 bra $L__BB0_167; mov.u16 %rs109,0; setp.eq.s32 %p154,%r88,0; @%p154 bra $L__BB0_167;
setp.ne.s32 %p155,%r88,2139095040; @%p155 bra $L__BB0_166; setp.gt.s32 %p156,%r380,-1; selp.b16 %rs109,3,4,%p156;
bra.uni $L__BB0_167; $L__BB0_180: shl.b32 %r97,%r92,24; and.b32 %r381,%r97,-2147483648; bfe.u32 %r99,%r92,3,4;
and.b32 %r100,%r92,7; setp.eq.s32 %p133,%r99,0; @%p133 bra $L__BB0_184; setp.ne.s32 %p134,%r99,15;
@%p134 bra $L__BB0_183; shl.b32 %r280,%r92,20; or.b32 %r281,%r280,%r97; or.b32 %r381,%r281,2139095040;
bra.uni $L__BB0_186; $L__BB0_149: setp.lt.u32 %p170,%r79,8388608; selp.b16 %rs109,1,2,%p170; $L__BB0_150:
setp.gt.u16 %p171,%rs109,2; mov.f64 %fd220,0d0000000000000000; @%p171 bra $L__BB0_215;
and.b32 %r313,%r78,2139095040; setp.eq.s32 %p172,%r313,0; @%p172 bra $L__BB0_153; mov.b32 %f6,%r78;
cvt.f64.f32 %fd220,%f6; bra.uni $L__BB0_215; $L__BB0_153: and.b32 %r314,%r78,8388607; cvt.rn.f64.u32 %fd175,%r314;
mul.rn.f64 %fd176,%fd175,0d36A0000000000000; and.b32 %r315,%r78,-2147483648; cvt.u64.u32 %rd167,%r315;
shl.b64 %rd168,%rd167,32; mov.b64 %rd169,%fd176; or.b64 %rd170,%rd168,%rd169; mov.b64 %fd220,%rd170;
bra.uni $L__BB0_215; $L__BB0_154: setp.lt.u64 %p164,%rd48,4503599627370496; selp.b16 %rs109,1,2,%p164; $L__BB0_155:
mov.b64 %fd173,%rd47; setp.lt.u16 %p165,%rs109,3; selp.f64 %fd220,%fd173,0d0000000000000000,%p165;
bra.uni $L__BB0_215; $L__BB0_205: setp.lt.u32 %p128,%r115,8388608; selp.b16 %rs109,1,2,%p128; $L__BB0_206:
setp.gt.u16 %p129,%rs109,2; mov.f64 %fd220,0d0000000000000000; @%p129 bra $L__BB0_215;
and.b32 %r268,%r382,2139095040; setp.eq.s32 %p130,%r268,0; @%p130 bra $L__BB0_209; mov.b32 %f10,%r382;
cvt.f64.f32 %fd220,%f10; bra.uni $L__BB0_215; $L__BB0_209: and.b32 %r269,%r382,8388607; cvt.rn.f64.u32 %fd162,%r269;
mul.rn.f64 %fd163,%fd162,0d36A0000000000000; and.b32 %r270,%r382,-2147483648; cvt.u64.u32 %rd151,%r270;
shl.b64 %rd152,%rd151,32; mov.b64 %rd153,%fd163; or.b64 %rd154,%rd152,%rd153; mov.b64 %fd220,%rd154;
bra.uni $L__BB0_215; $L__BB0_166: setp.lt.u32 %p157,%r88,8388608; selp.b16 %rs109,1,2,%p157; $L__BB0_167:
setp.gt.u16 %p158,%rs109,2; mov.f64 %fd220,0d0000000000000000; @%p158 bra $L__BB0_215;
and.b32 %r310,%r380,2139095040; setp.eq.s32 %p159,%r310,0; @%p159 bra $L__BB0_170; mov.b32 %f7,%r380;
cvt.f64.f32 %fd220,%f7; bra.uni $L__BB0_215; $L__BB0_170: and.b32 %r311,%r380,8388607; cvt.rn.f64.u32 %fd171,%r311;
mul.rn.f64 %fd172,%fd171,0d36A0000000000000; and.b32 %r312,%r380,-2147483648; cvt.u64.u32 %rd163,%r312;
shl.b64 %rd164,%rd163,32; mov.b64 %rd165,%fd172; or.b64 %rd166,%rd164,%rd165; mov.b64 %fd220,%rd166;
bra.uni $L__BB0_215; $L__BB0_171: setp.lt.u32 %p147,%r91,8388608; selp.b16 %rs109,1,2,%p147; $L__BB0_172:
setp.gt.u16 %p148,%rs109,2; mov.f64 %fd220,0d0000000000000000; @%p148 bra $L__BB0_215; and.b32 %r292,%r89,32640;
setp.eq.s32 %p149,%r292,0; @%p149 bra $L__BB0_175; mov.b32 %f8,%r90; cvt.f64.f32 %fd220,%f8; bra.uni $L__BB0_215;
$L__BB0_175: and.b32 %r293,%r90,8323072; cvt.rn.f64.u32 %fd168,%r293; mul.rn.f64 %fd169,%fd168,0d36A0000000000000;
and.b32 %r294,%r90,-2147483648; cvt.u64.u32 %rd159,%r294; shl.b64 %rd160,%rd159,32; mov.b64 %rd161,%fd169;
or.b64 %rd162,%rd160,%rd161; mov.b64 %fd220,%rd162; bra.uni $L__BB0_215; $L__BB0_184: setp.eq.s32 %p135,%r100,0;
@%p135 bra $L__BB0_186; clz.b32 %r272,%r100; add.s32 %r273,%r272,-28; shl.b32 %r274,%r92,%r273;
shl.b32 %r275,%r274,20; and.b32 %r276,%r275,7340032; or.b32 %r277,%r381,1249902592; shl.b32 %r278,%r272,23;
sub.s32 %r279,%r277,%r278; or.b32 %r381,%r276,%r279; bra.uni $L__BB0_186; $L__BB0_183: shl.b32 %r282,%r99,23;
shl.b32 %r283,%r100,20; or.b32 %r284,%r282,%r283; add.s32 %r285,%r284,%r381; add.s32 %r381,%r285,1006632960;
$L__BB0_186: and.b32 %r105,%r381,2147483647; setp.gt.u32 %p136,%r105,2139095040; mov.u16 %rs109,5;
@%p136 bra $L__BB0_191; mov.u16 %rs109,0; setp.eq.s32 %p137,%r105,0; @%p137 bra $L__BB0_191;
setp.ne.s32 %p138,%r105,2139095040; @%p138 bra $L__BB0_190; setp.gt.s32 %p139,%r381,-1; selp.b16 %rs109,3,4,%p139;
bra.uni $L__BB0_191; $L__BB0_190: setp.lt.u32 %p140,%r105,8388608; selp.b16 %rs109,1,2,%p140; $L__BB0_191:
setp.gt.u16 %p141,%rs109,2; mov.f64 %fd220,0d0000000000000000; @%p141 bra $L__BB0_215;
and.b32 %r289,%r381,2139095040; setp.eq.s32 %p142,%r289,0; @%p142 bra $L__BB0_194; mov.b32 %f9,%r381;
cvt.f64.f32 %fd220,%f9; bra.uni $L__BB0_215; $L__BB0_194: and.b32 %r290,%r381,8388607; cvt.rn.f64.u32 %fd165,%r290;
mul.rn.f64 %fd166,%fd165,0d36A0000000000000; and.b32 %r291,%r381,-2147483648; cvt.u64.u32 %rd155,%r291;
shl.b64 %rd156,%rd155,32; mov.b64 %rd157,%fd166; or.b64 %rd158,%rd156,%rd157; mov.b64 %fd220,%rd158;
bra.uni $L__BB0_215; $L__BB0_216: mov.b64 %rd171,%fd221; { .reg .b32 tmp; mov.b64 {tmp,%r316},%rd171; }
shfl.sync.down.b32 %r317,%r316,8,4111,%r3; cvt.u64.u32 %rd172,%r317; shl.b64 %rd173,%rd172,32;
cvt.u32.u64 %r318,%rd171; shfl.sync.down.b32 %r319,%r318,8,4111,%r3; cvt.u64.u32 %rd174,%r319;
or.b64 %rd175,%rd173,%rd174; mov.b64 %fd180,%rd175; add.rn.f64 %fd181,%fd221,%fd180; mov.b64 %rd176,%fd181;
{ .reg .b32 tmp; mov.b64 {tmp,%r320},%rd176; } shfl.sync.down.b32 %r321,%r320,4,4111,%r3; cvt.u64.u32 %rd177,%r321;
shl.b64 %rd178,%rd177,32; cvt.u32.u64 %r322,%rd176; shfl.sync.down.b32 %r323,%r322,4,4111,%r3;
cvt.u64.u32 %rd179,%r323; or.b64 %rd180,%rd178,%rd179; mov.b64 %fd182,%rd180; add.rn.f64 %fd183,%fd181,%fd182;
mov.b64 %rd181,%fd183; { .reg .b32 tmp; mov.b64 {tmp,%r324},%rd181; } shfl.sync.down.b32 %r325,%r324,2,4111,%r3;
cvt.u64.u32 %rd182,%r325; shl.b64 %rd183,%rd182,32; cvt.u32.u64 %r326,%rd181;
shfl.sync.down.b32 %r327,%r326,2,4111,%r3; cvt.u64.u32 %rd184,%r327; or.b64 %rd185,%rd183,%rd184;
mov.b64 %fd184,%rd185; add.rn.f64 %fd185,%fd183,%fd184; mov.b64 %rd186,%fd185;
{ .reg .b32 tmp; mov.b64 {tmp,%r328},%rd186; } shfl.sync.down.b32 %r329,%r328,1,4111,%r3; cvt.u64.u32 %rd187,%r329;
shl.b64 %rd188,%rd187,32; cvt.u32.u64 %r330,%rd186; shfl.sync.down.b32 %r331,%r330,1,4111,%r3;
cvt.u64.u32 %rd189,%r331; or.b64 %rd190,%rd188,%rd189; mov.b64 %fd186,%rd190; add.rn.f64 %fd187,%fd185,%fd186;
mov.b64 %rd191,%fd187; { .reg .b32 tmp; mov.b64 {tmp,%r332},%rd191; } shfl.sync.idx.b32 %r333,%r332,0,4111,%r3;
cvt.u64.u32 %rd192,%r333; shl.b64 %rd193,%rd192,32; cvt.u32.u64 %r334,%rd191;
shfl.sync.idx.b32 %r335,%r334,0,4111,%r3; cvt.u64.u32 %rd194,%r335; or.b64 %rd228,%rd193,%rd194; $L__BB0_217:
mov.b32 %r383,8; bra.uni $L__BB0_218; $L__BB0_226: add.s32 %r357,%r124,%r357; add.s32 %r358,%r125,%r358;
add.s32 %r359,%r126,%r359; add.s32 %r360,%r127,%r360; add.s32 %r362,%r128,%r362; min.u32 %r361,%r129,%r361;
mov.f64 %fd194,%fd230; mov.f64 %fd196,%fd228; $L__BB0_227: shr.u32 %r142,%r383,1; setp.gt.u32 %p184,%r383,1;
mov.u32 %r383,%r142; @%p184 bra $L__BB0_218; bra.uni $L__BB0_228; $L__BB0_218: mov.b64 %rd195,%fd193;
{ .reg .b32 tmp; mov.b64 {tmp,%r337},%rd195; } shfl.sync.down.b32 %r338,%r337,%r383,4111,%r3;
cvt.u32.u64 %r339,%rd195; shfl.sync.down.b32 %r340,%r339,%r383,4111,%r3; mov.b64 %rd200,%fd194;
{ .reg .b32 tmp; mov.b64 {tmp,%r341},%rd200; } shfl.sync.down.b32 %r342,%r341,%r383,4111,%r3;
cvt.u32.u64 %r343,%rd200; shfl.sync.down.b32 %r344,%r343,%r383,4111,%r3; mov.b64 %rd205,%fd195;
{ .reg .b32 tmp; mov.b64 {tmp,%r345},%rd205; } shfl.sync.down.b32 %r346,%r345,%r383,4111,%r3;
cvt.u32.u64 %r347,%rd205; shfl.sync.down.b32 %r348,%r347,%r383,4111,%r3; mov.b64 %rd210,%fd196;
{ .reg .b32 tmp; mov.b64 {tmp,%r349},%rd210; } shfl.sync.down.b32 %r350,%r349,%r383,4111,%r3;
cvt.u32.u64 %r351,%rd210; shfl.sync.down.b32 %r352,%r351,%r383,4111,%r3;
shfl.sync.down.b32 %r124,%r357,%r383,4111,%r3; shfl.sync.down.b32 %r125,%r358,%r383,4111,%r3;
shfl.sync.down.b32 %r126,%r359,%r383,4111,%r3; shfl.sync.down.b32 %r127,%r360,%r383,4111,%r3;
shfl.sync.down.b32 %r128,%r362,%r383,4111,%r3; shfl.sync.down.b32 %r129,%r361,%r383,4111,%r3;
setp.ge.u32 %p176,%r2,%r383; mov.f64 %fd228,%fd196; mov.f64 %fd230,%fd194; @%p176 bra $L__BB0_227;
setp.eq.s32 %p177,%r124,0; mov.f64 %fd228,%fd196; mov.f64 %fd230,%fd194; @%p177 bra $L__BB0_226;
cvt.u64.u32 %rd196,%r338; shl.b64 %rd197,%rd196,32; cvt.u64.u32 %rd198,%r340; or.b64 %rd199,%rd197,%rd198;
mov.b64 %fd109,%rd199; cvt.u64.u32 %rd201,%r342; shl.b64 %rd202,%rd201,32; cvt.u64.u32 %rd203,%r344;
or.b64 %rd204,%rd202,%rd203; mov.b64 %fd110,%rd204; setp.eq.s32 %p178,%r357,0; setp.gt.f64 %p179,%fd193,%fd109;
selp.f64 %fd188,%fd109,%fd193,%p179; mov.f64 %fd230,%fd110; @%p178 bra $L__BB0_223;
setp.geu.f64 %p180,%fd194,%fd110; mov.f64 %fd230,%fd194; @%p180 bra $L__BB0_223; mov.f64 %fd230,%fd110; $L__BB0_223:
cvt.u64.u32 %rd206,%r346; shl.b64 %rd207,%rd206,32; cvt.u64.u32 %rd208,%r348; or.b64 %rd209,%rd207,%rd208;
mov.b64 %fd111,%rd209; cvt.u64.u32 %rd211,%r350; shl.b64 %rd212,%rd211,32; cvt.u64.u32 %rd213,%r352;
or.b64 %rd214,%rd212,%rd213; mov.b64 %fd112,%rd214; selp.f64 %fd193,%fd109,%fd188,%p178;
setp.gt.f64 %p182,%fd195,%fd111; selp.f64 %fd189,%fd111,%fd195,%p182; selp.f64 %fd195,%fd111,%fd189,%p178;
mov.f64 %fd228,%fd112; @%p178 bra $L__BB0_226; setp.geu.f64 %p183,%fd196,%fd112; mov.f64 %fd228,%fd196;
@%p183 bra $L__BB0_226; mov.f64 %fd228,%fd112; bra.uni $L__BB0_226; $L__BB0_229: st.global.f64 [%rd24+416],%fd222;
st.global.u64 [%rd24+424],%rd228; st.global.v2.u32 [%rd24+432],{%r76,%r358};
st.global.v2.u32 [%rd24+440],{%r359,%r360}; st.global.v2.u32 [%rd24+448],{%r362,%r361};
st.global.f64 [%rd24+384],%fd193; st.global.f64 [%rd24+392],%fd230; st.global.f64 [%rd24+400],%fd195;
st.global.f64 [%rd24+408],%fd228; bra.uni $L__BB0_230; $L__BB0_231: ret; }
)ptx";
// clang-format on

}  // namespace spotter::inline SPOTTER_ABI::detail::cuda_pass

// SPDX-License-Identifier: Apache-2.0
// Ext (L6): Kernels as the driver compiles them; made by tools/cuda/make_ptx.py of tools/cuda/kernels.cpp.
#pragma once

#include <spotter/config.hpp>

namespace spotter::inline SPOTTER_ABI::detail::cuda_pass {

// clang-format off
inline constexpr char chains_ptx[] = R"ptx(
.version 6.0 .target sm_70 .address_size 64 .visible .entry spotter_chains( .param .align 8 .b8 p0[3072],
.param .u64 p1 ) { .reg .pred %p<177>; .reg .b16 %rs<111>; .reg .b32 %r<320>; .reg .f32 %f<11>; .reg .b64 %rd<335>;
.reg .f64 %fd<161>; mov.b64 %rd84,p0; ld.param.u64 %rd85,[p1]; cvta.to.global.u64 %rd1,%rd85; mov.u64 %rd86,%rd84;
mov.u32 %r91,%ctaid.x; mov.u32 %r1,%tid.x; cvt.u64.u32 %rd2,%r91; mul.wide.u32 %rd87,%r91,48;
add.s64 %rd3,%rd86,%rd87; ld.param.u64 %rd4,[%rd3]; ld.param.u64 %rd88,[%rd3+32]; setp.lt.u32 %p1,%r1,16;
setp.ne.s64 %p2,%rd88,0; and.pred %p3,%p1,%p2; @!%p3 bra $L__BB0_202; bra.uni $L__BB0_1; $L__BB0_1:
ld.param.u64 %rd5,[%rd3+8]; cvt.u64.u32 %rd305,%r1; setp.le.u64 %p17,%rd5,%rd305; mov.b32 %r319,0; mov.u64 %rd306,0;
mov.f64 %fd158,0d0000000000000000; mov.f64 %fd159,%fd158; mov.f64 %fd160,%fd158; @%p17 bra $L__BB0_200;
ld.param.u32 %r2,[%rd3+40]; cvt.u16.u32 %rs1,%r2; shl.b64 %rd303,%rd305,2; shl.b64 %rd302,%rd305,3;
shl.b64 %rd301,%rd305,1; mov.b32 %r319,0; mov.f64 %fd159,0d0000000000000000; mov.u64 %rd306,0;
and.b16 %rs56,%rs1,255; setp.gt.s16 %p18,%rs56,8; setp.gt.s16 %p28,%rs56,4; setp.eq.s16 %p32,%rs56,2;
setp.eq.s16 %p33,%rs56,3; mov.f64 %fd158,%fd159; mov.f64 %fd160,%fd159; bra.uni $L__BB0_3; $L__BB0_198:
add.s64 %rd184,%rd88,%rd302; ld.u64 %rd185,[%rd184]; cvt.rn.f64.u64 %fd156,%rd185; setp.eq.s64 %p112,%rd185,0;
selp.b16 %rs110,0,2,%p112; mul.rn.f64 %fd157,%fd156,%fd156; $L__BB0_199: and.b16 %rs95,%rs110,255;
max.u16 %rs96,%rs103,%rs95; setp.gt.u16 %p172,%rs96,2; selp.u32 %r230,1,0,%p172; or.b32 %r319,%r319,%r230;
sub.rn.f64 %fd105,%fd155,%fd156; mul.rn.f64 %fd106,%fd105,%fd105; mul.rn.f64 %fd107,%fd155,%fd156;
add.rn.f64 %fd160,%fd160,%fd106; add.rn.f64 %fd158,%fd158,%fd107; add.rn.f64 %fd159,%fd159,%fd157;
setp.neu.f64 %p173,%fd105,0d0000000000000000; selp.u64 %rd220,1,0,%p173; add.s64 %rd306,%rd306,%rd220;
add.s64 %rd305,%rd305,16; add.s64 %rd303,%rd303,64; add.s64 %rd302,%rd302,128; add.s64 %rd301,%rd301,32;
setp.lt.u64 %p174,%rd305,%rd5; @%p174 bra $L__BB0_3; bra.uni $L__BB0_200; $L__BB0_3: @%p18 bra $L__BB0_13;
bra.uni $L__BB0_4; $L__BB0_13: setp.gt.s16 %p19,%rs56,11; @%p19 bra $L__BB0_21; bra.uni $L__BB0_14; $L__BB0_21:
setp.gt.s16 %p20,%rs56,15; @%p20 bra $L__BB0_28; setp.eq.s16 %p23,%rs56,12; @%p23 bra $L__BB0_31;
setp.eq.s16 %p24,%rs56,13; @%p24 bra $L__BB0_24; bra.uni $L__BB0_30; $L__BB0_24: add.s64 %rd177,%rd4,%rd302;
ld.u64 %rd18,[%rd177]; and.b64 %rd19,%rd18,9223372036854775807; setp.gt.u64 %p81,%rd19,9218868437227405312;
mov.u16 %rs103,5; @%p81 bra $L__BB0_41; mov.u16 %rs103,0; setp.eq.s64 %p82,%rd19,0; @%p82 bra $L__BB0_41;
setp.ne.s64 %p83,%rd19,9218868437227405312; @%p83 bra $L__BB0_40; setp.gt.s64 %p84,%rd18,-1;
selp.b16 %rs103,3,4,%p84; bra.uni $L__BB0_41; $L__BB0_4: @%p28 bra $L__BB0_9; @%p32 bra $L__BB0_96;
@%p33 bra $L__BB0_97; setp.eq.s16 %p34,%rs56,4; @%p34 bra $L__BB0_8; bra.uni $L__BB0_30; $L__BB0_8:
add.s64 %rd154,%rd4,%rd303; ld.u32 %r103,[%rd154]; cvt.rn.f64.s32 %fd155,%r103; setp.eq.s32 %p39,%r103,0;
selp.b16 %rs103,0,2,%p39; bra.uni $L__BB0_101; $L__BB0_14: setp.eq.s16 %p25,%rs56,9; @%p25 bra $L__BB0_100;
setp.eq.s16 %p26,%rs56,10; @%p26 bra $L__BB0_42; setp.eq.s16 %p27,%rs56,11; @%p27 bra $L__BB0_17;
bra.uni $L__BB0_30; $L__BB0_17: add.s64 %rd167,%rd4,%rd301; ld.u16 %r15,[%rd167]; shl.b32 %r16,%r15,16;
and.b32 %r17,%r16,2147418112; setp.gt.u32 %p64,%r17,2139095040; mov.u16 %rs103,5; @%p64 bra $L__BB0_58;
mov.u16 %rs103,0; setp.eq.s32 %p65,%r17,0; @%p65 bra $L__BB0_58; setp.ne.s32 %p66,%r17,2139095040;
@%p66 bra $L__BB0_57; setp.gt.s32 %p67,%r16,-1; selp.b16 %rs103,3,4,%p67; bra.uni $L__BB0_58; $L__BB0_9:
setp.eq.s16 %p29,%rs56,5; @%p29 bra $L__BB0_98; setp.eq.s16 %p30,%rs56,7; @%p30 bra $L__BB0_99;
setp.eq.s16 %p31,%rs56,8; @%p31 bra $L__BB0_12; bra.uni $L__BB0_30; $L__BB0_12: add.s64 %rd150,%rd4,%rd303;
ld.u32 %r102,[%rd150]; cvt.rn.f64.u32 %fd155,%r102; setp.eq.s32 %p36,%r102,0; selp.b16 %rs103,0,2,%p36;
bra.uni $L__BB0_101; $L__BB0_28: setp.eq.s16 %p21,%rs56,16; @%p21 bra $L__BB0_62; setp.eq.s16 %p22,%rs56,17;
@%p22 bra $L__BB0_81; bra.uni $L__BB0_30; $L__BB0_81: add.s64 %rd157,%rd4,%rd305; ld.u8 %r32,[%rd157];
shl.b32 %r33,%r32,24; and.b32 %r315,%r33,-2147483648; bfe.u32 %r35,%r32,2,5; and.b32 %r36,%r32,3;
setp.eq.s32 %p42,%r35,0; @%p42 bra $L__BB0_85; setp.ne.s32 %p43,%r35,31; @%p43 bra $L__BB0_84;
shl.b32 %r112,%r32,21; or.b32 %r113,%r112,%r33; or.b32 %r315,%r113,2139095040; bra.uni $L__BB0_87; $L__BB0_31:
add.s64 %rd178,%rd4,%rd303; ld.u32 %r4,[%rd178]; and.b32 %r5,%r4,2147483647; setp.gt.u32 %p87,%r5,2139095040;
mov.u16 %rs103,5; @%p87 bra $L__BB0_36; mov.u16 %rs103,0; setp.eq.s32 %p88,%r5,0; @%p88 bra $L__BB0_36;
setp.ne.s32 %p89,%r5,2139095040; @%p89 bra $L__BB0_35; setp.gt.s32 %p90,%r4,-1; selp.b16 %rs103,3,4,%p90;
bra.uni $L__BB0_36; $L__BB0_62: add.s64 %rd162,%rd4,%rd305; ld.s8 %r121,[%rd162]; and.b32 %r19,%r121,-2147483648;
and.b32 %r20,%r121,127; setp.ne.s32 %p52,%r20,127; @%p52 bra $L__BB0_64; or.b32 %r314,%r19,2143289344;
bra.uni $L__BB0_72; $L__BB0_100: add.s64 %rd148,%rd4,%rd302; ld.u64 %rd149,[%rd148]; cvt.rn.f64.u64 %fd155,%rd149;
setp.eq.s64 %p35,%rd149,0; selp.b16 %rs103,0,2,%p35; bra.uni $L__BB0_101; $L__BB0_42: add.s64 %rd172,%rd4,%rd301;
ld.u16 %rs67,[%rd172]; cvt.u32.u16 %r6,%rs67; cvt.s32.s16 %r145,%rs67; and.b32 %r313,%r145,-2147483648;
bfe.u32 %r8,%r6,10,5; and.b32 %r9,%r6,1023; setp.eq.s32 %p71,%r8,0; @%p71 bra $L__BB0_46; setp.ne.s32 %p72,%r8,31;
@%p72 bra $L__BB0_45; shl.b32 %r154,%r6,13; or.b32 %r155,%r313,%r154; or.b32 %r313,%r155,2139095040;
bra.uni $L__BB0_48; $L__BB0_96: add.s64 %rd156,%rd4,%rd305; ld.u8 %rs59,[%rd156]; cvt.s16.s8 %rs60,%rs59;
cvt.rn.f64.s16 %fd155,%rs60; setp.eq.s16 %p41,%rs59,0; selp.b16 %rs103,0,2,%p41; bra.uni $L__BB0_101; $L__BB0_98:
add.s64 %rd152,%rd4,%rd302; ld.u64 %rd153,[%rd152]; cvt.rn.f64.s64 %fd155,%rd153; setp.eq.s64 %p38,%rd153,0;
selp.b16 %rs103,0,2,%p38; bra.uni $L__BB0_101; $L__BB0_97: add.s64 %rd155,%rd4,%rd301; ld.u16 %rs58,[%rd155];
cvt.rn.f64.s16 %fd155,%rs58; setp.eq.s16 %p40,%rs58,0; selp.b16 %rs103,0,2,%p40; bra.uni $L__BB0_101; $L__BB0_99:
add.s64 %rd151,%rd4,%rd301; ld.u16 %rs57,[%rd151]; cvt.rn.f64.u16 %fd155,%rs57; setp.eq.s16 %p37,%rs57,0;
selp.b16 %rs103,0,2,%p37; bra.uni $L__BB0_101; $L__BB0_30: add.s64 %rd183,%rd4,%rd305; ld.u8 %rs74,[%rd183];
cvt.rn.f64.u16 %fd155,%rs74; setp.eq.s16 %p94,%rs74,0; selp.b16 %rs103,0,2,%p94; bra.uni $L__BB0_101; $L__BB0_64:
and.b32 %r18,%r121,255; setp.lt.u32 %p53,%r20,120; @%p53 bra $L__BB0_66; shl.b32 %r136,%r18,20;
and.b32 %r137,%r136,7340032; or.b32 %r138,%r19,%r137; or.b32 %r314,%r138,1132462080; bra.uni $L__BB0_72; $L__BB0_85:
setp.eq.s32 %p44,%r36,0; @%p44 bra $L__BB0_87; clz.b32 %r104,%r36; add.s32 %r105,%r104,-29;
shl.b32 %r106,%r32,%r105; shl.b32 %r107,%r106,21; and.b32 %r108,%r107,6291456; or.b32 %r109,%r315,1191182336;
shl.b32 %r110,%r104,23; sub.s32 %r111,%r109,%r110; or.b32 %r315,%r108,%r111; bra.uni $L__BB0_87; $L__BB0_46:
setp.eq.s32 %p73,%r9,0; @%p73 bra $L__BB0_48; clz.b32 %r146,%r9; add.s32 %r147,%r146,-21; shl.b32 %r148,%r6,%r147;
shl.b32 %r149,%r148,13; and.b32 %r150,%r149,8380416; or.b32 %r151,%r313,1124073472; shl.b32 %r152,%r146,23;
sub.s32 %r153,%r151,%r152; or.b32 %r313,%r150,%r153; bra.uni $L__BB0_48; $L__BB0_84: shl.b32 %r114,%r35,23;
shl.b32 %r115,%r36,21; or.b32 %r116,%r114,%r115; add.s32 %r117,%r116,%r315; add.s32 %r315,%r117,939524096;
$L__BB0_87: and.b32 %r41,%r315,2147483647; setp.gt.u32 %p45,%r41,2139095040; mov.u16 %rs103,5; @%p45 bra $L__BB0_92;
mov.u16 %rs103,0; setp.eq.s32 %p46,%r41,0; @%p46 bra $L__BB0_92; setp.ne.s32 %p47,%r41,2139095040;
@%p47 bra $L__BB0_91; setp.gt.s32 %p48,%r315,-1; selp.b16 %rs103,3,4,%p48; bra.uni $L__BB0_92; $L__BB0_45:
shl.b32 %r156,%r8,23; shl.b32 %r157,%r9,13; or.b32 %r158,%r156,%r157; add.s32 %r159,%r158,%r313;
add.s32 %r313,%r159,939524096; $L__BB0_48: and.b32 %r14,%r313,2147483647; setp.gt.u32 %p74,%r14,2139095040;
mov.u16 %rs103,5; @%p74 bra $L__BB0_53; mov.u16 %rs103,0; setp.eq.s32 %p75,%r14,0; @%p75 bra $L__BB0_53;
setp.ne.s32 %p76,%r14,2139095040; @%p76 bra $L__BB0_52; setp.gt.s32 %p77,%r313,-1; selp.b16 %rs103,3,4,%p77;
bra.uni $L__BB0_53; $L__BB0_66: shl.b32 %r23,%r18,24; and.b32 %r314,%r23,-2147483648; bfe.u32 %r25,%r18,3,4;
and.b32 %r26,%r18,7; setp.eq.s32 %p54,%r25,0; @%p54 bra $L__BB0_70; setp.ne.s32 %p55,%r25,15; @%p55 bra $L__BB0_69;
shl.b32 %r130,%r18,20; or.b32 %r131,%r130,%r23; or.b32 %r314,%r131,2139095040; bra.uni $L__BB0_72; $L__BB0_35:
setp.lt.u32 %p91,%r5,8388608; selp.b16 %rs103,1,2,%p91; $L__BB0_36: setp.gt.u16 %p92,%rs103,2;
mov.f64 %fd155,0d0000000000000000; @%p92 bra $L__BB0_101; and.b32 %r163,%r4,2139095040; setp.eq.s32 %p93,%r163,0;
@%p93 bra $L__BB0_39; mov.b32 %f1,%r4; cvt.f64.f32 %fd155,%f1; bra.uni $L__BB0_101; $L__BB0_39:
and.b32 %r164,%r4,8388607; cvt.rn.f64.u32 %fd86,%r164; mul.rn.f64 %fd87,%fd86,0d36A0000000000000;
and.b32 %r165,%r4,-2147483648; cvt.u64.u32 %rd179,%r165; shl.b64 %rd180,%rd179,32; mov.b64 %rd181,%fd87;
or.b64 %rd182,%rd180,%rd181; mov.b64 %fd155,%rd182; bra.uni $L__BB0_101; $L__BB0_40:
setp.lt.u64 %p85,%rd19,4503599627370496; selp.b16 %rs103,1,2,%p85; $L__BB0_41: mov.b64 %fd84,%rd18;
setp.lt.u16 %p86,%rs103,3; selp.f64 %fd155,%fd84,0d0000000000000000,%p86; bra.uni $L__BB0_101; $L__BB0_91:
setp.lt.u32 %p49,%r41,8388608; selp.b16 %rs103,1,2,%p49; $L__BB0_92: setp.gt.u16 %p50,%rs103,2;
mov.f64 %fd155,0d0000000000000000; @%p50 bra $L__BB0_101; and.b32 %r118,%r315,2139095040; setp.eq.s32 %p51,%r118,0;
@%p51 bra $L__BB0_95; mov.b32 %f5,%r315; cvt.f64.f32 %fd155,%f5; bra.uni $L__BB0_101; $L__BB0_95:
and.b32 %r119,%r315,8388607; cvt.rn.f64.u32 %fd73,%r119; mul.rn.f64 %fd74,%fd73,0d36A0000000000000;
and.b32 %r120,%r315,-2147483648; cvt.u64.u32 %rd158,%r120; shl.b64 %rd159,%rd158,32; mov.b64 %rd160,%fd74;
or.b64 %rd161,%rd159,%rd160; mov.b64 %fd155,%rd161; bra.uni $L__BB0_101; $L__BB0_52: setp.lt.u32 %p78,%r14,8388608;
selp.b16 %rs103,1,2,%p78; $L__BB0_53: setp.gt.u16 %p79,%rs103,2; mov.f64 %fd155,0d0000000000000000;
@%p79 bra $L__BB0_101; and.b32 %r160,%r313,2139095040; setp.eq.s32 %p80,%r160,0; @%p80 bra $L__BB0_56;
mov.b32 %f2,%r313; cvt.f64.f32 %fd155,%f2; bra.uni $L__BB0_101; $L__BB0_56: and.b32 %r161,%r313,8388607;
cvt.rn.f64.u32 %fd82,%r161; mul.rn.f64 %fd83,%fd82,0d36A0000000000000; and.b32 %r162,%r313,-2147483648;
cvt.u64.u32 %rd173,%r162; shl.b64 %rd174,%rd173,32; mov.b64 %rd175,%fd83; or.b64 %rd176,%rd174,%rd175;
mov.b64 %fd155,%rd176; bra.uni $L__BB0_101; $L__BB0_57: setp.lt.u32 %p68,%r17,8388608; selp.b16 %rs103,1,2,%p68;
$L__BB0_58: setp.gt.u16 %p69,%rs103,2; mov.f64 %fd155,0d0000000000000000; @%p69 bra $L__BB0_101;
and.b32 %r142,%r15,32640; setp.eq.s32 %p70,%r142,0; @%p70 bra $L__BB0_61; mov.b32 %f3,%r16; cvt.f64.f32 %fd155,%f3;
bra.uni $L__BB0_101; $L__BB0_61: and.b32 %r143,%r16,8323072; cvt.rn.f64.u32 %fd79,%r143;
mul.rn.f64 %fd80,%fd79,0d36A0000000000000; and.b32 %r144,%r16,-2147483648; cvt.u64.u32 %rd168,%r144;
shl.b64 %rd169,%rd168,32; mov.b64 %rd170,%fd80; or.b64 %rd171,%rd169,%rd170; mov.b64 %fd155,%rd171;
bra.uni $L__BB0_101; $L__BB0_70: setp.eq.s32 %p56,%r26,0; @%p56 bra $L__BB0_72; clz.b32 %r122,%r26;
add.s32 %r123,%r122,-28; shl.b32 %r124,%r18,%r123; shl.b32 %r125,%r124,20; and.b32 %r126,%r125,7340032;
or.b32 %r127,%r314,1249902592; shl.b32 %r128,%r122,23; sub.s32 %r129,%r127,%r128; or.b32 %r314,%r126,%r129;
bra.uni $L__BB0_72; $L__BB0_69: shl.b32 %r132,%r25,23; shl.b32 %r133,%r26,20; or.b32 %r134,%r132,%r133;
add.s32 %r135,%r134,%r314; add.s32 %r314,%r135,1006632960; $L__BB0_72: and.b32 %r31,%r314,2147483647;
setp.gt.u32 %p57,%r31,2139095040; mov.u16 %rs103,5; @%p57 bra $L__BB0_77; mov.u16 %rs103,0; setp.eq.s32 %p58,%r31,0;
@%p58 bra $L__BB0_77; setp.ne.s32 %p59,%r31,2139095040; @%p59 bra $L__BB0_76; setp.gt.s32 %p60,%r314,-1;
selp.b16 %rs103,3,4,%p60; bra.uni $L__BB0_77; $L__BB0_76: setp.lt.u32 %p61,%r31,8388608; selp.b16 %rs103,1,2,%p61;
$L__BB0_77: setp.gt.u16 %p62,%rs103,2; mov.f64 %fd155,0d0000000000000000; @%p62 bra $L__BB0_101;
and.b32 %r139,%r314,2139095040; setp.eq.s32 %p63,%r139,0; @%p63 bra $L__BB0_80; mov.b32 %f4,%r314;
cvt.f64.f32 %fd155,%f4; bra.uni $L__BB0_101; $L__BB0_80: and.b32 %r140,%r314,8388607; cvt.rn.f64.u32 %fd76,%r140;
mul.rn.f64 %fd77,%fd76,0d36A0000000000000; and.b32 %r141,%r314,-2147483648; cvt.u64.u32 %rd163,%r141;
shl.b64 %rd164,%rd163,32; mov.b64 %rd165,%fd77; or.b64 %rd166,%rd164,%rd165; mov.b64 %fd155,%rd166; $L__BB0_101:
@%p18 bra $L__BB0_111; bra.uni $L__BB0_102; $L__BB0_111: setp.gt.s16 %p96,%rs56,11; @%p96 bra $L__BB0_119;
bra.uni $L__BB0_112; $L__BB0_119: setp.gt.s16 %p97,%rs56,15; @%p97 bra $L__BB0_126; setp.eq.s16 %p100,%rs56,12;
@%p100 bra $L__BB0_129; setp.eq.s16 %p101,%rs56,13; @%p101 bra $L__BB0_122; bra.uni $L__BB0_128; $L__BB0_122:
add.s64 %rd213,%rd88,%rd302; ld.u64 %rd20,[%rd213]; and.b64 %rd21,%rd20,9223372036854775807;
setp.gt.u64 %p158,%rd21,9218868437227405312; mov.u16 %rs110,5; @%p158 bra $L__BB0_139; mov.u16 %rs110,0;
setp.eq.s64 %p159,%rd21,0; @%p159 bra $L__BB0_139; setp.ne.s64 %p160,%rd21,9218868437227405312;
@%p160 bra $L__BB0_138; setp.gt.s64 %p161,%rd20,-1; selp.b16 %rs110,3,4,%p161; bra.uni $L__BB0_139; $L__BB0_102:
@%p28 bra $L__BB0_107; @%p32 bra $L__BB0_194; @%p33 bra $L__BB0_195; setp.eq.s16 %p111,%rs56,4;
@%p111 bra $L__BB0_106; bra.uni $L__BB0_128; $L__BB0_106: add.s64 %rd190,%rd88,%rd303; ld.u32 %r167,[%rd190];
cvt.rn.f64.s32 %fd156,%r167; setp.eq.s32 %p116,%r167,0; selp.b16 %rs110,0,2,%p116; mul.rn.f64 %fd157,%fd156,%fd156;
bra.uni $L__BB0_199; $L__BB0_112: setp.eq.s16 %p102,%rs56,9; @%p102 bra $L__BB0_198; setp.eq.s16 %p103,%rs56,10;
@%p103 bra $L__BB0_140; setp.eq.s16 %p104,%rs56,11; @%p104 bra $L__BB0_115; bra.uni $L__BB0_128; $L__BB0_115:
add.s64 %rd203,%rd88,%rd301; ld.u16 %r53,[%rd203]; shl.b32 %r54,%r53,16; and.b32 %r55,%r54,2147418112;
setp.gt.u32 %p141,%r55,2139095040; mov.u16 %rs110,5; @%p141 bra $L__BB0_156; mov.u16 %rs110,0;
setp.eq.s32 %p142,%r55,0; @%p142 bra $L__BB0_156; setp.ne.s32 %p143,%r55,2139095040; @%p143 bra $L__BB0_155;
setp.gt.s32 %p144,%r54,-1; selp.b16 %rs110,3,4,%p144; bra.uni $L__BB0_156; $L__BB0_107: setp.eq.s16 %p106,%rs56,5;
@%p106 bra $L__BB0_196; setp.eq.s16 %p107,%rs56,7; @%p107 bra $L__BB0_197; setp.eq.s16 %p108,%rs56,8;
@%p108 bra $L__BB0_110; bra.uni $L__BB0_128; $L__BB0_110: add.s64 %rd186,%rd88,%rd303; ld.u32 %r166,[%rd186];
cvt.rn.f64.u32 %fd156,%r166; setp.eq.s32 %p113,%r166,0; selp.b16 %rs110,0,2,%p113; mul.rn.f64 %fd157,%fd156,%fd156;
bra.uni $L__BB0_199; $L__BB0_126: setp.eq.s16 %p98,%rs56,16; @%p98 bra $L__BB0_160; setp.eq.s16 %p99,%rs56,17;
@%p99 bra $L__BB0_179; bra.uni $L__BB0_128; $L__BB0_179: add.s64 %rd193,%rd88,%rd305; ld.u8 %r70,[%rd193];
shl.b32 %r71,%r70,24; and.b32 %r318,%r71,-2147483648; bfe.u32 %r73,%r70,2,5; and.b32 %r74,%r70,3;
setp.eq.s32 %p119,%r73,0; @%p119 bra $L__BB0_183; setp.ne.s32 %p120,%r73,31; @%p120 bra $L__BB0_182;
shl.b32 %r176,%r70,21; or.b32 %r177,%r176,%r71; or.b32 %r318,%r177,2139095040; bra.uni $L__BB0_185; $L__BB0_129:
add.s64 %rd214,%rd88,%rd303; ld.u32 %r42,[%rd214]; and.b32 %r43,%r42,2147483647; setp.gt.u32 %p164,%r43,2139095040;
mov.u16 %rs110,5; @%p164 bra $L__BB0_134; mov.u16 %rs110,0; setp.eq.s32 %p165,%r43,0; @%p165 bra $L__BB0_134;
setp.ne.s32 %p166,%r43,2139095040; @%p166 bra $L__BB0_133; setp.gt.s32 %p167,%r42,-1; selp.b16 %rs110,3,4,%p167;
bra.uni $L__BB0_134; $L__BB0_160: add.s64 %rd198,%rd88,%rd305; ld.s8 %r185,[%rd198]; and.b32 %r57,%r185,-2147483648;
and.b32 %r58,%r185,127; setp.ne.s32 %p129,%r58,127; @%p129 bra $L__BB0_162; or.b32 %r317,%r57,2143289344;
bra.uni $L__BB0_170; $L__BB0_140: add.s64 %rd208,%rd88,%rd301; ld.u16 %rs86,[%rd208]; cvt.u32.u16 %r44,%rs86;
cvt.s32.s16 %r209,%rs86; and.b32 %r316,%r209,-2147483648; bfe.u32 %r46,%r44,10,5; and.b32 %r47,%r44,1023;
setp.eq.s32 %p148,%r46,0; @%p148 bra $L__BB0_144; setp.ne.s32 %p149,%r46,31; @%p149 bra $L__BB0_143;
shl.b32 %r218,%r44,13; or.b32 %r219,%r316,%r218; or.b32 %r316,%r219,2139095040; bra.uni $L__BB0_146; $L__BB0_194:
add.s64 %rd192,%rd88,%rd305; ld.u8 %rs78,[%rd192]; cvt.s16.s8 %rs79,%rs78; cvt.rn.f64.s16 %fd156,%rs79;
setp.eq.s16 %p118,%rs78,0; selp.b16 %rs110,0,2,%p118; mul.rn.f64 %fd157,%fd156,%fd156; bra.uni $L__BB0_199;
$L__BB0_196: add.s64 %rd188,%rd88,%rd302; ld.u64 %rd189,[%rd188]; cvt.rn.f64.s64 %fd156,%rd189;
setp.eq.s64 %p115,%rd189,0; selp.b16 %rs110,0,2,%p115; mul.rn.f64 %fd157,%fd156,%fd156; bra.uni $L__BB0_199;
$L__BB0_195: add.s64 %rd191,%rd88,%rd301; ld.u16 %rs77,[%rd191]; cvt.rn.f64.s16 %fd156,%rs77;
setp.eq.s16 %p117,%rs77,0; selp.b16 %rs110,0,2,%p117; mul.rn.f64 %fd157,%fd156,%fd156; bra.uni $L__BB0_199;
$L__BB0_197: add.s64 %rd187,%rd88,%rd301; ld.u16 %rs76,[%rd187]; cvt.rn.f64.u16 %fd156,%rs76;
setp.eq.s16 %p114,%rs76,0; selp.b16 %rs110,0,2,%p114; mul.rn.f64 %fd157,%fd156,%fd156; bra.uni $L__BB0_199;
$L__BB0_128: add.s64 %rd219,%rd88,%rd305; ld.u8 %rs93,[%rd219]; cvt.rn.f64.u16 %fd156,%rs93;
setp.eq.s16 %p171,%rs93,0; selp.b16 %rs110,0,2,%p171; mul.rn.f64 %fd157,%fd156,%fd156; bra.uni $L__BB0_199;
$L__BB0_162: and.b32 %r56,%r185,255; setp.lt.u32 %p130,%r58,120; @%p130 bra $L__BB0_164; shl.b32 %r200,%r56,20;
and.b32 %r201,%r200,7340032; or.b32 %r202,%r57,%r201; or.b32 %r317,%r202,1132462080; bra.uni $L__BB0_170;
$L__BB0_183: setp.eq.s32 %p121,%r74,0; @%p121 bra $L__BB0_185; clz.b32 %r168,%r74; add.s32 %r169,%r168,-29;
shl.b32 %r170,%r70,%r169; shl.b32 %r171,%r170,21; and.b32 %r172,%r171,6291456; or.b32 %r173,%r318,1191182336;
shl.b32 %r174,%r168,23; sub.s32 %r175,%r173,%r174; or.b32 %r318,%r172,%r175; bra.uni $L__BB0_185; $L__BB0_144:
setp.eq.s32 %p150,%r47,0; @%p150 bra $L__BB0_146; clz.b32 %r210,%r47; add.s32 %r211,%r210,-21;
shl.b32 %r212,%r44,%r211; shl.b32 %r213,%r212,13; and.b32 %r214,%r213,8380416; or.b32 %r215,%r316,1124073472;
shl.b32 %r216,%r210,23; sub.s32 %r217,%r215,%r216; or.b32 %r316,%r214,%r217; bra.uni $L__BB0_146; $L__BB0_182:
shl.b32 %r178,%r73,23; shl.b32 %r179,%r74,21; or.b32 %r180,%r178,%r179; add.s32 %r181,%r180,%r318;
add.s32 %r318,%r181,939524096; $L__BB0_185: and.b32 %r79,%r318,2147483647; setp.gt.u32 %p122,%r79,2139095040;
mov.u16 %rs110,5; @%p122 bra $L__BB0_190; mov.u16 %rs110,0; setp.eq.s32 %p123,%r79,0; @%p123 bra $L__BB0_190;
setp.ne.s32 %p124,%r79,2139095040; @%p124 bra $L__BB0_189; setp.gt.s32 %p125,%r318,-1; selp.b16 %rs110,3,4,%p125;
bra.uni $L__BB0_190; $L__BB0_143: shl.b32 %r220,%r46,23; shl.b32 %r221,%r47,13; or.b32 %r222,%r220,%r221;
add.s32 %r223,%r222,%r316; add.s32 %r316,%r223,939524096; $L__BB0_146: and.b32 %r52,%r316,2147483647;
setp.gt.u32 %p151,%r52,2139095040; mov.u16 %rs110,5; @%p151 bra $L__BB0_151; mov.u16 %rs110,0;
setp.eq.s32 %p152,%r52,0; @%p152 bra $L__BB0_151; setp.ne.s32 %p153,%r52,2139095040; @%p153 bra $L__BB0_150;
setp.gt.s32 %p154,%r316,-1; selp.b16 %rs110,3,4,%p154; bra.uni $L__BB0_151; $L__BB0_164: shl.b32 %r61,%r56,24;
and.b32 %r317,%r61,-2147483648; bfe.u32 %r63,%r56,3,4; and.b32 %r64,%r56,7; setp.eq.s32 %p131,%r63,0;
@%p131 bra $L__BB0_168; setp.ne.s32 %p132,%r63,15; @%p132 bra $L__BB0_167; shl.b32 %r194,%r56,20;
or.b32 %r195,%r194,%r61; or.b32 %r317,%r195,2139095040; bra.uni $L__BB0_170; $L__BB0_133:
setp.lt.u32 %p168,%r43,8388608; selp.b16 %rs110,1,2,%p168; $L__BB0_134: setp.gt.u16 %p169,%rs110,2;
mov.f64 %fd156,0d0000000000000000; mov.f64 %fd157,%fd156; @%p169 bra $L__BB0_199; and.b32 %r227,%r42,2139095040;
setp.eq.s32 %p170,%r227,0; @%p170 bra $L__BB0_137; mov.b32 %f6,%r42; cvt.f64.f32 %fd156,%f6;
mul.rn.f64 %fd157,%fd156,%fd156; bra.uni $L__BB0_199; $L__BB0_137: and.b32 %r228,%r42,8388607;
cvt.rn.f64.u32 %fd103,%r228; mul.rn.f64 %fd104,%fd103,0d36A0000000000000; and.b32 %r229,%r42,-2147483648;
cvt.u64.u32 %rd215,%r229; shl.b64 %rd216,%rd215,32; mov.b64 %rd217,%fd104; or.b64 %rd218,%rd216,%rd217;
mov.b64 %fd156,%rd218; mul.rn.f64 %fd157,%fd156,%fd156; bra.uni $L__BB0_199; $L__BB0_138:
setp.lt.u64 %p162,%rd21,4503599627370496; selp.b16 %rs110,1,2,%p162; $L__BB0_139: mov.b64 %fd100,%rd20;
setp.lt.u16 %p163,%rs110,3; mul.rn.f64 %fd101,%fd100,%fd100; selp.f64 %fd156,%fd100,0d0000000000000000,%p163;
selp.f64 %fd157,%fd101,0d0000000000000000,%p163; bra.uni $L__BB0_199; $L__BB0_189: setp.lt.u32 %p126,%r79,8388608;
selp.b16 %rs110,1,2,%p126; $L__BB0_190: setp.gt.u16 %p127,%rs110,2; mov.f64 %fd156,0d0000000000000000;
mov.f64 %fd157,%fd156; @%p127 bra $L__BB0_199; and.b32 %r182,%r318,2139095040; setp.eq.s32 %p128,%r182,0;
@%p128 bra $L__BB0_193; mov.b32 %f10,%r318; cvt.f64.f32 %fd156,%f10; mul.rn.f64 %fd157,%fd156,%fd156;
bra.uni $L__BB0_199; $L__BB0_193: and.b32 %r183,%r318,8388607; cvt.rn.f64.u32 %fd89,%r183;
mul.rn.f64 %fd90,%fd89,0d36A0000000000000; and.b32 %r184,%r318,-2147483648; cvt.u64.u32 %rd194,%r184;
shl.b64 %rd195,%rd194,32; mov.b64 %rd196,%fd90; or.b64 %rd197,%rd195,%rd196; mov.b64 %fd156,%rd197;
mul.rn.f64 %fd157,%fd156,%fd156; bra.uni $L__BB0_199; $L__BB0_150: setp.lt.u32 %p155,%r52,8388608;
selp.b16 %rs110,1,2,%p155; $L__BB0_151: setp.gt.u16 %p156,%rs110,2; mov.f64 %fd156,0d0000000000000000;
mov.f64 %fd157,%fd156; @%p156 bra $L__BB0_199; and.b32 %r224,%r316,2139095040; setp.eq.s32 %p157,%r224,0;
@%p157 bra $L__BB0_154; mov.b32 %f7,%r316; cvt.f64.f32 %fd156,%f7; mul.rn.f64 %fd157,%fd156,%fd156;
bra.uni $L__BB0_199; $L__BB0_154: and.b32 %r225,%r316,8388607; cvt.rn.f64.u32 %fd98,%r225;
mul.rn.f64 %fd99,%fd98,0d36A0000000000000; and.b32 %r226,%r316,-2147483648; cvt.u64.u32 %rd209,%r226;
shl.b64 %rd210,%rd209,32; mov.b64 %rd211,%fd99; or.b64 %rd212,%rd210,%rd211; mov.b64 %fd156,%rd212;
mul.rn.f64 %fd157,%fd156,%fd156; bra.uni $L__BB0_199; $L__BB0_155: setp.lt.u32 %p145,%r55,8388608;
selp.b16 %rs110,1,2,%p145; $L__BB0_156: setp.gt.u16 %p146,%rs110,2; mov.f64 %fd156,0d0000000000000000;
mov.f64 %fd157,%fd156; @%p146 bra $L__BB0_199; and.b32 %r206,%r53,32640; setp.eq.s32 %p147,%r206,0;
@%p147 bra $L__BB0_159; mov.b32 %f8,%r54; cvt.f64.f32 %fd156,%f8; mul.rn.f64 %fd157,%fd156,%fd156;
bra.uni $L__BB0_199; $L__BB0_159: and.b32 %r207,%r54,8323072; cvt.rn.f64.u32 %fd95,%r207;
mul.rn.f64 %fd96,%fd95,0d36A0000000000000; and.b32 %r208,%r54,-2147483648; cvt.u64.u32 %rd204,%r208;
shl.b64 %rd205,%rd204,32; mov.b64 %rd206,%fd96; or.b64 %rd207,%rd205,%rd206; mov.b64 %fd156,%rd207;
mul.rn.f64 %fd157,%fd156,%fd156; bra.uni $L__BB0_199; $L__BB0_168: setp.eq.s32 %p133,%r64,0; @%p133 bra $L__BB0_170;
clz.b32 %r186,%r64; add.s32 %r187,%r186,-28; shl.b32 %r188,%r56,%r187; shl.b32 %r189,%r188,20;
and.b32 %r190,%r189,7340032; or.b32 %r191,%r317,1249902592; shl.b32 %r192,%r186,23; sub.s32 %r193,%r191,%r192;
or.b32 %r317,%r190,%r193; bra.uni $L__BB0_170; $L__BB0_167: shl.b32 %r196,%r63,23; shl.b32 %r197,%r64,20;
or.b32 %r198,%r196,%r197; add.s32 %r199,%r198,%r317; add.s32 %r317,%r199,1006632960; $L__BB0_170:
and.b32 %r69,%r317,2147483647; setp.gt.u32 %p134,%r69,2139095040; mov.u16 %rs110,5; @%p134 bra $L__BB0_175;
mov.u16 %rs110,0; setp.eq.s32 %p135,%r69,0; @%p135 bra $L__BB0_175; setp.ne.s32 %p136,%r69,2139095040;
@%p136 bra $L__BB0_174; setp.gt.s32 %p137,%r317,-1; selp.b16 %rs110,3,4,%p137; bra.uni $L__BB0_175; $L__BB0_174:
setp.lt.u32 %p138,%r69,8388608; selp.b16 %rs110,1,2,%p138; $L__BB0_175: setp.gt.u16 %p139,%rs110,2;
mov.f64 %fd156,0d0000000000000000; mov.f64 %fd157,%fd156; @%p139 bra $L__BB0_199; and.b32 %r203,%r317,2139095040;
setp.eq.s32 %p140,%r203,0; @%p140 bra $L__BB0_178; mov.b32 %f9,%r317; cvt.f64.f32 %fd156,%f9;
mul.rn.f64 %fd157,%fd156,%fd156; bra.uni $L__BB0_199; $L__BB0_178: and.b32 %r204,%r317,8388607;
cvt.rn.f64.u32 %fd92,%r204; mul.rn.f64 %fd93,%fd92,0d36A0000000000000; and.b32 %r205,%r317,-2147483648;
cvt.u64.u32 %rd199,%r205; shl.b64 %rd200,%rd199,32; mov.b64 %rd201,%fd93; or.b64 %rd202,%rd200,%rd201;
mov.b64 %fd156,%rd202; mul.rn.f64 %fd157,%fd156,%fd156; bra.uni $L__BB0_199; $L__BB0_202:
ld.param.u32 %r92,[%rd3+44]; setp.ne.s32 %p4,%r1,32; and.b32 %r94,%r92,1024; setp.eq.s32 %p5,%r94,0;
or.pred %p6,%p4,%p5; @%p6 bra $L__BB0_207; ld.param.u64 %rd6,[%rd3+16]; setp.ne.s64 %p7,%rd6,0; mov.u64 %rd333,-1;
mov.u64 %rd308,0; mov.u64 %rd331,-7046029254386353131; mov.u64 %rd332,%rd331; mov.u64 %rd334,%rd308;
@%p7 bra $L__BB0_208; bra.uni $L__BB0_204; $L__BB0_208: add.s64 %rd315,%rd6,-7046029254386353131;
not.b64 %rd314,%rd6; mul.lo.s64 %rd313,%rd6,-7046029254386353131; and.b64 %rd37,%rd4,7; add.s64 %rd94,%rd6,-1;
shr.u64 %rd38,%rd94,3; mov.u64 %rd331,-7046029254386353131; mov.u64 %rd316,0; setp.ne.s64 %p8,%rd37,0;
mov.u64 %rd312,%rd6; mov.u64 %rd317,%rd316; bra.uni $L__BB0_209; $L__BB0_210: ld.u64 %rd329,[%rd50]; $L__BB0_217:
xor.b64 %rd118,%rd329,%rd313; mul.lo.s64 %rd119,%rd118,-7046029254386353131;
mul.lo.s64 %rd120,%rd118,3452378011804893184; shr.u64 %rd121,%rd119,35; or.b64 %rd331,%rd121,%rd120;
add.s64 %rd316,%rd316,8; add.s64 %rd317,%rd45,1; add.s64 %rd312,%rd312,-8; setp.eq.s64 %p15,%rd45,%rd38;
mov.u64 %rd313,%rd334; mov.u64 %rd314,%rd333; mov.u64 %rd315,%rd332; @%p15 bra $L__BB0_218; $L__BB0_209:
mov.u64 %rd332,%rd331; mov.u64 %rd45,%rd317; mov.u64 %rd333,%rd315; mov.u64 %rd334,%rd314;
add.s64 %rd50,%rd316,%rd4; sub.s64 %rd98,%rd6,%rd316; setp.lt.u64 %p9,%rd98,8; or.pred %p10,%p8,%p9;
@%p10 bra $L__BB0_211; bra.uni $L__BB0_210; $L__BB0_211: min.u64 %rd95,%rd312,8; shl.b64 %rd96,%rd45,3;
sub.s64 %rd97,%rd6,%rd96; min.u64 %rd49,%rd97,8; add.s64 %rd101,%rd49,-1; setp.lt.u64 %p11,%rd101,3;
mov.u64 %rd323,0; mov.u64 %rd329,%rd323; @%p11 bra $L__BB0_214; and.b64 %rd48,%rd95,12; add.s64 %rd53,%rd50,1;
mov.u64 %rd323,0; mov.u64 %rd319,24; mov.u64 %rd329,%rd323; $L__BB0_213: add.s64 %rd104,%rd53,%rd323;
ld.u8 %rd105,[%rd104+-1]; cvt.u32.u64 %r95,%rd319; add.s32 %r96,%r95,-24; shl.b64 %rd106,%rd105,%r96;
or.b64 %rd107,%rd106,%rd329; ld.u8 %rd108,[%rd104]; add.s32 %r97,%r95,-16; shl.b64 %rd109,%rd108,%r97;
or.b64 %rd110,%rd109,%rd107; ld.u8 %rd111,[%rd104+1]; add.s32 %r98,%r95,-8; shl.b64 %rd112,%rd111,%r98;
or.b64 %rd113,%rd112,%rd110; ld.u8 %rd114,[%rd104+2]; shl.b64 %rd115,%rd114,%r95; or.b64 %rd329,%rd115,%rd113;
add.s64 %rd323,%rd323,4; add.s64 %rd319,%rd319,32; setp.ne.s64 %p12,%rd48,%rd323; @%p12 bra $L__BB0_213;
$L__BB0_214: and.b64 %rd52,%rd49,3; setp.eq.s64 %p13,%rd52,0; @%p13 bra $L__BB0_217; and.b64 %rd325,%rd95,3;
shl.b64 %rd327,%rd323,3; add.s64 %rd326,%rd50,%rd323; $L__BB0_216: .pragma "nounroll"; ld.u8 %rd116,[%rd326];
cvt.u32.u64 %r99,%rd327; shl.b64 %rd117,%rd116,%r99; or.b64 %rd329,%rd117,%rd329; add.s64 %rd327,%rd327,8;
add.s64 %rd326,%rd326,1; add.s64 %rd325,%rd325,-1; setp.ne.s64 %p14,%rd325,0; @%p14 bra $L__BB0_216;
bra.uni $L__BB0_217; $L__BB0_200: mov.b64 %rd221,%fd160; { .reg .b32 tmp; mov.b64 {tmp,%r231},%rd221; }
shfl.sync.down.b32 %r232,%r231,8,4111,65535; cvt.u64.u32 %rd222,%r232; shl.b64 %rd223,%rd222,32;
cvt.u32.u64 %r233,%rd221; shfl.sync.down.b32 %r234,%r233,8,4111,65535; cvt.u64.u32 %rd224,%r234;
or.b64 %rd225,%rd223,%rd224; mov.b64 %fd108,%rd225; add.rn.f64 %fd109,%fd160,%fd108; mov.b64 %rd226,%fd109;
{ .reg .b32 tmp; mov.b64 {tmp,%r235},%rd226; } shfl.sync.down.b32 %r236,%r235,4,4111,65535;
cvt.u64.u32 %rd227,%r236; shl.b64 %rd228,%rd227,32; cvt.u32.u64 %r237,%rd226;
shfl.sync.down.b32 %r238,%r237,4,4111,65535; cvt.u64.u32 %rd229,%r238; or.b64 %rd230,%rd228,%rd229;
mov.b64 %fd110,%rd230; add.rn.f64 %fd111,%fd109,%fd110; mov.b64 %rd231,%fd111;
{ .reg .b32 tmp; mov.b64 {tmp,%r239},%rd231; } shfl.sync.down.b32 %r240,%r239,2,4111,65535;
cvt.u64.u32 %rd232,%r240; shl.b64 %rd233,%rd232,32; cvt.u32.u64 %r241,%rd231;
shfl.sync.down.b32 %r242,%r241,2,4111,65535; cvt.u64.u32 %rd234,%r242; or.b64 %rd235,%rd233,%rd234;
mov.b64 %fd112,%rd235; add.rn.f64 %fd113,%fd111,%fd112; mov.b64 %rd236,%fd113;
{ .reg .b32 tmp; mov.b64 {tmp,%r243},%rd236; } shfl.sync.down.b32 %r244,%r243,1,4111,65535;
cvt.u64.u32 %rd237,%r244; shl.b64 %rd238,%rd237,32; cvt.u32.u64 %r245,%rd236;
shfl.sync.down.b32 %r246,%r245,1,4111,65535; cvt.u64.u32 %rd239,%r246; or.b64 %rd240,%rd238,%rd239;
mov.b64 %fd114,%rd240; add.rn.f64 %fd115,%fd113,%fd114; mov.b64 %rd241,%fd115;
{ .reg .b32 tmp; mov.b64 {tmp,%r247},%rd241; } shfl.sync.idx.b32 %r82,%r247,0,4111,65535; cvt.u32.u64 %r248,%rd241;
shfl.sync.idx.b32 %r83,%r248,0,4111,65535; mov.b64 %rd242,%fd158; { .reg .b32 tmp; mov.b64 {tmp,%r249},%rd242; }
shfl.sync.down.b32 %r250,%r249,8,4111,65535; cvt.u64.u32 %rd243,%r250; shl.b64 %rd244,%rd243,32;
cvt.u32.u64 %r251,%rd242; shfl.sync.down.b32 %r252,%r251,8,4111,65535; cvt.u64.u32 %rd245,%r252;
or.b64 %rd246,%rd244,%rd245; mov.b64 %fd116,%rd246; add.rn.f64 %fd117,%fd158,%fd116; mov.b64 %rd247,%fd117;
{ .reg .b32 tmp; mov.b64 {tmp,%r253},%rd247; } shfl.sync.down.b32 %r254,%r253,4,4111,65535;
cvt.u64.u32 %rd248,%r254; shl.b64 %rd249,%rd248,32; cvt.u32.u64 %r255,%rd247;
shfl.sync.down.b32 %r256,%r255,4,4111,65535; cvt.u64.u32 %rd250,%r256; or.b64 %rd251,%rd249,%rd250;
mov.b64 %fd118,%rd251; add.rn.f64 %fd119,%fd117,%fd118; mov.b64 %rd252,%fd119;
{ .reg .b32 tmp; mov.b64 {tmp,%r257},%rd252; } shfl.sync.down.b32 %r258,%r257,2,4111,65535;
cvt.u64.u32 %rd253,%r258; shl.b64 %rd254,%rd253,32; cvt.u32.u64 %r259,%rd252;
shfl.sync.down.b32 %r260,%r259,2,4111,65535; cvt.u64.u32 %rd255,%r260; or.b64 %rd256,%rd254,%rd255;
mov.b64 %fd120,%rd256; add.rn.f64 %fd121,%fd119,%fd120; mov.b64 %rd257,%fd121;
{ .reg .b32 tmp; mov.b64 {tmp,%r261},%rd257; } shfl.sync.down.b32 %r262,%r261,1,4111,65535;
cvt.u64.u32 %rd258,%r262; shl.b64 %rd259,%rd258,32; cvt.u32.u64 %r263,%rd257;
shfl.sync.down.b32 %r264,%r263,1,4111,65535; cvt.u64.u32 %rd260,%r264; or.b64 %rd261,%rd259,%rd260;
mov.b64 %fd122,%rd261; add.rn.f64 %fd123,%fd121,%fd122; mov.b64 %rd262,%fd123;
{ .reg .b32 tmp; mov.b64 {tmp,%r265},%rd262; } shfl.sync.idx.b32 %r84,%r265,0,4111,65535; cvt.u32.u64 %r266,%rd262;
shfl.sync.idx.b32 %r85,%r266,0,4111,65535; mov.b64 %rd263,%fd159; { .reg .b32 tmp; mov.b64 {tmp,%r267},%rd263; }
shfl.sync.down.b32 %r268,%r267,8,4111,65535; cvt.u64.u32 %rd264,%r268; shl.b64 %rd265,%rd264,32;
cvt.u32.u64 %r269,%rd263; shfl.sync.down.b32 %r270,%r269,8,4111,65535; cvt.u64.u32 %rd266,%r270;
or.b64 %rd267,%rd265,%rd266; mov.b64 %fd124,%rd267; add.rn.f64 %fd125,%fd159,%fd124; mov.b64 %rd268,%fd125;
{ .reg .b32 tmp; mov.b64 {tmp,%r271},%rd268; } shfl.sync.down.b32 %r272,%r271,4,4111,65535;
cvt.u64.u32 %rd269,%r272; shl.b64 %rd270,%rd269,32; cvt.u32.u64 %r273,%rd268;
shfl.sync.down.b32 %r274,%r273,4,4111,65535; cvt.u64.u32 %rd271,%r274; or.b64 %rd272,%rd270,%rd271;
mov.b64 %fd126,%rd272; add.rn.f64 %fd127,%fd125,%fd126; mov.b64 %rd273,%fd127;
{ .reg .b32 tmp; mov.b64 {tmp,%r275},%rd273; } shfl.sync.down.b32 %r276,%r275,2,4111,65535;
cvt.u64.u32 %rd274,%r276; shl.b64 %rd275,%rd274,32; cvt.u32.u64 %r277,%rd273;
shfl.sync.down.b32 %r278,%r277,2,4111,65535; cvt.u64.u32 %rd276,%r278; or.b64 %rd277,%rd275,%rd276;
mov.b64 %fd128,%rd277; add.rn.f64 %fd129,%fd127,%fd128; mov.b64 %rd278,%fd129;
{ .reg .b32 tmp; mov.b64 {tmp,%r279},%rd278; } shfl.sync.down.b32 %r280,%r279,1,4111,65535;
cvt.u64.u32 %rd279,%r280; shl.b64 %rd280,%rd279,32; cvt.u32.u64 %r281,%rd278;
shfl.sync.down.b32 %r282,%r281,1,4111,65535; cvt.u64.u32 %rd281,%r282; or.b64 %rd282,%rd280,%rd281;
mov.b64 %fd130,%rd282; add.rn.f64 %fd131,%fd129,%fd130; mov.b64 %rd283,%fd131;
{ .reg .b32 tmp; mov.b64 {tmp,%r283},%rd283; } shfl.sync.idx.b32 %r86,%r283,0,4111,65535; cvt.u32.u64 %r284,%rd283;
shfl.sync.idx.b32 %r87,%r284,0,4111,65535; cvt.u32.u64 %r285,%rd306; and.b32 %r286,%r285,1048575;
shfl.sync.down.b32 %r287,%r286,8,4111,65535; add.s32 %r288,%r287,%r286; shfl.sync.down.b32 %r289,%r288,4,4111,65535;
add.s32 %r290,%r289,%r288; shfl.sync.down.b32 %r291,%r290,2,4111,65535; add.s32 %r292,%r291,%r290;
shfl.sync.down.b32 %r293,%r292,1,4111,65535; add.s32 %r294,%r293,%r292; shfl.sync.idx.b32 %r88,%r294,0,4111,65535;
shr.u64 %rd284,%rd306,20; cvt.u32.u64 %r295,%rd284; shfl.sync.down.b32 %r296,%r295,8,4111,65535;
add.s32 %r297,%r296,%r295; shfl.sync.down.b32 %r298,%r297,4,4111,65535; add.s32 %r299,%r298,%r297;
shfl.sync.down.b32 %r300,%r299,2,4111,65535; add.s32 %r301,%r300,%r299; shfl.sync.down.b32 %r302,%r301,1,4111,65535;
add.s32 %r303,%r302,%r301; shfl.sync.idx.b32 %r89,%r303,0,4111,65535; shfl.sync.down.b32 %r304,%r319,8,4111,65535;
add.s32 %r305,%r304,%r319; shfl.sync.down.b32 %r306,%r305,4,4111,65535; add.s32 %r307,%r306,%r305;
shfl.sync.down.b32 %r308,%r307,2,4111,65535; add.s32 %r309,%r308,%r307; shfl.sync.down.b32 %r310,%r309,1,4111,65535;
add.s32 %r311,%r310,%r309; shfl.sync.idx.b32 %r90,%r311,0,4111,65535; setp.ne.s32 %p175,%r1,0;
@%p175 bra $L__BB0_207; mul.lo.s64 %rd146,%rd2,152; add.s64 %rd8,%rd1,%rd146; cvt.u64.u32 %rd285,%r88;
cvt.u64.u32 %rd286,%r86; shl.b64 %rd287,%rd286,32; cvt.u64.u32 %rd288,%r87; or.b64 %rd289,%rd287,%rd288;
cvt.u64.u32 %rd290,%r84; shl.b64 %rd291,%rd290,32; cvt.u64.u32 %rd292,%r85; or.b64 %rd293,%rd291,%rd292;
cvt.u64.u32 %rd294,%r82; shl.b64 %rd295,%rd294,32; cvt.u64.u32 %rd296,%r83; or.b64 %rd297,%rd295,%rd296;
st.global.u64 [%rd8+112],%rd297; st.global.u64 [%rd8+120],%rd293; st.global.u64 [%rd8+128],%rd289;
mul.wide.u32 %rd298,%r89,1048576; add.s64 %rd299,%rd298,%rd285; st.global.u64 [%rd8+136],%rd299;
setp.eq.s32 %p176,%r90,0; selp.u64 %rd300,1,0,%p176; st.global.u64 [%rd8+144],%rd300; bra.uni $L__BB0_207;
$L__BB0_218: add.s64 %rd308,%rd38,1; $L__BB0_204: add.s64 %rd330,%rd308,1; $L__BB0_205: mov.u64 %rd82,%rd334;
mov.u64 %rd334,%rd333; mov.u64 %rd333,%rd332; mov.u64 %rd332,%rd331; and.b64 %rd122,%rd330,3;
setp.ne.s64 %p16,%rd122,1; add.s64 %rd330,%rd330,1; mov.u64 %rd331,%rd82; @%p16 bra $L__BB0_205;
xor.b64 %rd123,%rd82,%rd334; mul.lo.s64 %rd124,%rd123,-7046029254386353131;
mul.lo.s64 %rd125,%rd123,3452378011804893184; shr.u64 %rd126,%rd124,35; or.b64 %rd127,%rd126,%rd125;
xor.b64 %rd128,%rd333,%rd332; mul.lo.s64 %rd129,%rd128,-7046029254386353131;
mul.lo.s64 %rd130,%rd128,3452378011804893184; shr.u64 %rd131,%rd129,35; or.b64 %rd132,%rd131,%rd130;
xor.b64 %rd133,%rd127,%rd132; mul.lo.s64 %rd134,%rd133,-7046029254386353131;
mul.lo.s64 %rd135,%rd133,3452378011804893184; shr.u64 %rd136,%rd134,35; or.b64 %rd137,%rd136,%rd135;
shr.u64 %rd138,%rd135,32; xor.b64 %rd139,%rd137,%rd138; mul.lo.s64 %rd140,%rd139,-2960836687051489901;
shr.u64 %rd141,%rd140,32; xor.b64 %rd142,%rd141,%rd140; mul.lo.s64 %rd143,%rd2,152; add.s64 %rd144,%rd1,%rd143;
st.global.u64 [%rd144+104],%rd142; $L__BB0_207: ret; }
)ptx";
// clang-format on

}  // namespace spotter::inline SPOTTER_ABI::detail::cuda_pass

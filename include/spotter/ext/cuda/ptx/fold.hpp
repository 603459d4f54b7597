// SPDX-License-Identifier: Apache-2.0
// Ext (L6): Kernels as the driver compiles them; made by tools/cuda/make_ptx.py of tools/cuda/kernels.cpp.
#pragma once

#include <spotter/config.hpp>

namespace spotter::inline SPOTTER_ABI::detail::cuda_pass {

// clang-format off
inline constexpr char fold_ptx[] = R"ptx(
.version 6.0 .target sm_70 .address_size 64 .visible .entry spotter_fold( .param .align 8 .b8 p0[3072],
.param .u64 p1, .param .u64 p2 ) { .reg .pred %p<19>; .reg .b32 %r<72>; .reg .b64 %rd<175>; .reg .f64 %fd<138>;
mov.b64 %rd45,p0; ld.param.u64 %rd46,[p2]; cvta.to.global.u64 %rd1,%rd46; ld.param.u64 %rd47,[p1];
cvta.to.global.u64 %rd2,%rd47; mov.u64 %rd3,%rd45; mov.u32 %r1,%ctaid.x; mov.u32 %r2,%tid.x; setp.gt.u32 %p1,%r2,15;
@%p1 bra $L__BB0_10; mul.wide.u32 %rd65,%r1,48; add.s64 %rd4,%rd3,%rd65; ld.param.u64 %rd66,[%rd4+8];
add.s64 %rd6,%rd66,1023; setp.lt.u64 %p14,%rd6,1024; mov.f64 %fd114,0d0000000000000000; mov.f64 %fd115,%fd114;
mov.f64 %fd116,%fd114; @%p14 bra $L__BB0_8; shr.u64 %rd7,%rd6,10; ld.param.u64 %rd8,[%rd4+24];
mul.lo.s64 %rd69,%rd8,456; cvt.u64.u32 %rd10,%r2; setp.eq.s64 %p15,%rd7,1; mov.u64 %rd160,0;
mov.f64 %fd116,0d0000000000000000; shl.b64 %rd157,%rd10,3; mov.f64 %fd115,%fd116; mov.f64 %fd114,%fd116;
@%p15 bra $L__BB0_6; and.b64 %rd72,%rd7,18014398509481982; neg.s64 %rd11,%rd72; add.s64 %rd75,%rd69,%rd157;
add.s64 %rd76,%rd75,%rd2; add.s64 %rd158,%rd76,456; mov.f64 %fd116,0d0000000000000000; mov.u64 %rd159,0;
mov.f64 %fd115,%fd116; mov.f64 %fd114,%fd116; $L__BB0_4: ld.global.f64 %fd69,[%rd158+-456];
add.rn.f64 %fd70,%fd114,%fd69; ld.global.f64 %fd71,[%rd158+-328]; add.rn.f64 %fd72,%fd115,%fd71;
ld.global.f64 %fd73,[%rd158+-200]; add.rn.f64 %fd74,%fd116,%fd73; ld.global.f64 %fd75,[%rd158];
add.rn.f64 %fd114,%fd70,%fd75; ld.global.f64 %fd76,[%rd158+128]; add.rn.f64 %fd115,%fd72,%fd76;
ld.global.f64 %fd77,[%rd158+256]; add.rn.f64 %fd116,%fd74,%fd77; add.s64 %rd159,%rd159,-2;
add.s64 %rd158,%rd158,912; setp.ne.s64 %p16,%rd11,%rd159; @%p16 bra $L__BB0_4; neg.s64 %rd160,%rd159; $L__BB0_6:
and.b64 %rd77,%rd6,1024; setp.eq.s64 %p17,%rd77,0; @%p17 bra $L__BB0_8; add.s64 %rd9,%rd2,%rd69;
mul.lo.s64 %rd78,%rd160,456; add.s64 %rd79,%rd9,%rd78; add.s64 %rd81,%rd79,%rd157; ld.global.f64 %fd78,[%rd81];
add.rn.f64 %fd114,%fd114,%fd78; ld.global.f64 %fd79,[%rd81+128]; add.rn.f64 %fd115,%fd115,%fd79;
ld.global.f64 %fd80,[%rd81+256]; add.rn.f64 %fd116,%fd116,%fd80; $L__BB0_8: mov.b64 %rd82,%fd114;
{ .reg .b32 tmp; mov.b64 {tmp,%r16},%rd82; } shfl.sync.down.b32 %r17,%r16,8,4111,65535; cvt.u64.u32 %rd83,%r17;
shl.b64 %rd84,%rd83,32; cvt.u32.u64 %r18,%rd82; shfl.sync.down.b32 %r19,%r18,8,4111,65535; cvt.u64.u32 %rd85,%r19;
or.b64 %rd86,%rd84,%rd85; mov.b64 %fd81,%rd86; add.rn.f64 %fd82,%fd114,%fd81; mov.b64 %rd87,%fd82;
{ .reg .b32 tmp; mov.b64 {tmp,%r20},%rd87; } shfl.sync.down.b32 %r21,%r20,4,4111,65535; cvt.u64.u32 %rd88,%r21;
shl.b64 %rd89,%rd88,32; cvt.u32.u64 %r22,%rd87; shfl.sync.down.b32 %r23,%r22,4,4111,65535; cvt.u64.u32 %rd90,%r23;
or.b64 %rd91,%rd89,%rd90; mov.b64 %fd83,%rd91; add.rn.f64 %fd84,%fd82,%fd83; mov.b64 %rd92,%fd84;
{ .reg .b32 tmp; mov.b64 {tmp,%r24},%rd92; } shfl.sync.down.b32 %r25,%r24,2,4111,65535; cvt.u64.u32 %rd93,%r25;
shl.b64 %rd94,%rd93,32; cvt.u32.u64 %r26,%rd92; shfl.sync.down.b32 %r27,%r26,2,4111,65535; cvt.u64.u32 %rd95,%r27;
or.b64 %rd96,%rd94,%rd95; mov.b64 %fd85,%rd96; add.rn.f64 %fd86,%fd84,%fd85; mov.b64 %rd97,%fd86;
{ .reg .b32 tmp; mov.b64 {tmp,%r28},%rd97; } shfl.sync.down.b32 %r29,%r28,1,4111,65535; cvt.u64.u32 %rd98,%r29;
shl.b64 %rd99,%rd98,32; cvt.u32.u64 %r30,%rd97; shfl.sync.down.b32 %r31,%r30,1,4111,65535; cvt.u64.u32 %rd100,%r31;
or.b64 %rd101,%rd99,%rd100; mov.b64 %fd87,%rd101; add.rn.f64 %fd88,%fd86,%fd87; mov.b64 %rd102,%fd88;
{ .reg .b32 tmp; mov.b64 {tmp,%r32},%rd102; } shfl.sync.idx.b32 %r3,%r32,0,4111,65535; cvt.u32.u64 %r33,%rd102;
shfl.sync.idx.b32 %r4,%r33,0,4111,65535; mov.b64 %rd103,%fd115; { .reg .b32 tmp; mov.b64 {tmp,%r34},%rd103; }
shfl.sync.down.b32 %r35,%r34,8,4111,65535; cvt.u64.u32 %rd104,%r35; shl.b64 %rd105,%rd104,32;
cvt.u32.u64 %r36,%rd103; shfl.sync.down.b32 %r37,%r36,8,4111,65535; cvt.u64.u32 %rd106,%r37;
or.b64 %rd107,%rd105,%rd106; mov.b64 %fd89,%rd107; add.rn.f64 %fd90,%fd115,%fd89; mov.b64 %rd108,%fd90;
{ .reg .b32 tmp; mov.b64 {tmp,%r38},%rd108; } shfl.sync.down.b32 %r39,%r38,4,4111,65535; cvt.u64.u32 %rd109,%r39;
shl.b64 %rd110,%rd109,32; cvt.u32.u64 %r40,%rd108; shfl.sync.down.b32 %r41,%r40,4,4111,65535;
cvt.u64.u32 %rd111,%r41; or.b64 %rd112,%rd110,%rd111; mov.b64 %fd91,%rd112; add.rn.f64 %fd92,%fd90,%fd91;
mov.b64 %rd113,%fd92; { .reg .b32 tmp; mov.b64 {tmp,%r42},%rd113; } shfl.sync.down.b32 %r43,%r42,2,4111,65535;
cvt.u64.u32 %rd114,%r43; shl.b64 %rd115,%rd114,32; cvt.u32.u64 %r44,%rd113;
shfl.sync.down.b32 %r45,%r44,2,4111,65535; cvt.u64.u32 %rd116,%r45; or.b64 %rd117,%rd115,%rd116;
mov.b64 %fd93,%rd117; add.rn.f64 %fd94,%fd92,%fd93; mov.b64 %rd118,%fd94;
{ .reg .b32 tmp; mov.b64 {tmp,%r46},%rd118; } shfl.sync.down.b32 %r47,%r46,1,4111,65535; cvt.u64.u32 %rd119,%r47;
shl.b64 %rd120,%rd119,32; cvt.u32.u64 %r48,%rd118; shfl.sync.down.b32 %r49,%r48,1,4111,65535;
cvt.u64.u32 %rd121,%r49; or.b64 %rd122,%rd120,%rd121; mov.b64 %fd95,%rd122; add.rn.f64 %fd96,%fd94,%fd95;
mov.b64 %rd123,%fd96; { .reg .b32 tmp; mov.b64 {tmp,%r50},%rd123; } shfl.sync.idx.b32 %r5,%r50,0,4111,65535;
cvt.u32.u64 %r51,%rd123; shfl.sync.idx.b32 %r6,%r51,0,4111,65535; mov.b64 %rd124,%fd116;
{ .reg .b32 tmp; mov.b64 {tmp,%r52},%rd124; } shfl.sync.down.b32 %r53,%r52,8,4111,65535; cvt.u64.u32 %rd125,%r53;
shl.b64 %rd126,%rd125,32; cvt.u32.u64 %r54,%rd124; shfl.sync.down.b32 %r55,%r54,8,4111,65535;
cvt.u64.u32 %rd127,%r55; or.b64 %rd128,%rd126,%rd127; mov.b64 %fd97,%rd128; add.rn.f64 %fd98,%fd116,%fd97;
mov.b64 %rd129,%fd98; { .reg .b32 tmp; mov.b64 {tmp,%r56},%rd129; } shfl.sync.down.b32 %r57,%r56,4,4111,65535;
cvt.u64.u32 %rd130,%r57; shl.b64 %rd131,%rd130,32; cvt.u32.u64 %r58,%rd129;
shfl.sync.down.b32 %r59,%r58,4,4111,65535; cvt.u64.u32 %rd132,%r59; or.b64 %rd133,%rd131,%rd132;
mov.b64 %fd99,%rd133; add.rn.f64 %fd100,%fd98,%fd99; mov.b64 %rd134,%fd100;
{ .reg .b32 tmp; mov.b64 {tmp,%r60},%rd134; } shfl.sync.down.b32 %r61,%r60,2,4111,65535; cvt.u64.u32 %rd135,%r61;
shl.b64 %rd136,%rd135,32; cvt.u32.u64 %r62,%rd134; shfl.sync.down.b32 %r63,%r62,2,4111,65535;
cvt.u64.u32 %rd137,%r63; or.b64 %rd138,%rd136,%rd137; mov.b64 %fd101,%rd138; add.rn.f64 %fd102,%fd100,%fd101;
mov.b64 %rd139,%fd102; { .reg .b32 tmp; mov.b64 {tmp,%r64},%rd139; } shfl.sync.down.b32 %r65,%r64,1,4111,65535;
cvt.u64.u32 %rd140,%r65; shl.b64 %rd141,%rd140,32; cvt.u32.u64 %r66,%rd139;
shfl.sync.down.b32 %r67,%r66,1,4111,65535; cvt.u64.u32 %rd142,%r67; or.b64 %rd143,%rd141,%rd142;
mov.b64 %fd103,%rd143; add.rn.f64 %fd104,%fd102,%fd103; mov.b64 %rd144,%fd104;
{ .reg .b32 tmp; mov.b64 {tmp,%r68},%rd144; } shfl.sync.idx.b32 %r7,%r68,0,4111,65535; cvt.u32.u64 %r69,%rd144;
shfl.sync.idx.b32 %r8,%r69,0,4111,65535; setp.ne.s32 %p18,%r2,0; @%p18 bra $L__BB0_25; mul.wide.u32 %rd67,%r1,152;
add.s64 %rd5,%rd1,%rd67; cvt.u64.u32 %rd145,%r7; shl.b64 %rd146,%rd145,32; cvt.u64.u32 %rd147,%r8;
or.b64 %rd148,%rd146,%rd147; cvt.u64.u32 %rd149,%r5; shl.b64 %rd150,%rd149,32; cvt.u64.u32 %rd151,%r6;
or.b64 %rd152,%rd150,%rd151; cvt.u64.u32 %rd153,%r3; shl.b64 %rd154,%rd153,32; cvt.u64.u32 %rd155,%r4;
or.b64 %rd156,%rd154,%rd155; st.global.u64 [%rd5],%rd156; st.global.u64 [%rd5+8],%rd152;
st.global.u64 [%rd5+16],%rd148; bra.uni $L__BB0_25; $L__BB0_10: setp.ne.s32 %p2,%r2,32; @%p2 bra $L__BB0_25;
mul.wide.u32 %rd50,%r1,48; add.s64 %rd19,%rd3,%rd50; ld.param.u64 %rd51,[%rd19+8]; mul.wide.u32 %rd52,%r1,152;
add.s64 %rd20,%rd1,%rd52; add.s64 %rd53,%rd51,1023; setp.lt.u64 %p3,%rd53,1024; mov.u64 %rd169,-1; mov.u64 %rd170,0;
mov.f64 %fd126,0d0000000000000000; mov.f64 %fd127,%fd126; mov.f64 %fd128,%fd126; mov.f64 %fd129,%fd126;
mov.f64 %fd130,%fd126; mov.u64 %rd171,%rd170; mov.u64 %rd173,%rd170; mov.u64 %rd174,%rd170; @%p3 bra $L__BB0_24;
bra.uni $L__BB0_12; $L__BB0_24: st.global.u64 [%rd20+96],%rd174; st.global.u64 [%rd20+64],%rd173;
st.global.u64 [%rd20+72],%rd170; st.global.u64 [%rd20+80],%rd171; st.global.u64 [%rd20+88],%rd169;
st.global.f64 [%rd20+32],%fd129; st.global.f64 [%rd20+40],%fd128; st.global.f64 [%rd20+48],%fd126;
st.global.f64 [%rd20+56],%fd127; st.global.f64 [%rd20+24],%fd130; $L__BB0_25: ret; $L__BB0_12:
shr.u64 %rd163,%rd53,10; ld.param.u64 %rd56,[%rd19+24]; mul.lo.s64 %rd57,%rd56,456; add.s64 %rd58,%rd57,%rd2;
add.s64 %rd161,%rd58,452; mov.b32 %r71,0; mov.f64 %fd132,0d0000000000000000; mov.u64 %rd169,-1; mov.u64 %rd162,0;
mov.u64 %rd174,%rd162; mov.u64 %rd173,%rd162; mov.u64 %rd171,%rd162; mov.u64 %rd170,%rd162; mov.f64 %fd131,%fd132;
mov.f64 %fd130,%fd132; mov.f64 %fd129,%fd132; mov.f64 %fd128,%fd132; mov.f64 %fd127,%fd132; mov.f64 %fd126,%fd132;
bra.uni $L__BB0_13; $L__BB0_22: selp.f64 %fd129,%fd50,%fd52,%p7; selp.f64 %fd126,%fd27,%fd53,%p7;
add.s32 %r71,%r71,1; cvt.rn.f64.u32 %fd54,%r10; ld.global.f64 %fd55,[%rd161+-28]; ld.global.f64 %fd56,[%rd161+-36];
add.rn.f64 %fd33,%fd132,%fd54; sub.rn.f64 %fd57,%fd56,%fd131; div.rn.f64 %fd58,%fd54,%fd33;
mul.rn.f64 %fd59,%fd58,%fd57; mul.rn.f64 %fd60,%fd57,%fd57; mul.rn.f64 %fd61,%fd132,%fd54;
div.rn.f64 %fd62,%fd61,%fd33; mul.rn.f64 %fd63,%fd62,%fd60; add.rn.f64 %fd131,%fd131,%fd59;
add.rn.f64 %fd64,%fd55,%fd63; add.rn.f64 %fd130,%fd130,%fd64; mov.f64 %fd127,%fd125; mov.f64 %fd128,%fd124;
mov.f64 %fd132,%fd33; $L__BB0_23: ld.global.u32 %rd59,[%rd161+-16]; add.s64 %rd174,%rd174,%rd59;
ld.global.v2.u32 {%r14,%r15},[%rd161+-12]; cvt.u64.u32 %rd60,%r14; add.s64 %rd173,%rd173,%rd60;
cvt.u64.u32 %rd61,%r15; add.s64 %rd170,%rd170,%rd61; ld.global.u32 %rd62,[%rd161+-4]; add.s64 %rd171,%rd171,%rd62;
add.s64 %rd163,%rd163,-1; add.s64 %rd162,%rd162,1024; add.s64 %rd161,%rd161,456; setp.ne.s64 %p13,%rd163,0;
@%p13 bra $L__BB0_13; bra.uni $L__BB0_24; $L__BB0_13: setp.ne.s64 %p4,%rd169,-1; @%p4 bra $L__BB0_15;
ld.global.u32 %rd63,[%rd161]; setp.lt.u64 %p5,%rd63,1024; add.s64 %rd64,%rd162,%rd63; selp.b64 %rd169,%rd64,-1,%p5;
$L__BB0_15: ld.global.u32 %r10,[%rd161+-20]; setp.eq.s32 %p6,%r10,0; @%p6 bra $L__BB0_23;
ld.global.f64 %fd50,[%rd161+-68]; ld.global.f64 %fd26,[%rd161+-60]; setp.eq.s32 %p7,%r71,0;
setp.lt.f64 %p8,%fd50,%fd129; mov.f64 %fd124,%fd26; @%p7 bra $L__BB0_19; setp.leu.f64 %p9,%fd26,%fd128;
mov.f64 %fd124,%fd128; @%p9 bra $L__BB0_19; mov.f64 %fd124,%fd26; $L__BB0_19: selp.f64 %fd52,%fd50,%fd129,%p8;
ld.global.f64 %fd27,[%rd161+-52]; ld.global.f64 %fd28,[%rd161+-44]; setp.lt.f64 %p11,%fd27,%fd126;
selp.f64 %fd53,%fd27,%fd126,%p11; mov.f64 %fd125,%fd28; @%p7 bra $L__BB0_22; setp.leu.f64 %p12,%fd28,%fd127;
mov.f64 %fd125,%fd127; @%p12 bra $L__BB0_22; mov.f64 %fd125,%fd28; bra.uni $L__BB0_22; }
)ptx";
// clang-format on

}  // namespace spotter::inline SPOTTER_ABI::detail::cuda_pass

// SPDX-License-Identifier: Apache-2.0
// Kernels as the driver compiles them; made by tools/cuda/make_ptx.py of examples/cuda/kernels.cpp.
#pragma once

namespace example_cuda {

// clang-format off
inline constexpr char ptx[] = R"ptx(
.version 6.0 .target sm_70 .address_size 64 .visible .entry train_backward( .param .u64 p0, .param .u64 p1,
.param .u64 p2, .param .u64 p3, .param .u64 p4 ) { .reg .pred %p<3>; .reg .b32 %r<4>; .reg .f32 %f<78>;
.reg .b64 %rd<29>; ld.param.u64 %rd11,[p0]; ld.param.u64 %rd12,[p4]; cvta.to.global.u64 %rd13,%rd12;
ld.param.u64 %rd14,[p1]; ld.param.u64 %rd16,[p2]; cvta.to.global.u64 %rd2,%rd16; cvta.to.global.u64 %rd3,%rd14;
cvta.to.global.u64 %rd27,%rd11; mov.u32 %r1,%tid.x; shl.b32 %r2,%r1,3; mul.wide.u32 %rd17,%r2,4;
add.s64 %rd18,%rd27,%rd17; ld.global.f32 %f11,[%rd18]; ld.global.f32 %f12,[%rd2]; mul.rn.f32 %f13,%f11,%f12;
add.rn.f32 %f14,%f13,0f00000000; ld.global.f32 %f15,[%rd18+4]; ld.global.f32 %f16,[%rd2+4];
mul.rn.f32 %f17,%f15,%f16; add.rn.f32 %f18,%f14,%f17; ld.global.f32 %f19,[%rd18+8]; ld.global.f32 %f20,[%rd2+8];
mul.rn.f32 %f21,%f19,%f20; add.rn.f32 %f22,%f18,%f21; ld.global.f32 %f23,[%rd18+12]; ld.global.f32 %f24,[%rd2+12];
mul.rn.f32 %f25,%f23,%f24; add.rn.f32 %f26,%f22,%f25; ld.global.f32 %f27,[%rd18+16]; ld.global.f32 %f28,[%rd2+16];
mul.rn.f32 %f29,%f27,%f28; add.rn.f32 %f30,%f26,%f29; ld.global.f32 %f31,[%rd18+20]; ld.global.f32 %f32,[%rd2+20];
mul.rn.f32 %f33,%f31,%f32; add.rn.f32 %f34,%f30,%f33; ld.global.f32 %f35,[%rd18+24]; ld.global.f32 %f36,[%rd2+24];
mul.rn.f32 %f37,%f35,%f36; add.rn.f32 %f38,%f34,%f37; ld.global.f32 %f39,[%rd18+28]; ld.global.f32 %f40,[%rd2+28];
mul.rn.f32 %f41,%f39,%f40; add.rn.f32 %f42,%f38,%f41; mul.wide.u32 %rd19,%r1,4; add.s64 %rd20,%rd3,%rd19;
ld.global.f32 %f43,[%rd20]; sub.rn.f32 %f44,%f42,%f43; mul.rn.f32 %f45,%f44,%f44; add.s64 %rd21,%rd13,%rd19;
st.global.f32 [%rd21],%f45; setp.gt.u32 %p1,%r1,7; @%p1 bra $L__BB0_4; ld.param.u64 %rd15,[p3];
cvta.to.global.u64 %rd1,%rd15; cvt.u64.u32 %rd5,%r1; ld.global.f32 %f1,[%rd2]; ld.global.f32 %f2,[%rd2+4];
ld.global.f32 %f3,[%rd2+8]; ld.global.f32 %f4,[%rd2+12]; ld.global.f32 %f5,[%rd2+16]; ld.global.f32 %f6,[%rd2+20];
ld.global.f32 %f7,[%rd2+24]; ld.global.f32 %f8,[%rd2+28]; shl.b64 %rd6,%rd5,2; mov.f32 %f77,0f00000000;
mov.u64 %rd28,0; $L__BB0_2: ld.global.f32 %f47,[%rd27]; mul.rn.f32 %f48,%f1,%f47; add.rn.f32 %f49,%f48,0f00000000;
ld.global.f32 %f50,[%rd27+4]; mul.rn.f32 %f51,%f2,%f50; add.rn.f32 %f52,%f49,%f51; ld.global.f32 %f53,[%rd27+8];
mul.rn.f32 %f54,%f3,%f53; add.rn.f32 %f55,%f52,%f54; ld.global.f32 %f56,[%rd27+12]; mul.rn.f32 %f57,%f4,%f56;
add.rn.f32 %f58,%f55,%f57; ld.global.f32 %f59,[%rd27+16]; mul.rn.f32 %f60,%f5,%f59; add.rn.f32 %f61,%f58,%f60;
ld.global.f32 %f62,[%rd27+20]; mul.rn.f32 %f63,%f6,%f62; add.rn.f32 %f64,%f61,%f63; ld.global.f32 %f65,[%rd27+24];
mul.rn.f32 %f66,%f7,%f65; add.rn.f32 %f67,%f64,%f66; ld.global.f32 %f68,[%rd27+28]; mul.rn.f32 %f69,%f8,%f68;
add.rn.f32 %f70,%f67,%f69; add.s64 %rd23,%rd3,%rd28; ld.global.f32 %f71,[%rd23]; sub.rn.f32 %f72,%f70,%f71;
add.rn.f32 %f73,%f72,%f72; add.s64 %rd24,%rd27,%rd6; ld.global.f32 %f74,[%rd24]; mul.rn.f32 %f75,%f74,%f73;
mul.rn.f32 %f76,%f75,0f3B800000; add.rn.f32 %f77,%f77,%f76; add.s64 %rd28,%rd28,4; cvt.u32.u64 %r3,%rd28;
add.s64 %rd27,%rd27,32; setp.ne.s32 %p2,%r3,1024; @%p2 bra $L__BB0_2; add.s64 %rd26,%rd1,%rd6;
st.global.f32 [%rd26],%f77; $L__BB0_4: ret; } .visible .entry train_update( .param .u64 p0, .param .u64 p1,
.param .f32 p2 ) { .reg .pred %p<2>; .reg .b32 %r<2>; .reg .f32 %f<6>; .reg .b64 %rd<8>; mov.u32 %r1,%tid.x;
setp.gt.u32 %p1,%r1,7; @%p1 bra $L__BB1_2; ld.param.f32 %f1,[p2]; ld.param.u64 %rd3,[p0]; ld.param.u64 %rd4,[p1];
cvta.to.global.u64 %rd1,%rd4; cvta.to.global.u64 %rd2,%rd3; mul.wide.u32 %rd5,%r1,4; add.s64 %rd6,%rd1,%rd5;
ld.global.f32 %f2,[%rd6]; mul.rn.f32 %f3,%f2,%f1; add.s64 %rd7,%rd2,%rd5; ld.global.f32 %f4,[%rd7];
sub.rn.f32 %f5,%f4,%f3; st.global.f32 [%rd7],%f5; $L__BB1_2: ret; }
)ptx";
// clang-format on

}  // namespace example_cuda

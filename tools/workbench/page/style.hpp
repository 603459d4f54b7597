// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the style sheet: for phones, large screens, paper, light and dark mode.
#pragma once

#include <spotter/config.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI::html {

// Line colours are distinguishable for colour-blind readers too; the heat ramp gets lighter from end to end.
inline constexpr std::string_view style = R"css(
:root{color-scheme:light dark;--paper:#fff;--card:#f7f7f5;--ink:#1d2125;--soft:#5c656e;--rule:#dcdfe2;--good:#146c43;
--open:#0b5fa5;
--error:#b3261e;--warning:#8a5300;--note:#0b5fa5;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b5568f;--c4:#b08900;
--c5:#4a4a4a;
--zero:#c9ccd0;--bad:#e0218a;--hit:0,114,178;--miss:213,94,0}
@media screen and (prefers-color-scheme:dark){:root{--paper:#14171a;--card:#1c2024;--ink:#e6e8ea;--soft:#9aa4ae;
--rule:#363c42;--good:#63c98f;
--open:#74b9f2;--error:#ff8f85;--warning:#f0b45a;--note:#74b9f2;--c0:#56b4e9;--c1:#f28b4b;--c2:#3fc99a;--c3:#e08fc0;
--c4:#e5c34a;--c5:#c4c8cc;
--zero:#4a5057;--bad:#ff5cb3;--hit:86,180,233;--miss:242,139,75}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:0 16px 48px;max-width:1120px;font:16px/1.5 system-ui,sans-serif;background:var(--paper);
color:var(--ink)}
h1{font-size:1.7rem;margin:24px 0 0;overflow-wrap:anywhere}
h2{font-size:1.3rem;margin:40px 0 12px;padding-top:12px;border-top:2px solid var(--rule)}
h3{font-size:1.05rem;margin:20px 0 8px;overflow-wrap:anywhere}p,ul{margin:6px 0}ul{padding-left:22px}
li,p,summary{overflow-wrap:anywhere}
code{font:.92em ui-monospace,monospace;overflow-wrap:anywhere}a{color:var(--c0)}
.path,p.note,span.note{color:var(--soft);font-size:.85rem;font-weight:400}.path{margin:0;overflow-wrap:anywhere}
nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin:16px 0;font-size:.92rem}
.heads{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr));gap:0 32px}.head{min-width:0}
.verdict{font-size:1.1rem;font-weight:600;margin:12px 0;padding-left:12px;border-left:5px solid var(--open);
overflow-wrap:anywhere}
.verdict.good{border-color:var(--good)}.verdict.bad{border-color:var(--error)}
.verdict.warned{border-color:var(--warning)}
.notice{background:var(--card);border:1px solid var(--warning);border-radius:6px;padding:8px 12px;
overflow-wrap:anywhere}
dl{display:flex;flex-wrap:wrap;gap:8px 28px;margin:12px 0}dl div{min-width:0}dt{color:var(--soft);font-size:.8rem}
dd{margin:0;overflow-wrap:anywhere}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,440px),1fr));gap:16px}
.grid.small{grid-template-columns:repeat(auto-fill,minmax(min(100%,240px),1fr))}
.across{display:none}@media screen and (min-width:900px){.alone figure{display:none}.alone .across{display:block}}
figure{margin:0;min-width:0}figure.heat{margin:0 0 24px}figcaption{font-size:.9rem;overflow-wrap:anywhere}
figcaption .note{display:block}
svg{display:block;width:100%;height:auto}svg text{font:12.5px system-ui,sans-serif;fill:var(--soft)}
.end{text-anchor:end}.mid{text-anchor:middle}.grid path.grid,path.grid{stroke:var(--rule);fill:none}
.axis{stroke:var(--soft);fill:none}
.line,.dot{fill:none;stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}.dot{stroke-width:5}
.line.strong{stroke-width:3.2}.key i.strong{border-top-width:5px}.plain .marked>*{font-weight:700;color:var(--warning)}
.dashed,.dash1{stroke-dasharray:5 4}.dash2{stroke-dasharray:1.5 3.5}
.band{opacity:.28;stroke-width:.6}.limit{stroke:var(--error);stroke-dasharray:7 4;fill:none}
.bad{stroke:var(--bad);stroke-width:2;fill:none}
.stretch{fill:var(--bad);opacity:.16}.hover path{fill:transparent}.hover path:hover{fill:var(--ink);fill-opacity:.09}
.line,.dot,.band,.stretch{pointer-events:none}
svg .number{fill:var(--c)}
.smooth{display:none;stroke-width:2.4}#smooth:checked~main .smooth{display:inline}#smooth:checked~main .raw{opacity:.3}
.switch{font-size:.92rem}
.mark path{stroke-width:1.2;stroke-dasharray:2 3;fill:none}.mark .head{stroke:none}
.mark.error path{stroke:var(--error)}.mark.warning path{stroke:var(--warning)}.mark.note path{stroke:var(--note)}
.mark.error .head{fill:var(--error)}.mark.warning .head{fill:var(--warning)}.mark.note .head{fill:var(--note)}
.key{display:inline-block;max-width:100%;overflow-wrap:anywhere;font-size:.85rem;color:var(--soft);margin-right:6px}
.key i{display:inline-block;width:16px;height:0;border-top:3px solid;margin-right:4px;vertical-align:middle}
.key i.dash1{border-top-style:dashed}.key i.dash2{border-top-style:dotted}
.key i.limit{border-top:2px dashed var(--error)}
.key i.box{height:12px;width:12px;border:0}
.finding{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr));gap:8px 24px;
background:var(--card);border-left:5px solid var(--note);border-radius:4px;padding:12px 16px;margin:0 0 12px}
.finding>div{min-width:0}.finding h3{margin:0 0 4px}.finding.error{border-color:var(--error)}
.finding.warning{border-color:var(--warning)}
.finding>details{grid-column:1/-1;margin:0}.finding .finding{padding:8px 0 8px 12px;margin:8px 0 0}
.tag{font-size:.78rem;text-transform:uppercase;letter-spacing:.04em;border:1px solid;border-radius:4px;padding:1px 6px;
vertical-align:middle}
.error .tag{color:var(--error)}.warning .tag{color:var(--warning)}.finding.note .tag{color:var(--note)}
.finding.note{color:inherit;font-size:inherit}
.measure b{font-size:1.15rem}.remedy{font-style:italic}.remedy::before{content:"→ ";font-style:normal}
details{margin:8px 0}summary{cursor:pointer}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
.plain td,.plain th{padding:3px 12px 3px 0;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule);
vertical-align:top}.plain th,.plain.left td{text-align:left}.plain th{font-weight:400}
.plain.sections .share{min-width:160px;width:30%}.runs .text{text-align:left;white-space:normal;min-width:200px}
.runs .long{min-width:220px}.plain.pairs th{text-align:left;white-space:normal}
.plain thead td,.plain thead th{color:var(--soft);font-size:.82rem}
.plain.left td,.plain.left th{white-space:normal;overflow-wrap:anywhere;min-width:90px}
.plain.examined td:nth-child(2),.plain.examined th{white-space:nowrap}
.heat table{width:100%;table-layout:fixed}
.heat th{width:26%;font-weight:400;text-align:right;padding-right:8px;overflow:hidden;text-overflow:ellipsis;
white-space:nowrap}
.heat td:last-child{width:84px;padding-left:8px;color:var(--soft);white-space:nowrap}
.heat svg{height:17px;shape-rendering:crispEdges}.heat .blamed th{font-weight:700;color:var(--error)}
.heat td{padding:1px 0}.ends{display:flex;justify-content:space-between}.heat tfoot{color:var(--soft);font-size:.82rem}
.ramp{white-space:nowrap;font-size:.85rem;color:var(--soft)}
.ramp i{display:inline-block;width:12px;height:12px;vertical-align:-1px}
.ridge{fill-opacity:.82;stroke:var(--paper);stroke-width:1}
.confusion td,.confusion th{padding:3px 7px;text-align:center;min-width:30px}
.confusion th{font-weight:400;color:var(--soft)}.confusion thead th{vertical-align:bottom}
.confusion .label{text-align:right;white-space:nowrap}
.upright{writing-mode:vertical-rl;transform:rotate(180deg);white-space:nowrap}.sum{color:var(--soft)}
.balance{width:100%;table-layout:fixed}.balance td{vertical-align:middle}
.balance th{width:44px;font-weight:400;text-align:right;padding-right:8px}
.balance td:last-child{width:96px;padding-left:8px;color:var(--soft);white-space:nowrap}
.balance.named th{width:34%;white-space:normal;overflow-wrap:anywhere}
.bar{display:block;height:9px;border-radius:2px;min-width:1px}.bar.thin{height:4px;margin-top:1px}
.gallery{display:grid;grid-template-columns:repeat(auto-fill,minmax(112px,1fr));gap:12px}
.sample img{width:100%;image-rendering:pixelated;display:block;border-radius:4px}.sample figcaption{font-size:.8rem}
footer{margin-top:40px;color:var(--soft);font-size:.85rem}
.h0{--h:#222153}.h1{--h:#1b336c}.h2{--h:#004982}.h3{--h:#006091}.h4{--h:#007798}.h5{--h:#008e98}.h6{--h:#00a393}
.h7{--h:#12b58b}.h8{--h:#67c485}.h9{--h:#9bd185}.h10{--h:#c7dc8e}.h11{--h:#ede9a2}.hz{--h:var(--zero)}
.hx{--h:var(--bad)}
.heat path{fill:var(--h)}.ramp i,.box{background:var(--h)}
.r0{fill:#222153}.r1{fill:#1b336c}.r2{fill:#004982}.r3{fill:#006091}.r4{fill:#007798}.r5{fill:#008e98}.r6{fill:#00a393}
.r7{fill:#12b58b}.r8{fill:#67c485}
.c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}.c4{--c:var(--c4)}.c5{--c:var(--c5)}
.line,.dot{stroke:var(--c)}.band{stroke:var(--c);fill:var(--c)}.column{fill:var(--c)}.bar{background:var(--c)}
.key i{border-color:var(--c)}
.s1{--a:.1}.s2{--a:.18}.s3{--a:.26}.s4{--a:.34}.s5{--a:.42}.s6{--a:.52}.s7{--a:.62}.s8{--a:.72}
.s0{--a:0;color:var(--soft)}
.hit{background:rgba(var(--hit),var(--a))}.miss{background:rgba(var(--miss),var(--a))}
@media(max-width:600px){svg text{font-size:16px}.finding svg text{font-size:17.8px}.small svg text{font-size:12.5px}
body{padding:0 12px 32px}.heat th{width:34%;font-size:.8rem}.heat td:last-child{width:70px;font-size:.8rem}}
@media print{:root{color-scheme:light;--card:#fff;--ink:#000;--soft:#444}.wide{overflow:visible}
.confusion td,.confusion th{padding:2px 3px;min-width:20px}body{max-width:none;font-size:11pt}nav{display:none}
figure,.finding,tr{break-inside:avoid}h2,h3{break-after:avoid}.grid{grid-template-columns:1fr 1fr}
.grid.small{grid-template-columns:1fr 1fr 1fr}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
)css";

}  // namespace spotter::inline SPOTTER_ABI::html

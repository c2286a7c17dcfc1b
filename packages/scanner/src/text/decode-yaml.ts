import type { Encoded } from './decode.ts'

const frontMatterPattern = /^\uFEFF?---[ \t]*\r?\n([^]{0,65536}?)\r?\n---/
const quotedPattern = /"((?:[^"\\]|\\[^]){4,60000})"/g
const anchorPattern = /&([\w-]{1,40})\s+(?:"((?:[^"\\\n]|\\.){0,2000})"|'([^'\n]{0,2000})'|([^\n,\]}]{0,2000}))/g
const aliasesPattern = /\*[\w-]{1,40}(?:[\s,\-[\]]{1,40}\*[\w-]{1,40})*/g

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', _: ' ', ' ': ' ', N: '\n' }
const escapePattern = /\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|\r?\n[ \t]*|([^]))/gi

/** Reads the values of frontmatter that YAML writes with escapes or puts together from aliases (YAML 1.2.2, 5.7 and 7.1). */
export function* findYaml(text: string): Generator<Encoded> {
  const [whole, source = ''] = frontMatterPattern.exec(text) ?? ['']
  const start = whole.indexOf(source, 3)
  for (const { 0: quoted, 1: inner, index } of source.matchAll(quotedPattern)) {
    if (!inner!.includes('\\')) continue
    yield {
      text: unescape(inner!),
      start: start + index,
      end: start + index + quoted.length,
      form: 'yaml',
      isHidden: false,
    }
  }
  if (!source.includes('&') || !source.includes('*')) return
  const anchors = new Map(
    [...source.matchAll(anchorPattern)].map(([, name, double, single, plain]) => [
      `*${name}`,
      double === undefined ? (single ?? plain!) : unescape(double),
    ]),
  )
  let room = source.length
  for (const { 0: aliases, index } of source.matchAll(aliasesPattern)) {
    const values = aliases.match(/\*[\w-]+/g)!.map((name) => anchors.get(name) ?? '')
    const joined = values.filter(Boolean).join(' ')
    // An alias may repeat a long value many times over.
    room -= joined.length
    if (room < 0) return
    if (joined)
      yield { text: joined, start: start + index, end: start + index + aliases.length, form: 'yaml', isHidden: true }
  }
}

function unescape(text: string): string {
  return text
    .replace(/\r?\n[ \t]*/g, (found, at: number) => (text[at - 1] === '\\' ? found : ' '))
    .replace(escapePattern, (_, byte?: string, unit?: string, point?: string, other?: string) => {
      const code = Number.parseInt(byte ?? unit ?? point ?? '0', 16)
      if (code > 0 && code < 0x110000) return String.fromCodePoint(code)
      return other === undefined ? '' : (escapes[other] ?? other)
    })
}

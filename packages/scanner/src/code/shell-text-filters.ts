import { findOption, splitArguments } from './shell-options.ts'
import type { Call } from './shell-programs.ts'

/** The output of `head` or `tail`; undefined if its options are not understood. */
export function takeLines(text: string, { program, args }: Call): string | undefined {
  const split = splitArguments(args, '-n -c --lines --bytes')
  const short = /^[-+]\d{1,9}$/.exec(args[0]?.text ?? '')?.[0]
  const bytes = findOption(split, '-c', '--bytes')?.text
  const given = bytes ?? findOption(split, '-n', '--lines')?.text ?? short?.replace('-', '') ?? '10'
  if (!/^[-+]?\d{1,9}$/.test(given)) return undefined
  const items = bytes === undefined ? text.split('\n') : text
  const count = Math.abs(Number(given))
  const taken =
    program === 'head'
      ? items.slice(0, given.startsWith('-') ? -count : count)
      : items.slice(given.startsWith('+') ? Math.max(0, count - 1) : -count)
  return typeof taken === 'string' ? taken : taken.join('\n')
}

/** The output of `cut` with one range; undefined for others. */
export function cutLines(text: string, { args }: Call): string | undefined {
  const split = splitArguments(args, '-c -d -f -b --characters --delimiter --fields')
  const characters = findOption(split, '-c', '-b', '--characters')?.text
  const range = characters ?? findOption(split, '-f', '--fields')?.text ?? ''
  const [, first, dash, last] = /^(\d{0,6})(-?)(\d{0,6})$/.exec(range) ?? []
  if (first === undefined) return undefined
  const start = Number(first || 1) - 1
  const end = last ? Number(last) : dash ? undefined : start + 1
  const delimiter = findOption(split, '-d', '--delimiter')?.text ?? '\t'
  return text
    .split('\n')
    .map((line) => (characters ? line.slice(start, end) : line.split(delimiter).slice(start, end).join(delimiter)))
    .join('\n')
}

/** The output of `tr` with its arguments. */
export function translate(text: string, args: readonly string[]): string {
  const options = args.filter((arg) => /^-[dcsC]{1,3}$/.test(arg)).join('')
  const [first = '', second = ''] = args.filter((arg) => !/^-[dcsC]{1,3}$/.test(arg)).map(toCharacters)
  const isOther = /c/i.test(options)
  const found = new Set(first)
  const isIn = (character: string) => found.has(character) !== isOther
  if (options.includes('d')) return [...text].filter((character) => !isIn(character)).join('')
  if (second === '') return text
  const last = [...second].at(-1)!
  const from = [...first]
  const to = [...second]
  const map = new Map(from.map((character, index) => [character, to[index] ?? last] as const).toReversed())
  return [...text]
    .map((character) => (isOther ? (isIn(character) ? last : character) : (map.get(character) ?? character)))
    .join('')
}

const classes: Readonly<Record<string, string>> = {
  '[:upper:]': 'A-Z',
  '[:lower:]': 'a-z',
  '[:digit:]': '0-9',
  '[:alpha:]': 'A-Za-z',
  '[:alnum:]': 'A-Za-z0-9',
  '[:space:]': String.raw`\t\n\r `,
}

function toCharacters(set: string): string {
  const plain = set
    .slice(0, 300)
    .replace(/\[:\w{5}:\]/g, (name) => classes[name] ?? name)
    .replace(/\\([nrt\\])/g, (_, letter: string) => ({ n: '\n', r: '\r', t: '\t' })[letter] ?? '\\')
  return plain.replace(/([^-])-([^-])/g, (range, start: string, end: string) => {
    const [from, to] = [start.charCodeAt(0), end.charCodeAt(0)]
    if (to < from || to - from > 255) return range
    return Array.from({ length: to - from + 1 }, (_, index) => String.fromCharCode(from + index)).join('')
  })
}

/**
 * The output of a single command of `sed`: a replacement of a fixed text, or a range of lines up to or from a number or
 * a fixed text. Undefined for other commands.
 */
export function applySed(text: string, command: string, isQuiet: boolean): string | undefined {
  const [, , from, to, flags] =
    /^s([/|#,:@!])((?:(?!\1)[^\\]|\\.)*)\1((?:(?!\1)[^\\]|\\.)*)\1([gi]{0,2})$/.exec(command) ?? []
  if (from !== undefined) {
    const plain = toFixed(from)
    const replacement = toFixed(to!)
    if (plain === undefined || replacement === undefined || plain === '') return undefined
    return flags?.includes('g')
      ? text.replaceAll(plain, () => replacement)
      : text
          .split('\n')
          .map((line) => line.replace(plain, () => replacement))
          .join('\n')
  }
  const lines = text.split('\n')
  const [, start, end, action] =
    /^((?:\d{1,6}|\/[^/]{1,80}\/))(?:,(\$|\d{1,6}|\/[^/]{1,80}\/))?\s?([dp])$/.exec(command) ?? []
  if (start === undefined) return undefined
  const first = findLine(lines, start, 0)
  const last = end === undefined ? first : end === '$' ? lines.length - 1 : findLine(lines, end, first + 1)
  if (first === -1 || last === -1) return undefined
  if (action === 'd') return [...lines.slice(0, first), ...lines.slice(last + 1)].join('\n')
  return isQuiet ? lines.slice(first, last + 1).join('\n') : text
}

/** The index of the line that an address of `sed` names; -1 if there is none. */
function findLine(lines: readonly string[], address: string, from: number): number {
  if (!address.startsWith('/')) return Number(address) - 1
  const pattern = address.slice(1, -1)
  const fixed = toFixed(pattern.replace(/^\^|\$$/g, ''))
  if (fixed === undefined) return -1
  const found = lines
    .slice(from)
    .findIndex((line) => (pattern.startsWith('^') ? line.startsWith(fixed) : line.includes(fixed)))
  return found === -1 ? -1 : found + from
}

/** The text that an expression without operators matches. */
function toFixed(pattern: string): string | undefined {
  const escapes = /\\([./\\*$|[\]n^])/g
  if (/[.*[\]^$&\\]/.test(pattern.replace(escapes, ''))) return undefined
  return pattern.replace(escapes, (_, letter: string) => (letter === 'n' ? '\n' : letter))
}

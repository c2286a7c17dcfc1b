import { decode, toUtf8, type Encoding } from './decoders.ts'
import { itemsMax, mix, nothing, textOf, toText, unknownPart, type Value } from './values.ts'

/** A method of a text or list: what it returns, or undefined if that is unknown. */
type Method = (self: Value, args: readonly Value[]) => Value | undefined

const onText =
  (apply: (text: string, ...args: string[]) => string, ...made: readonly string[]): Method =>
  (self, args) => {
    if (self.text === undefined) return undefined
    if (args.some((arg) => arg.text === undefined && arg.number === undefined)) return undefined
    return toText(apply(self.text, ...args.map(textOf)), [self, ...args], ...made)
  }

const same: Method = (self) => self

/** The argument as an index, or a default. */
const toIndex = (value: Value | undefined, initial: number) => value?.number ?? initial

const slice: Method = (self, [from, to]) => {
  if ((from && from.number === undefined) || (to && to.number === undefined)) return undefined
  if (self.items) return { ...self, items: self.items.slice(toIndex(from, 0), to?.number) }
  return self.text === undefined ? undefined : toText(self.text.slice(toIndex(from, 0), to?.number), [self])
}

const split: Method = (self, [separator]) => {
  if (self.text === undefined || (separator && separator.text === undefined)) return undefined
  const parts = separator?.text === undefined ? self.text.trim().split(/\s+/) : self.text.split(separator.text)
  return { items: parts.slice(0, itemsMax).map((part) => toText(part, [self])), facts: self.facts, made: self.made }
}

const join = (list: Value, separator: Value): Value | undefined => {
  if (!list.items || separator.text === undefined) return undefined
  const made = list.items.length > 2 ? ['concatenation'] : []
  return toText(list.items.map(textOf).join(separator.text), [list, separator, ...list.items], ...made)
}

const replace: Method = (self, args) => {
  if (args.length < 2 || args[0]!.text === undefined) return self.text === undefined ? undefined : mix([self])
  const apply = onText((text, old, by) => (old === '' ? text : text.replaceAll(old!, by!)), 'replacement')
  return apply(self, args.slice(0, 2))
}

const rows: readonly (readonly [names: string, method: Method])[] = [
  ['strip', (self, args) => (args.length === 0 ? onText((text) => text.trim())(self, []) : self)],
  ['lstrip rstrip expanduser resolve absolute valueOf normalize as_posix encode with_suffix', same],
  ['trim trimStart trimEnd', onText((text) => text.trim())],
  ['lower toLowerCase casefold', onText((text) => text.toLowerCase())],
  ['upper toUpperCase', onText((text) => text.toUpperCase())],
  ['replace replaceAll', replace],
  ['slice substring', slice],
  [
    'substr',
    (self, [from, size]) => {
      const to = size?.number === undefined ? [] : [{ ...nothing, number: (from?.number ?? 0) + size.number }]
      return slice(self, [from ?? nothing, ...to])
    },
  ],
  [
    'charAt at',
    (self, [index]) =>
      self.text === undefined || index?.number === undefined
        ? undefined
        : toText(self.text.at(index.number) ?? '', [self]),
  ],
  [
    'charCodeAt codePointAt',
    ({ text, facts, made }, [index]) => {
      const number = text?.charCodeAt(toIndex(index, 0)) ?? NaN
      return Number.isNaN(number) ? undefined : { number, facts, made }
    },
  ],
  ['split', split],
  ['splitlines', (self) => split(self, [toText('\n')])],
  [
    'concat',
    (self, args) =>
      self.items
        ? { ...self, items: [...self.items, ...args.flatMap((arg) => arg.items ?? [arg])] }
        : onText((...texts) => texts.join(''), 'concatenation')(self, args),
  ],
  ['join', (self, [other]) => (self.items ? join(self, other ?? toText(',')) : other && join(other, self))],
  [
    'reverse toReversed',
    (self) => self.items && { ...self, items: self.items.toReversed(), made: [...self.made, 'reversed'] },
  ],
  [
    'repeat',
    onText((text, times) =>
      text.length * Number(times) < 10_000 ? text.repeat(Math.max(0, Number(times) || 0)) : unknownPart,
    ),
  ],
  [
    // Bytes of Python become a text.
    'decode',
    (self, [name]) => {
      const encoding = codecs.get(name?.text?.toLowerCase() ?? '')
      if (self.text === undefined) return undefined
      return encoding ? decodeValue(encoding, self) : toText(toUtf8(self.text), [self])
    },
  ],
  [
    // A buffer of JavaScript becomes a text.
    'toString',
    (self, [name]) => {
      if (self.text === undefined) return self.number === undefined ? undefined : toText(String(self.number), [self])
      return name?.text === 'hex' || name?.text === 'base64'
        ? encode(self, name.text)
        : toText(toUtf8(self.text), [self])
    },
  ],
  ['hex', (self) => (self.text === undefined ? undefined : encode(self, 'hex'))],
  [
    'format',
    (self, args) => {
      let next = 0
      const text = self.text?.replace(/\{(\d{0,2})(?::[^{}]{0,20})?\}/g, (_, index: string) =>
        textOf(args[index === '' ? next++ : Number(index)]),
      )
      return text === undefined ? undefined : toText(text, [self, ...args], 'concatenation')
    },
  ],
  [
    'keys',
    ({ fields, facts }) => fields && { items: Array.from(fields.keys(), (key) => toText(key)), facts, made: [] },
  ],
  ['values', ({ fields, facts }) => fields && { items: [...fields.values()], facts, made: [] }],
  ['joinpath', (self, args) => joinPath([self, ...args])],
]

/** Methods of texts, bytes and lists in Python and JavaScript. */
export const textMethods: ReadonlyMap<string, Method> = new Map(
  rows.flatMap(([names, method]) => names.split(' ').map((name) => [name, method] as const)),
)

const encode = (self: Value, encoding: 'hex' | 'base64') =>
  toText(Buffer.from(self.text!, 'latin1').toString(encoding), [self])

/** Reads a number from a text, in a base. */
export function readsNumber({ args: [text, base] }: { readonly args: readonly Value[] }): Value | undefined {
  if (text?.text === undefined) return text
  const number = parseInt(text.text, base?.number ?? 10)
  return Number.isNaN(number) ? mix([text]) : { number, facts: text.facts, made: text.made }
}

/** Names of encodings in programs. */
export const codecs: ReadonlyMap<string, Encoding> = new Map<string, Encoding>(
  Object.entries({
    base64: 'base64',
    base64url: 'base64',
    hex: 'hex',
    rot13: 'rot13',
    rot_13: 'rot13',
    'rot-13': 'rot13',
    zlib: 'deflate',
    base64_codec: 'base64',
    hex_codec: 'hex',
  }),
)

/** Decodes a known text. */
function decodeValue(encoding: Encoding, value: Value): Value | undefined {
  if (value.text === undefined || value.text.includes(unknownPart)) return undefined
  const text = decode(encoding, value.text)
  return text === undefined ? undefined : toText(text, [value], encoding)
}

/** The path that consists of parts, the later ones below the first. */
export function joinPath(parts: readonly Value[]): Value {
  const texts = parts.map(textOf)
  const from = Math.max(
    0,
    texts.findLastIndex((text) => /^[/~]|^[a-z]:[\\/]/i.test(text)),
  )
  return toText(
    texts
      .slice(from)
      .join('/')
      .replaceAll(/(?<!:)\/{2,}/g, '/'),
    parts,
  )
}

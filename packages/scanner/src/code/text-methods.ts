import { decodeAs, toUtf8, type Encoding } from './decoders.ts'
import { itemsMax, mixValues, nothing, textOf, toTextValue, type Value } from './values.ts'

/** A method of a text or list: what it returns, or undefined if that is unknown. */
type Method = (self: Value, args: readonly Value[]) => Value | undefined

const onText =
  (apply: (text: string, ...args: string[]) => string, ...made: readonly string[]): Method =>
  (self, args) => {
    if (self.text === undefined) return undefined
    if (args.some((arg) => arg.text === undefined && arg.number === undefined)) return undefined
    return toTextValue(apply(self.text, ...args.map(textOf)), [self, ...args], ...made)
  }

const toNumber = (number: number): Value => ({ ...nothing, number })

const toIndex = (value: Value | undefined, initial: number) => value?.number ?? initial

const slice: Method = (self, [from, to]) => {
  if ((from && from.number === undefined) || (to && to.number === undefined)) return undefined
  if (self.items) return { ...self, items: self.items.slice(toIndex(from, 0), to?.number) }
  return self.text === undefined ? undefined : toTextValue(self.text.slice(toIndex(from, 0), to?.number), [self])
}

const split: Method = (self, [separator]) => {
  if (self.text === undefined || (separator && separator.text === undefined)) return undefined
  const parts = separator?.text === undefined ? self.text.trim().split(/\s+/) : self.text.split(separator.text)
  return {
    items: parts.slice(0, itemsMax).map((part) => toTextValue(part, [self])),
    facts: self.facts,
    made: self.made,
  }
}

const join = (list: Value, separator: Value): Value | undefined => {
  if (!list.items || separator.text === undefined) return undefined
  const made = list.items.length > 2 ? ['concatenation'] : []
  return toTextValue(list.items.map(textOf).join(separator.text), [list, separator, ...list.items], ...made)
}

const replace: Method = (self, args) => {
  if (args.length < 2 || args[0]!.text === undefined) return self.text === undefined ? undefined : mixValues([self])
  const apply = onText((text, old, by) => (old === '' ? text : text.replaceAll(old!, by!)), 'replacement')
  return apply(self, args.slice(0, 2))
}

const trim = onText((text) => text.trim())

const rows: readonly (readonly [names: string, method: Method])[] = [
  ['strip', (self, args) => (args.length === 0 ? trim(self, []) : self)],
  ['lstrip rstrip expanduser resolve absolute valueOf normalize as_posix encode with_suffix', (self) => self],
  ['trim trimStart trimEnd', trim],
  ['lower toLowerCase casefold', onText((text) => text.toLowerCase())],
  ['upper toUpperCase', onText((text) => text.toUpperCase())],
  ['replace replaceAll', replace],
  ['slice substring', slice],
  [
    'substr',
    (self, [from = nothing, size]) =>
      slice(self, [from, ...(size?.number === undefined ? [] : [toNumber(toIndex(from, 0) + size.number)])]),
  ],
  ['charAt at', (self, [index]) => index && slice(self, [index, toNumber(toIndex(index, 0) + 1)])],
  [
    'charCodeAt codePointAt',
    ({ text, facts, made }, [index]) => {
      const number = text?.charCodeAt(toIndex(index, 0)) ?? NaN
      return Number.isNaN(number) ? undefined : { number, facts, made }
    },
  ],
  ['split', split],
  ['splitlines', (self) => split(self, [toTextValue('\n')])],
  [
    'concat',
    (self, args) =>
      self.items
        ? { ...self, items: [...self.items, ...args.flatMap((arg) => arg.items ?? [arg])] }
        : onText((...texts) => texts.join(''), 'concatenation')(self, args),
  ],
  ['join', (self, [other]) => (self.items ? join(self, other ?? toTextValue(',')) : other && join(other, self))],
  [
    'reverse toReversed',
    (self) => self.items && { ...self, items: self.items.toReversed(), made: [...self.made, 'reversed'] },
  ],
  ['repeat', onText((text, times) => text.repeat(Math.min(Math.max(0, Number(times) || 0), 10_000 / text.length)))],
  [
    // Bytes of Python become a text.
    'decode',
    (self, [name]) => {
      if (self.text === undefined) return undefined
      const encoding = codecs.get(name?.text?.toLowerCase() ?? '')
      const text = encoding ? decodeAs(encoding, self.text) : toUtf8(self.text)
      return text === undefined ? undefined : toTextValue(text, [self], ...(encoding ? [encoding] : []))
    },
  ],
  [
    // A buffer of JavaScript becomes a text.
    'toString',
    (self, [name]) => {
      if (self.text === undefined)
        return self.number === undefined ? undefined : toTextValue(String(self.number), [self])
      return name?.text === 'hex' || name?.text === 'base64'
        ? encode(self, name.text)
        : toTextValue(toUtf8(self.text), [self])
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
      return text === undefined ? undefined : toTextValue(text, [self, ...args], 'concatenation')
    },
  ],
  [
    'keys',
    ({ fields, facts }) => fields && { items: Array.from(fields.keys(), (key) => toTextValue(key)), facts, made: [] },
  ],
  ['values', ({ fields, facts }) => fields && { items: [...fields.values()], facts, made: [] }],
  ['joinpath', (self, args) => joinPath([self, ...args])],
]

/** Methods of texts, bytes and lists in Python and JavaScript. */
export const textMethods: ReadonlyMap<string, Method> = new Map(
  rows.flatMap(([names, method]) => names.split(' ').map((name) => [name, method] as const)),
)

const encode = (self: Value, encoding: 'hex' | 'base64') =>
  toTextValue(Buffer.from(self.text!, 'latin1').toString(encoding), [self])

/** Reads a number from a text, in a base. */
export function readsNumber({ args: [text, base] }: { readonly args: readonly Value[] }): Value | undefined {
  if (text?.text === undefined) return text
  const number = parseInt(text.text, base?.number ?? 10)
  return Number.isNaN(number) ? mixValues([text]) : { number, facts: text.facts, made: text.made }
}

/** Names of encodings in programs. */
export const codecs: ReadonlyMap<string, Encoding> = new Map([
  ...['base64', 'base64url', 'base64_codec'].map((name) => [name, 'base64'] as const),
  ...['hex', 'hex_codec'].map((name) => [name, 'hex'] as const),
  ...['rot13', 'rot_13', 'rot-13'].map((name) => [name, 'rot13'] as const),
  ['zlib', 'deflate'],
])

/** Joins the parts of a path. An absolute part replaces the parts before it. */
export function joinPath(parts: readonly Value[]): Value {
  const texts = parts.map(textOf)
  const from = texts.findLastIndex((text) => /^[/~]|^[a-z]:[\\/]/i.test(text))
  const path = texts.slice(Math.max(0, from)).join('/')
  return toTextValue(path.replaceAll(/(?<!:)\/{2,}/g, '/'), parts)
}

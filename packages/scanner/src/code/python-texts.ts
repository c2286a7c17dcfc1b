import { argument, decodes, decodeWith } from './effects.ts'
import { fill, readsNumber, type EffectTable } from './effect-table.ts'
import type { Effect } from './library.ts'
import { codecs } from './text-methods.ts'
import { mix, nothing, toText, type Value } from './values.ts'

const chr: Effect = ({ args: [code] }) =>
  code?.number === undefined || code.number < 0 || code.number > 0x10ffff
    ? code && mix([code])
    : toText(String.fromCodePoint(code.number), [code], 'numbers')

const bytesOf: Effect = ({ args: [list] }) => {
  if (list?.text !== undefined) return list
  if (!list?.items?.every(({ number }) => number !== undefined && number >= 0 && number < 256)) return undefined
  return toText(String.fromCharCode(...list.items.map(({ number }) => number!)), [list, ...list.items], 'numbers')
}

/** What the functions of Python return that decode texts, or compute with texts, numbers and lists. */
export const pythonTexts: EffectTable = [
  ...fill(
    'base64.b64decode base64.urlsafe_b64decode base64.standard_b64decode base64.decodebytes binascii.a2b_base64',
    decodes('base64'),
  ),
  ...fill('base64.b32decode', decodes('base32')),
  ...fill('base64.b85decode', decodes('base85')),
  ...fill('base64.b16decode bytes.fromhex bytearray.fromhex binascii.unhexlify binascii.a2b_hex', decodes('hex')),
  ...fill('zlib.decompress', (call, on) => {
    const isRaw = (call.args[1]?.number ?? argument(call, 'wbits')?.number ?? 15) < 0
    return decodes(isRaw ? 'raw deflate' : 'deflate')(call, on)
  }),
  ...fill('gzip.decompress', decodes('gzip')),
  ...fill('bz2.decompress', decodes('bzip2')),
  ...fill('lzma.decompress', decodes('lzma')),
  ...fill('urllib.parse.unquote', decodes('url')),
  ...fill('codecs.decode', (call, on) => {
    const encoding = codecs.get(argument(call, [1, 'encoding'])?.text?.toLowerCase() ?? '')
    return encoding && call.args[0] ? decodeWith(encoding, call.args[0], call, on) : call.args[0]
  }),
  ...fill(
    'cryptography.fernet.Fernet().decrypt Crypto.Cipher.AES.new().decrypt Cryptodome.Cipher.AES.new().decrypt',
    decodes('cipher'),
  ),
  ...fill('chr builtins.chr', chr),
  ...fill('ord builtins.ord', ({ args: [text] }) =>
    text?.text ? { ...text, number: text.text.codePointAt(0)! } : undefined,
  ),
  ...fill('bytes bytearray', bytesOf),
  ...fill('int', readsNumber),
  ...fill('reversed', ({ args: [list] }) => {
    if (list?.text !== undefined)
      return { ...nothing, items: [...list.text].toReversed().map((one) => toText(one, [list], 'reversed')) }
    return list?.items && { ...list, items: list.items.toReversed() }
  }),
  ...fill('list tuple set sorted', ({ args: [list] }) => list),
  ...fill('str.maketrans', ({ args: [from, to] }) => {
    if (from?.text === undefined || to?.text === undefined) return undefined
    const letters = [...from.text].map((one, index): [string, Value] => [one, toText(to.text![index] ?? '')])
    return { ...nothing, fields: new Map(letters) }
  }),
  ...fill('range', ({ args }) => {
    const numbers = args.map(({ number }) => number)
    const [from, to, step] = numbers.length === 1 ? [0, numbers[0], 1] : [numbers[0], numbers[1], numbers[2] ?? 1]
    if (from === undefined || to === undefined || step === 0 || Math.abs((to - from) / step!) > 4096) return nothing
    const items: Value[] = []
    for (let at = from; step! > 0 ? at < to : at > to; at += step!) items.push({ ...nothing, number: at })
    return { ...nothing, items }
  }),
  ...fill('enumerate', ({ args: [list] }) => {
    const items =
      list?.items ??
      (list?.text === undefined
        ? undefined
        : [...list.text].map((one) => ({ ...toText(one, [list]), number: one.charCodeAt(0) })))
    return (
      items && {
        ...nothing,
        items: items.map((item, index) => ({ ...nothing, items: [{ ...nothing, number: index }, item] })),
      }
    )
  }),
  ...fill('len', ({ args: [list] }) => {
    const length = list?.text?.length ?? list?.items?.length
    return length === undefined ? undefined : { ...nothing, number: length }
  }),
  ...fill('map', (call, on) => {
    const [apply, list] = call.args
    if (!apply || !list?.items) return undefined
    const items = list.items
      .slice(0, 4096)
      .map((item) => on.calls.call(apply, { ...call, args: [item], named: new Map(), self: undefined }))
    return { ...nothing, items }
  }),
]

import { reverseText } from '../../text/encodings.ts'
import { decodeAs, readEscapes, type Encoding } from '../decoders.ts'
import type { Call, Program, ProgramRow } from './shell-call.ts'
import { connect } from './network.ts'
import {
  dependOn,
  empty,
  filtered,
  isKnown,
  joinValues,
  toShellValue,
  transformValue,
  unknown,
  withFacts,
  type Value,
} from './value.ts'
import { hidesLetters } from './shell-words.ts'

/** The joined content of the files in the arguments, or the input if there are no files. */
function readFilterInput({ input, run }: Call, paths: readonly Value[]): Value {
  const files = paths.filter(({ text }) => text !== '-' && !text.startsWith('<'))
  return files.length === 0 ? input : joinValues(files.map((path) => run.files.read(path)))
}

const nothing: Program = () => empty
const anything: Program = () => unknown
const printsFiles: Program = (call) => readFilterInput(call, call.rest)

/** A program that selects or changes input; its output is not computed. The first `skips` arguments are no files. */
const selects =
  (skips = 0): Program =>
  (call) => {
    const value = readFilterInput(call, call.rest.slice(skips))
    const isText = isKnown(value) && value.text !== ''
    return { ...dependOn([value]), made: isText ? [filtered] : [] }
  }

/**
 * Decodes a value, and records the decoding as a fact. Not for a value from the network, which counts as fetched, nor
 * for an unknown compressed value, because files are compressed for many reasons.
 */
function toDecoded(value: Value, encoding: Encoding, { run }: Call): Value {
  const isFetched = value.facts.some(({ kind }) => kind === 'network-fetch')
  const isUsual = /^(?:gzip|bzip2|lzma)$/.test(encoding) && !isKnown(value)
  const facts = isFetched || isUsual ? [] : [run.fact('decode', encoding)]
  const text = isKnown(value) ? decodeAs(encoding, value.text) : undefined
  return withFacts(transformValue(value, encoding, text), facts)
}

/** A program that decodes its files or input; with `options`, only if a call has one of them, and else encodes. */
const decodes =
  (encoding: Encoding, ...options: string[]): Program =>
  (call) => {
    const value = readFilterInput(call, call.rest)
    if (options.length === 0 || call.has(...options)) return toDecoded(value, encoding, call)
    if (!isKnown(value) || encoding !== 'base64') return dependOn([value])
    return { ...value, text: Buffer.from(value.text).toString('base64') }
  }

const openssl: Program = (call) => {
  const [path, out] = [call.option('-in'), call.option('-out')]
  const value = path ? call.run.files.read(path) : call.input
  const command = call.args[0]?.text ?? ''
  if (command === 's_client') return connect(call, `tcp://${call.option('-connect')?.text ?? ''}/`, value)
  if (!/^(?:enc|base64)$/.test(command) || !/(?:^| )-d(?: |$)/.test(call.line)) return dependOn([value])
  const hasCipher = / -(?:aes|des|bf|camellia|chacha|rc4|aria|sm4)/i.test(call.line)
  const isBase64 = command === 'base64' || / -(?:base64|a)(?: |$)/.test(call.line)
  const result = toDecoded(value, isBase64 && !hasCipher ? 'base64' : 'cipher', call)
  if (!out) return result
  call.run.files.write(out, result)
  return empty
}

const tee: Program = (call) => {
  for (const path of call.rest) call.run.files.write(path, call.input, call.has('-a', '--append'))
  return call.input
}

const sed: Program = (call) => {
  const { args, run, rest } = call
  if (!args.some(({ text }) => /^-[nErs]{0,3}i|^--in-place/.test(text))) return selects(call.has('-e') ? 0 : 1)(call)
  // In `sed -i ''`, the notation of BSD, the empty argument is neither an expression nor a file.
  const [code = rest[0] ?? unknown, ...paths] = args.filter(({ text }) => !text.startsWith('-') && text !== '')
  for (const path of paths) run.files.write(path, code, true)
  return empty
}

const rev: Program = (call) => {
  const value = readFilterInput(call, call.rest)
  const text = value.text.replaceAll(/[^\n]+/g, reverseText)
  return transformValue(value, 'rev', isKnown(value) ? text : undefined)
}

/** `tr` deletes characters, or rotates the alphabet by half of it; other translations are not computed. */
const tr: Program = (call) => {
  const { input, rest } = call
  const [from = '', to = ''] = rest.map(({ text }) => text)
  if (!isKnown(input)) return dependOn([input])
  if (call.has('-d')) {
    const text = [...input.text].filter((each) => !readEscapes(from).includes(each)).join('')
    // Removing white space hides nothing: line ends are removed for many reasons.
    return text === input.text.replaceAll(/\s/g, '') ? { ...input, text } : transformValue(input, 'translation', text)
  }
  if (/n-za-m/i.test(to)) return transformValue(input, 'rot13', decodeAs('rot13', input.text))
  return selects(call.rest.length)(call)
}

/** The escapes of `printf` and `echo -e`. */
const unescape = (text: string) => readEscapes(text.replaceAll(/\\0(?=[0-7]{3})/g, '\\'))

/** A printed text. It counts as hidden if letters in it are written as escapes. */
const toPrinted = (value: Value, text: string): Value => {
  return { ...value, text, made: hidesLetters.test(value.text) ? ['escapes', ...value.made] : value.made }
}

const printf: Program = ({ args, run }) => {
  const isAssigned = args[0]?.text === '-v'
  const [format, ...values] = isAssigned ? args.slice(2) : args
  if (!format) return empty
  const printed = toPrinted(joinValues([format, ...values]), formatPrintf(format.text, values))
  if (!isAssigned) return printed
  run.variables.set(args[1]?.text ?? '', printed)
  return empty
}

/** The output of `printf`, which repeats its format for further arguments. */
function formatPrintf(format: string, values: readonly Value[]): string {
  const left = [...values]
  const print = () =>
    unescape(format).replaceAll(/%(?:%|-?\d*(?:\.\d+)?([a-zA-Z]))/g, (_, kind?: string) => {
      const value = kind ? (left.shift()?.text ?? '') : '%'
      return kind === 'b' ? unescape(value) : value
    })
  let text = print()
  for (let before = Infinity; left.length > 0 && left.length < before && text.length < 65_536;) {
    before = left.length
    text += print()
  }
  return text
}

const echo: Program = ({ args }) => {
  const from = args.findIndex(({ text }) => !/^-[neE]{1,3}$/.test(text))
  const value = from === -1 ? empty : joinValues(args.slice(from), ' ')
  if (!args.slice(0, from).some(({ text }) => text.includes('e')) || !value.text.includes('\\')) return value
  return toPrinted(value, unescape(value.text))
}

/** `export`, `declare` and similar builtins: without a name, they print all variables. */
const declare: Program = ({ args, run }) =>
  args.some(({ text }) => !text.startsWith('-')) ? empty : withFacts(unknown, [run.fact('environment-read')])

/** `set` without arguments prints all variables; `set -- a b` sets the arguments. */
const set: Program = ({ args, run }) => {
  if (args.length === 0) return withFacts(unknown, [run.fact('environment-read')])
  const dashes = args.findIndex(({ text }) => text === '--')
  if (dashes !== -1) run.variables.pushArguments(args.slice(dashes + 1))
  return empty
}

const read: Program = (call) => {
  const descriptor = call.option('-u')?.text
  const given = (descriptor === undefined ? undefined : call.run.files.readDescriptor(descriptor)) ?? call.input
  const value = given.text === '' ? { ...unknown, facts: given.facts } : given
  for (const { text } of call.rest.length > 0 ? call.rest : [toShellValue('REPLY')]) call.run.variables.set(text, value)
  return empty
}

const shift: Program = ({ run: { variables } }) => {
  variables.pushArguments((variables.readArray('@') ?? []).slice(1))
  return empty
}

/** Programs that print texts, or change their input. */
export const filters: readonly ProgramRow[] = [
  ['echo', '', echo],
  ['printf', '', printf],
  ['cat less more bat', '', printsFiles],
  ['tee', '', tee],
  ['base64', '-w --wrap -b', decodes('base64', '-d', '-D', '--decode', '-di')],
  ['xxd', '-l -s -c -g -seek', decodes('hex', '-r')],
  ['gunzip zcat bunzip2 bzcat unxz xzcat', '-S --suffix', decodes('gzip')],
  ['gzip bzip2 xz', '-S --suffix -T', decodes('gzip', '-d', '--decompress')],
  ['openssl', '-in -out -k -K -iv -pass -md -connect -passin -S -iter', openssl],
  ['gpg', '--passphrase --passphrase-file --pinentry-mode -o --output -r', decodes('cipher', '-d', '--decrypt')],
  ['rev', '', rev],
  ['tr', '', tr],
  ['head tail cut sort uniq', '-n -c -k -t -d -f -b --lines --bytes --delimiter --fields', selects()],
  ['sed gsed', '-e -f --expression', sed],
  ['awk gawk', '-F -v -f', selects(1)],
  ['grep egrep rg', '-e -f -m -A -B -C', selects(1)],
  ['export declare typeset', '', declare],
  ['set', '', set],
  ['read', '-p -n -N -t -u -d -i', read],
  ['mapfile readarray', '-d -n -O -s -u -C -c', read],
  ['shift', '', shift],
  ['true false : [ test exit return cd unset wait sleep pushd popd local readonly mkfifo alias', '', nothing],
  // Counts, digests and lists do not reveal the content of files. The other programs take paths of keys, but do not
  // print keys.
  [
    'wc md5sum sha256sum shasum cmp diff file stat ls du ssh-keygen ssh-add ssh-copy-id mkdir rmdir touch chown',
    '',
    anything,
  ],
  ['realpath dirname hostname whoami id uname ps', '', anything],
]

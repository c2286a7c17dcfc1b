import { decode, type Encoding } from './decoders.ts'
import { applySed, cutLines, takeLines, translate } from './shell-text-filters.ts'
import { connect } from './shell-network.ts'
import { findOption, hasOption, splitArguments } from './shell-options.ts'
import type { Call, Program } from './shell-programs.ts'
import { dependOn, isKnown, joinValues, toValue, transform, unknown, withFacts, type Value } from './shell-value.ts'

/** The files in the arguments, or else the input. */
export function readInput({ input, run }: Call, paths: readonly Value[]): Value {
  const files = paths.filter(({ text }) => text !== '-' && !text.startsWith('<'))
  return files.length === 0 ? input : joinValues(files.map((path) => run.files.read(path)))
}

/** A program that prints its files or input after an operation, which is undefined for an unknown one. */
const filter =
  (taking: string, change: (text: string, call: Call) => string | undefined, skips = 0): Program =>
  (call) => {
    const { rest } = splitArguments(call.args, taking)
    const value = readInput(call, rest.slice(skips))
    if (!isKnown(value)) return transform(value, call.program, undefined)
    return transform(value, call.program, change(value.text, call))
  }

/** Keeps what is not known about a text, for programs that select a part of it. */
const select = filter('', () => undefined, 1)

const compressions: ReadonlySet<Encoding> = new Set(['gzip', 'bzip2', 'lzma'])

/**
 * Records that a text was decoded. What comes from the network counts as fetched, and files are compressed for many
 * reasons.
 */
function toDecoded(value: Value, encoding: Encoding, name: string, { run }: Call): Value {
  const isFetched = value.facts.some(({ kind }) => kind === 'network-fetch')
  const isUsual = compressions.has(encoding) && !isKnown(value)
  const facts = isFetched || isUsual ? [] : [run.fact('decode', name)]
  const text = isKnown(value) ? decode(encoding, value.text) : undefined
  return withFacts(transform(value, name, text), facts)
}

const base =
  (encoding: 'base64' | 'base32'): Program =>
  (call) => {
    const split = splitArguments(call.args, '-w --wrap -i -o -b')
    const file = findOption(split, '-i')
    const value = readInput(call, file?.text ? [file] : split.rest)
    if (hasOption(split, '-d', '-D', '--decode', '-di')) return toDecoded(value, encoding, encoding, call)
    if (!isKnown(value) || encoding !== 'base64') return transform(value, encoding, undefined)
    return { ...value, text: Buffer.from(value.text).toString('base64') }
  }

const xxd: Program = (call) => {
  const split = splitArguments(call.args, '-l -s -c -g -seek')
  const value = readInput(call, split.rest)
  return hasOption(split, '-r') ? toDecoded(value, 'hex', 'hex', call) : transform(value, 'hex', undefined)
}

const unpack =
  (encoding: 'gzip' | 'bzip2' | 'lzma', isDefault: boolean): Program =>
  (call) => {
    const split = splitArguments(call.args, '-S --suffix -T')
    const value = readInput(call, split.rest)
    if (isDefault || hasOption(split, '-d', '--decompress', '--uncompress'))
      return toDecoded(value, encoding, encoding, call)
    return transform(value, encoding, undefined)
  }

const openssl: Program = (call) => {
  const [command, ...args] = call.args
  const split = splitArguments(args, '-in -out -k -K -iv -pass -md -connect -passin -S -iter')
  const path = findOption(split, '-in')
  const out = findOption(split, '-out')
  const value = path ? call.run.files.read(path) : call.input
  if (command?.text === 's_client') return connect(call, `tcp://${findOption(split, '-connect')?.text ?? ''}/`, value)
  if (command?.text !== 'enc' && command?.text !== 'base64') return dependOn([value])
  const names = args.map(({ text }) => text)
  const isBase64 = command.text === 'base64' || names.includes('-base64') || names.includes('-a')
  const hasCipher = names.some((name) => /^-(?:aes|des|bf|camellia|chacha|rc4|aria|sm4)/i.test(name))
  const isDecoding = names.includes('-d')
  const result = !isDecoding
    ? transform(value, 'cipher', undefined)
    : toDecoded(value, isBase64 && !hasCipher ? 'base64' : 'cipher', hasCipher ? 'cipher' : 'base64', call)
  if (out) call.run.files.write(out, result)
  return out ? toValue('') : result
}

const tee: Program = ({ args, input, run }) => {
  const { rest, options } = splitArguments(args, '')
  for (const path of rest)
    run.files.write(
      path,
      input,
      options.some(({ name }) => name === '-a' || name === '--append'),
    )
  return input
}

/** `jq` and `yq`, which can also print all variables. */
const query: Program = (call) => {
  const taking = '--arg --argjson --slurpfile --rawfile --indent -f'
  const { rest } = splitArguments(call.args, taking)
  const value = readInput(call, rest.slice(1))
  const facts = /\$ENV\b(?!\.)|(?:^|\|\s*)env\b(?!\.)/.test(rest[0]?.text ?? '')
    ? [call.run.fact('environment-read')]
    : []
  return withFacts(dependOn([value, ...call.args]), facts)
}

const awk: Program = (call) => {
  const split = splitArguments(call.args, '-F -v -f')
  const [program, ...files] = split.rest
  const value = readInput(call, files)
  for (const { 1: code } of program?.text.matchAll(/\bsystem\s?\(\s?"((?:[^"\\]|\\.){1,2000})"/g) ?? []) {
    call.run.runCode(toValue(code!.replaceAll(String.raw`\"`, '"')), value)
  }
  const socket = /\/inet\/tcp\/\d*\/([\w.-]{1,100})\/(\d{1,5})/.exec(program?.text ?? '')
  if (socket) call.run.sink('network-send', `tcp://${socket[1]}:${socket[2]}`, [value])
  return transform(value, 'awk', undefined)
}

const sed: Program = (call) => {
  const split = splitArguments(call.args, '-e -f -i --expression')
  const codes = split.options.filter(({ name }) => name === '-e' || name === '--expression').map(({ value }) => value)
  const isInPlace = call.args.some(({ text }) => /^-[nErs]{0,3}i|^--in-place/.test(text))
  const first = codes[0] ?? split.rest[0]
  const files = codes.length > 0 ? split.rest : split.rest.slice(1)
  if (isInPlace) {
    // `-i ''` of BSD takes the expression for a file.
    const [code, ...paths] = call.args.filter(({ text }) => !text.startsWith('-') && text !== '')
    for (const path of paths) call.run.files.write(path, code ?? unknown, true)
    return toValue('')
  }
  const value = readInput(call, files)
  if (!isKnown(value) || !first) return transform(value, 'sed', undefined)
  const isQuiet = hasOption(split, '-n', '--quiet')
  return transform(value, 'sed', codes.length > 1 ? undefined : applySed(value.text, first.text, isQuiet))
}

export const filters: Readonly<Record<string, Program>> = {
  base64: base('base64'),
  gbase64: base('base64'),
  base32: base('base32'),
  xxd,
  gunzip: unpack('gzip', true),
  zcat: unpack('gzip', true),
  gzip: unpack('gzip', false),
  pigz: unpack('gzip', false),
  bunzip2: unpack('bzip2', true),
  bzcat: unpack('bzip2', true),
  bzip2: unpack('bzip2', false),
  unxz: unpack('lzma', true),
  xzcat: unpack('lzma', true),
  xz: unpack('lzma', false),
  zstd: unpack('lzma', false),
  uudecode: (call) => toDecoded(readInput(call, splitArguments(call.args, '-o').rest), 'cipher', 'uuencode', call),
  openssl,
  gpg(call) {
    const split = splitArguments(call.args, '--passphrase --passphrase-file --pinentry-mode -o --output -r --recipient')
    const value = readInput(call, split.rest)
    if (hasOption(split, '--export-secret-keys', '--export-secret-subkeys')) {
      return withFacts(unknown, [call.run.fact('secret-read', '~/.gnupg')])
    }
    return hasOption(split, '-d', '--decrypt') ? toDecoded(value, 'cipher', 'cipher', call) : dependOn([value])
  },
  cat: (call) => readInput(call, splitArguments(call.args, '').rest),
  tee,
  sponge: tee,
  rev: filter('', (text) =>
    text
      .split('\n')
      .map((line) => [...line].toReversed().join(''))
      .join('\n'),
  ),
  tac: filter('-s', (text) => text.split('\n').toReversed().join('\n')),
  tail: filter('-n -c --lines --bytes', (text, call) => takeLines(text, call)),
  head: filter('-n -c --lines --bytes', (text, call) => takeLines(text, call)),
  cut: filter('-c -d -f -b --characters --delimiter --fields', (text, call) => cutLines(text, call)),
  tr(call) {
    const { input, args } = call
    if (!isKnown(input)) return transform(input, 'tr', undefined)
    const text = translate(
      input.text,
      args.map((arg) => arg.text),
    )
    // Line ends are removed for many reasons.
    return text === input.text.replaceAll(/\s/g, '') ? { ...input, text } : transform(input, 'translation', text)
  },
  sed,
  gsed: sed,
  awk,
  gawk: awk,
  mawk: awk,
  jq: query,
  yq: query,
  ...Object.fromEntries(['grep', 'egrep', 'fgrep', 'rg', 'ack', 'ag'].map((name) => [name, select])),
  ...Object.fromEntries(
    ['less', 'more', 'bat', 'nl', 'sort', 'uniq', 'strings', 'od', 'hexdump', 'fold', 'fmt', 'paste', 'dos2unix'].map(
      (name) => [name, filter('-k -t -o -A -N -n -w -d', () => undefined)],
    ),
  ),
  // Counts and digests say nothing about the content.
  ...Object.fromEntries(
    ['wc', 'md5sum', 'sha256sum', 'shasum', 'sha1sum', 'cmp', 'diff', 'file', 'stat', 'ls', 'du'].map((name) => [
      name,
      () => unknown,
    ]),
  ),
}

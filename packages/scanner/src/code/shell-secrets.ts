import { findSecretStore, isStartupPlace } from './known-places.ts'
import { readInput } from './shell-filters.ts'
import { findOption, splitArguments } from './shell-options.ts'
import type { Call, Program } from './shell-programs.ts'
import { dependOn, empty, joinValues, toValue, unknown, withFacts, type Value } from './shell-value.ts'

/** A program that prints secrets if its arguments match. */
const prints =
  (pattern: RegExp): Program =>
  ({ program, args, input, run }) => {
    const line = args.map(({ text }) => text).join(' ')
    const found = pattern.exec(line)
    if (!found) return dependOn([input, ...args])
    return withFacts(unknown, [run.fact('secret-read', `${program} ${found[0]}`.trim())])
  }

/** A program that shows what the user sees, types or copies. */
const observes =
  (what: string, unless?: RegExp): Program =>
  ({ args, input, run }) => {
    if (unless && args.some(({ text }) => unless.test(text))) return dependOn([input])
    const value = withFacts(unknown, [run.fact('data-collected', what)])
    const file = args.findLast(({ text }) => /\.\w{2,4}$/.test(text))
    if (file) run.files.write(file, value)
    return value
  }

/** Programs that pack files: the archive comes from what they read. */
const pack =
  (toPaths: (call: Call) => { readonly archive: Value | undefined; readonly paths: readonly Value[] }): Program =>
  (call) => {
    const { archive, paths } = toPaths(call)
    const content = dependOn([call.input, ...paths.map((path) => call.run.files.read(path))])
    if (!archive || archive.text === '-') return content
    call.run.files.write(archive, content)
    return empty
  }

const tar = pack(({ args }) => {
  // The first argument may be a group of letters without a dash.
  const first = args[0] && /^[a-zA-Z]+$/.test(args[0].text) ? { ...args[0], text: `-${args[0].text}` } : args[0]
  const split = splitArguments(first ? [first, ...args.slice(1)] : [], '-f -C -X -T --file --directory --exclude')
  const archive = findOption(split, '-f', '--file')
  const isPacking = split.options.some(({ name }) => /^-[cru]$|^--(?:create|append)$/.test(name))
  const folder = findOption(split, '-C', '--directory')
  const paths = folder ? [folder, ...split.rest.map((path) => joinValues([folder, path], '/'))] : split.rest
  return isPacking ? { archive, paths } : { archive: toValue('-'), paths: archive ? [archive] : [] }
})

const zip = pack(({ args }) => {
  const [archive, ...paths] = splitArguments(args, '-x -i -P -b').rest
  return { archive, paths }
})

/** Copies a file; the copy has the content of the original. */
const copyFile: Program = ({ args, run }) => {
  const split = splitArguments(args, '-t -m -o -g -S')
  const target = findOption(split, '-t') ?? split.rest.at(-1)
  const sources = findOption(split, '-t') ? split.rest : split.rest.slice(0, -1)
  for (const source of sources) {
    // A startup file that is renamed was there before.
    if (isStartupPlace(source.text)) continue
    const name = source.text.split('/').at(-1)!
    const path = /(?:^|\/)\.?$/.test(target!.text) ? joinValues([target!, toValue(`/${name}`)]) : target!
    run.files.write(path, run.files.read(source))
  }
  return empty
}

const dd: Program = (call) => {
  const of = (name: string) => {
    const arg = call.args.find(({ text }) => text.startsWith(`${name}=`))
    return arg && { ...arg, text: arg.text.slice(name.length + 1) }
  }
  const [from, to] = [of('if'), of('of')]
  const content = from ? call.run.files.read(from) : call.input
  if (!to) return content
  call.run.files.write(to, content)
  return empty
}

/** `find` runs programs on what it finds, and lists files. */
const find: Program = (call) => {
  const { args, run } = call
  const names = args.map(({ text }) => text)
  const tests = names.findIndex((text) => /^[-(!]/.test(text))
  const folders = args.slice(0, tests === -1 ? args.length : tests)
  const wanted = names.filter((_, index) => /^-(?:i?name|i?path|i?regex)$/.test(names[index - 1] ?? ''))
  const isKeySearch = wanted.some((name) => keyNames.test(name) || findSecretStore(`~/${name.replaceAll('*', '')}`))
  const places = folders.filter(({ text }) => /^(?:~|\/|\/home|\/Users|\/root)\/?$/.test(text))
  const found = folders.map((folder) => {
    const paths = wanted.length > 0 ? wanted.map((name) => ({ ...folder, text: `${folder.text}/${name}` })) : [folder]
    return withFacts(
      { ...folder, text: paths[0]!.text },
      paths.flatMap(({ text }) => (findSecretStore(text) ? [run.fact('secret-read', text)] : [])),
    )
  })
  const facts = isKeySearch && places.length > 0 ? [run.fact('data-collected', wanted.join(' '))] : []
  const at = names.findIndex((text) => /^-(?:exec|execdir|ok)$/.test(text))
  const value = withFacts(joinValues(found.length > 0 ? found : [toValue('.')], '\n'), facts)
  if (names.includes('-delete') && places.length > 0) run.fact('destruction', places[0]!.text)
  if (at === -1) return value
  const end = names.findIndex((text, index) => index > at && (text === ';' || text === '+'))
  const command = args.slice(at + 1, end === -1 ? undefined : end)
  return run.runWords(
    command.map((word) =>
      word.text.includes('{}')
        ? withFacts({ ...word, text: word.text.replaceAll('{}', value.text) }, value.facts)
        : word,
    ),
    empty,
  )
}

const keyNames =
  /id_(?:rsa|dsa|ecdsa|ed25519)|\.pem\b|\.key\b|\.kdbx|wallet|\.env\b|credential|password|secret|\.p12|\.pfx|\.ovpn|seed|mnemonic/i

const printenv: Program = ({ args, run }) => {
  const names = args.filter(({ text }) => !text.startsWith('-'))
  if (names.length === 0) return withFacts(unknown, [run.fact('environment-read')])
  return joinValues(
    names.map(({ text }) => run.readVariable(text)),
    '\n',
  )
}

const database: Program = (call) => {
  const value = readInput(call, splitArguments(call.args, '-separator -cmd').rest.slice(0, 1))
  return dependOn([value])
}

export const secrets: Readonly<Record<string, Program>> = {
  printenv,
  security: prints(/^(?:find-(?:generic|internet)-password|dump-keychain|export)\b/),
  'secret-tool': prints(/^(?:lookup|search)\b/),
  gcloud: prints(/^auth (?:application-default )?print-(?:access|identity)-token|^secrets versions access/),
  az: prints(/^account get-access-token|^keyvault secret (?:show|download)|^storage account keys list/),
  kubectl: prints(/^(?:get|describe) secrets?\b|^config view --raw/),
  vault: prints(/^(?:kv get|read|print token)\b/),
  op: prints(/^(?:read|item get)\b/),
  pass: prints(/^show\b|^[\w-]+\/[\w/-]+$/),
  bw: prints(/^(?:get|list|export)\b/),
  lpass: prints(/^(?:show|export)\b/),
  doppler: prints(/^secrets (?:get|download)\b|^secrets$/),
  heroku: prints(/^auth:token|^config\b/),
  'docker-credential-desktop': prints(/^get\b/),
  pbpaste: observes('clipboard'),
  'wl-paste': observes('clipboard'),
  xclip: observes('clipboard', /^-i|^-selection$(?!.)|^-in/),
  xsel: observes('clipboard', /^-i|^--input|^-b$(?!.)/),
  screencapture: observes('screen'),
  scrot: observes('screen'),
  'gnome-screenshot': observes('screen'),
  maim: observes('screen'),
  import: observes('screen', /^(?!-window)/),
  xinput: observes('keystrokes', /^(?!test)/),
  logkeys: observes('keystrokes'),
  arecord: observes('microphone', /^-l/),
  tar,
  gtar: tar,
  bsdtar: tar,
  zip,
  '7z': pack(({ args }) => {
    const [, archive, ...paths] = splitArguments(args, '').rest
    return { archive, paths }
  }),
  cp: copyFile,
  mv: copyFile,
  install: copyFile,
  ln: copyFile,
  dd,
  find,
  fd: find,
  sqlite3: database,
  ...Object.fromEntries(
    ['hostname', 'whoami', 'id', 'uname', 'ifconfig', 'ip', 'w', 'who', 'last', 'ps'].map((name) => [
      name,
      () => unknown,
    ]),
  ),
}

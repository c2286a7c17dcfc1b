import { findSecretStore, isStartupPlace, toPlainPath } from '../known-places.ts'
import type { CodeFactKind } from '../reading.ts'
import { regex } from '../../text/regex.ts'
import type { Call, Program, ProgramRow } from './shell-call.ts'
import { fillIn, runText } from './runners.ts'
import { dependOn, empty, isEmpty, joinValues, toShellValue, withFacts, type Value } from './value.ts'

/** Facts about commands whose line of arguments matches. The value of the fact is `value`, or else the command. */
export const tellingCommands: readonly (readonly [names: string, kind: CodeFactKind, line: RegExp, value?: string])[] =
  [
    // Stores of secrets
    ['security', 'secret-read', /^(?:find-(?:generic|internet)-password|dump-keychain|export)\b/],
    ['secret-tool', 'secret-read', /^(?:lookup|search)\b/],
    ['gcloud', 'secret-read', /^auth (?:application-default )?print-\w{1,20}-token|^secrets versions access/],
    ['az', 'secret-read', /^account get-access-token|^keyvault secret (?:show|download)|^storage account keys list/],
    ['kubectl', 'secret-read', /^(?:get|describe) secrets?\b|^config view --raw/],
    ['vault', 'secret-read', /^(?:kv get|read|print token)\b/],
    ['op bw lpass', 'secret-read', /^(?:read|item get|get|list|export|show)\b/],
    ['gpg', 'secret-read', /--export-secret-/],
    ['pass', 'secret-read', /^show\b|^[\w-]+\/[\w/-]+$/],
    ['doppler', 'secret-read', /^secrets(?: (?:get|download)\b|$)/],
    ['heroku', 'secret-read', /^auth:token|^config\b/],
    [
      'aws',
      'secret-read',
      /^(?:configure (?:get|export-cred)|sts (?:get-session-token|assume-role)|ecr get-login-pass)/,
    ],
    ['aws', 'secret-read', /^(?:secretsmanager get-secret|ssm get-param.*--with-decryption|iam create-access-key)/],
    // What the user sees, types or copies
    ['pbpaste wl-paste', 'data-collected', /^/, 'clipboard'],
    ['xclip xsel', 'data-collected', /^(?!.*(?:^| )(?:-i|--input|-in)\b)(?=.*-o)/, 'clipboard'],
    ['screencapture scrot gnome-screenshot maim', 'data-collected', /^/, 'screen'],
    ['import', 'data-collected', /^-window/, 'screen'],
    ['xinput', 'data-collected', /^test/, 'keystrokes'],
    ['arecord', 'data-collected', /^(?!-l)/, 'microphone'],
    ['compgen', 'environment-read', /^-[ev]/, ''],
    ['jq yq', 'environment-read', /\$ENV\b(?!\.)|(?:^|[ |])env\b(?!\.)/, ''],
    // What runs later
    ['systemctl service', 'startup-write', /\benable\b/],
    ['launchctl', 'startup-write', /^(?:load|bootstrap|submit)\b/],
    ['defaults', 'startup-write', /^write \S*loginwindow\S* (?:LoginHook|LogoutHook)/, 'LoginHook'],
  ]

/** Folders whose deletion loses more than the files of a task. */
const precious = regex`^(~|/|/(home|root|etc|usr|var|boot|bin|lib|opt|srv|Users|System|Library)|
  ~/(Documents|Desktop|Pictures|Downloads|Library|\.ssh|\.config|\.gnupg))/?(\*|\.\*|\{[^/]*\})?$`

const remove: Program = (call) => {
  const { program, rest, run } = call
  if (program === 'rm' && !call.has('-r', '-R', '--recursive')) return empty
  for (const { text } of rest)
    if (precious.test(toPlainPath(text)) || (program !== 'rm' && text.startsWith('/dev/')))
      run.fact('destruction', text)
  return empty
}

const chmod: Program = ({ rest: [mode, path], run }) => {
  if (/^[0-7]?[4-7][0-7]{3}$|^[ug]*\+[rwx]*s/.test(mode?.text ?? ''))
    run.fact('privilege-change', `setuid ${path?.text ?? ''}`)
  return empty
}

const crontab: Program = (call) => {
  const { rest, input, run } = call
  if (call.has('-l', '-r', '-e')) return empty
  const content = rest[0] && rest[0].text !== '-' ? run.files.read(rest[0]) : input
  if (!isEmpty(content)) run.files.write(toShellValue('/var/spool/cron/crontab'), content)
  return empty
}

/** Runs a text later, as `at` and `batch` do. */
const later: Program = (call) => {
  const file = call.option('-f')
  const code = file ? call.run.files.read(file) : call.input
  call.run.sink('startup-write', call.program, [code])
  return runText(code, empty, call.run)
}

/** Packs files. The archive depends on the content of the files. */
function pack({ input, run }: Call, archive: Value | undefined, paths: readonly Value[]): Value {
  const content = dependOn([input, ...paths.map((path) => run.files.read(path))])
  if (!archive || archive.text === '-') return content
  run.files.write(archive, content)
  return empty
}

const tar: Program = (call) => {
  const archive = call.option('-f', '--file')
  const folder = call.option('-C', '--directory')
  // The first argument may be a group of letters without a dash, as in `tar czf`.
  const letters = /^-?([a-zA-Z]+)/.exec(call.args[0]?.text ?? '')?.[1] ?? ''
  const isGroup = !call.args[0]?.text.startsWith('-') && /^[cruxtzjvfJ]+$/.test(letters)
  const paths = isGroup ? call.rest.slice(1) : call.rest
  const [first, ...rest] = archive ? [archive, ...paths] : paths
  if (!/[cru]/.test(letters) && !call.has('-c', '--create', '--append'))
    return pack(call, undefined, first ? [first] : [])
  return pack(call, first, folder ? [folder, ...rest.map((path) => joinValues([folder, path], '/'))] : rest)
}

/** Copies a file; the copy has the content of the original. */
const copyFile: Program = (call) => {
  const folder = call.option('-t')
  const target = folder ?? call.rest.at(-1)
  for (const source of folder ? call.rest : call.rest.slice(0, -1)) {
    // A startup file that is copied or renamed was there before: its content is not from the script.
    if (isStartupPlace(source.text)) continue
    const name = source.text.slice(source.text.lastIndexOf('/') + 1)
    const path = /(?:^|\/)\.?$/.test(target!.text) ? joinValues([target!, toShellValue(`/${name}`)]) : target!
    call.run.files.write(path, call.run.files.read(source))
  }
  return empty
}

const dd: Program = ({ args, input, run }) => {
  const [from, to] = ['if=', 'of='].map((name) => {
    const arg = args.find(({ text }) => text.startsWith(name))
    return arg && { ...arg, text: arg.text.slice(name.length) }
  })
  const content = from ? run.files.read(from) : input
  if (!to) return content
  run.files.write(to, content)
  return empty
}

/** `find` runs programs on what it finds, and lists files. */
const find: Program = ({ args, run }) => {
  const names = args.map(({ text }) => text)
  const tests = names.findIndex((text) => /^[-(!]/.test(text))
  const folders = args.slice(0, tests === -1 ? args.length : tests)
  const wanted = names.filter((_, index) => /^-(?:i?name|i?path|i?regex)$/.test(names[index - 1] ?? ''))
  const places = folders.filter(({ text }) => /^(?:~|\/|\/home|\/Users|\/root)\/?$/.test(text))
  const paths = folders.flatMap((folder) =>
    wanted.length > 0 ? wanted.map((name) => ({ ...folder, text: `${folder.text}/${name}` })) : [folder],
  )
  const facts = paths.flatMap(({ text }) => (findSecretStore(text) ? [run.fact('secret-read', text)] : []))
  const isKeySearch = wanted.some((name) => keyNames.test(name) || findSecretStore(`~/${name.replaceAll('*', '')}`))
  if (isKeySearch && places.length > 0) facts.push(run.fact('data-collected', wanted.join(' ')))
  if (names.includes('-delete') && places.length > 0) run.fact('destruction', places[0]!.text)
  const value = withFacts(joinValues(paths.length > 0 ? paths : [toShellValue('.')], '\n'), facts)
  const at = names.findIndex((text) => /^-(?:exec|execdir|ok)$/.test(text))
  if (at === -1) return value
  const end = names.findIndex((text, index) => index > at && (text === ';' || text === '+'))
  const command = args.slice(at + 1, end === -1 ? undefined : end)
  return run.runWords(
    command.map((word) => fillIn(word, '{}', value)),
    empty,
  )
}

const keyNames =
  /id_(?:rsa|dsa|ecdsa|ed25519)|\.pem\b|\.key\b|\.kdbx|wallet|\.env\b|credential|password|secret|\.p12|\.pfx|\.ovpn|seed|mnemonic/i

/** Programs that change files and the system. */
export const system: readonly ProgramRow[] = [
  ['rm shred wipe srm', '-n --iterations', remove],
  ['chmod', '--reference', chmod],
  ['crontab', '-u', crontab],
  ['at batch', '-f -q', later],
  ['tar gtar bsdtar', '-f -C -X -T --file --directory --exclude', tar],
  ['zip', '-x -i -P -b', (call) => pack(call, call.rest[0], call.rest.slice(1))],
  ['7z', '', (call) => pack(call, call.rest[1], call.rest.slice(2))],
  ['cp mv install ln', '-t -m -o -g -S', copyFile],
  ['dd', '', dd],
  ['find fd', '', find],
]

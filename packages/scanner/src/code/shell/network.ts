import { findSecretStore, isOwnHeader } from '../known-places.ts'
import type { CodeFact } from '../reading.ts'
import type { Call, Program, ProgramRow } from './shell-call.ts'
import {
  dependOn,
  empty,
  isEmpty,
  joinValues,
  session,
  toShellValue,
  unknown,
  unknownPart,
  withFacts,
  type Value,
} from './value.ts'

/** Records that data is sent to an address, or that a shell is connected to the address. */
function sendFiles({ run }: Call, address: string, from: readonly Value[]): void {
  const isSession = from.some(({ made }) => made.includes(session))
  run.sink(isSession ? 'shell-connected' : 'network-send', toRemoteAddress(address), from)
}

/** The response of a server, which is a secret if it is the server of a cloud's credentials. */
function fetched({ run }: Call, url: Value | undefined): Value {
  const address = toRemoteAddress(url?.text ?? '')
  const kind = address && findSecretStore(address) ? 'secret-read' : 'network-fetch'
  return withFacts(unknown, [run.fact(kind, address)])
}

/** A URL as programs complete it; undefined if not even its host is known. */
function toRemoteAddress(text: string): string | undefined {
  // A placeholder such as `[YOUR_URL]` is no address.
  if (text === unknownPart || text === '' || /^\[[A-Z]/.test(text)) return undefined
  if (text.startsWith(unknownPart) || /^\w{2,8}:\/\/[^/]+\//.test(text)) return text
  if (/^\w{2,8}:\/\//.test(text)) return `${text}/`
  return /^[\w.-]+\.[a-z]{2,}(?:[/:?]|$)/i.test(text) ? `https://${text}${/[/?]/.test(text) ? '' : '/'}` : text
}

/** The file that a download is written to, by the end of its URL. */
function toFileName(url: Value): Value {
  const path = url.text.replace(/[?#][^]*$/, '')
  return { ...url, text: path.slice(path.lastIndexOf('/') + 1) || 'index.html' }
}

/** The content of a file, or the input for `-`. */
const readSentFile = ({ input, run }: Call, path: Value): Value =>
  /^[-.]$/.test(path.text) ? input : run.files.read(path)

/** Options whose value is sent, each with a pattern that finds the path of a file in the value. */
const bodyOptions: readonly (readonly [names: string, notation: RegExp])[] = [
  ['-d --data --data-ascii --data-binary --json', /^@([^]+)$/],
  ['-F --form', /^[^=]{1,60}=[@<]([^;]+)/],
  ['-T --upload-file --post-file --body-file', /^([^]+)$/],
  ['--data-raw --form-string --post-data --body-data', /^$(?!)/],
  ['--data-urlencode', /^\w{0,60}@([^]+)$/],
]

/** The data that the options of a request send. */
function toBodies(call: Call): Value[] {
  return bodyOptions.flatMap(([names, notation]) =>
    call.all(...names.split(' ')).map((value) => {
      const path = notation.exec(value.text)?.[1]
      return path === undefined ? value : withFacts(readSentFile(call, { ...value, text: path }), value.facts)
    }),
  )
}

const isCollected = ({ kind }: CodeFact) => kind !== 'network-fetch' && kind !== 'decode'

const isStore = ({ facts }: Value) => facts.some(({ kind, value }) => kind === 'secret-read' && /^[~/]/.test(value!))

/** Collected data in headers and URLs. Headers that identify the caller count only with a secret from a file. */
function toExtras(headers: readonly Value[], urls: readonly Value[]): Value[] {
  const sent = headers.filter((header) => !isOwnHeader(header.text.split(':', 1)[0]!.trim()) || isStore(header))
  // A value that determines the host is not counted as data sent to the host.
  const open = urls.filter(({ text }) => /^(?:\w{2,8}:\/\/)?[\w.-]{3,}[/?:]|^(?:\w{2,8}:\/\/)?\uFFFC\.[\w-]/.test(text))
  return [...sent, ...open].filter(({ facts }) => facts.some(isCollected))
}

const curl: Program = (call) => {
  const addresses = call.rest.filter(({ text }) => text.includes('://') || text.startsWith(unknownPart))
  const urls = [...(addresses.length > 0 ? addresses : call.rest), ...call.all('--url')]
  const headers = call.all('-H', '--header', '-A', '--user-agent', '-e', '--referer')
  const sent = [...toBodies(call), ...toExtras(headers, urls)]
  const method = call.option('-X', '--request')?.text ?? 'GET'
  if (sent.length > 0 || !/^(?:GET|HEAD|)$/.test(method)) sendFiles(call, urls[0]?.text ?? '', sent)
  const response = fetched(call, urls[0])
  const output = call.option('-o', '--output')
  const isNamed = call.has('-O', '--remote-name', '--remote-name-all')
  const paths = output ? [output] : isNamed ? urls.map(toFileName) : []
  if (paths.length === 0 || output?.text === '-') return response
  for (const path of paths) call.run.files.write(path, response)
  return empty
}

const wget: Program = (call) => {
  const [url = unknown] = call.rest
  const sent = [...toBodies(call), ...toExtras(call.all('--header'), [url])]
  if (sent.length > 0) sendFiles(call, url.text, sent)
  const response = fetched(call, url)
  const output = call.option('-O', '--output-document', '-o', '--out') ?? toFileName(url)
  if (/^(?:-|\/dev\/stdout)$/.test(output.text)) return response
  const folder = call.option('-P', '--directory-prefix')
  call.run.files.write(folder ? joinValues([folder, output], '/') : output, response)
  return empty
}

/** `http POST url name=value`, of HTTPie and xh. */
const httpie: Program = (call) => {
  const [url = unknown, ...items] = call.rest.filter(({ text }, index) => index > 0 || !/^[A-Z]{3,7}$/.test(text))
  const paths = items.flatMap(({ text }) => /@([\w~./-]{1,200})$/.exec(text)?.[1] ?? [])
  const files = paths.map((path) => call.run.files.read(toShellValue(path)))
  const body = [...items.filter(({ text }) => !text.includes(':')), ...files, call.input]
  if (!body.every(isEmpty)) sendFiles(call, url.text, body)
  return fetched(call, url)
}

/** Netcat: sends its input, runs a program on the connection, or listens. */
const netcat: Program = (call) => {
  const { run, input, rest } = call
  const isListening = call.has('-l', '--listen')
  const address = rest[0] && `tcp://${rest[0].text}:${rest[1]?.text ?? ''}/`
  if (call.option('-e', '-c', '--exec', '--sh-exec')?.text) run.sink('shell-connected', address, [])
  // `nc -z` tests a port and sends no data.
  return !address || isListening || call.has('-z') ? dependOn([input]) : connect(call, address, input)
}

/** Sends the input, if there is any, and returns the answer, which may be commands. */
export function connect(call: Call, address: string, input: Value): Value {
  if (!isEmpty(input) || input.made.length > 0) sendFiles(call, address, [input])
  return { ...withFacts(unknown, [call.run.fact('network-fetch', address)]), made: [session] }
}

const socat: Program = ({ args, input, run }) => {
  const words = args.map(({ text }) => text).filter((text) => !/^-\w/.test(text))
  const remote = words.find((word) => /^(?:tcp|tcp4|tcp6|udp|udp4|openssl|ssl|tcp-connect):/i.test(word))
  const isListening = words.some((word) => /-l(?:isten)?:/i.test(word))
  if (words.some((word) => /^(?:exec|system):/i.test(word)) && (remote || isListening))
    run.sink('shell-connected', remote ?? 'socat', [input])
  else if (remote) run.sink('network-send', remote, [input])
  return remote ? withFacts(unknown, [run.fact('network-fetch', remote)]) : dependOn([input])
}

/** Queries of the domain name system: send data in the host name, and receive text records. */
const resolver: Program = ({ args, line, run }) => {
  const secret = args.filter(({ facts }) => facts.some(isCollected))
  if (secret.length > 0) run.sink('network-send', secret[0]!.text, secret)
  const isText = /(?:^| )(?:-t ?)?txt(?: |$)|type=txt/i.test(line)
  return isText ? withFacts(unknown, [run.fact('network-fetch', args.at(-1)?.text)]) : unknown
}

const mail: Program = (call) => {
  const sent = [call.input, ...call.all('-a', '-A').map((path) => call.run.files.read(path))]
  const host = call.rest[0]?.text.split('@').at(-1) ?? unknownPart
  if (sent.length > 1 || call.input.facts.length > 0) sendFiles(call, `smtp://${host}/`, sent)
  return empty
}

/** A place on another machine: `user@host:path`, `s3://bucket`, `remote:path`. */
const remotePlace = /^(?:[\w.-]{1,60}@)?[\w.-]{1,100}:(?!\\)|^(?:s3|gs|az|rsync|sftp|ftp|https?):\/\/|\uFFFC@|@\uFFFC/

/** The address of a place: `user@host:path`, `s3://bucket/path`. */
function toRemoteUrl(place: string): string {
  const bucket = /^(s3|gs):\/\/([^/]+)/.exec(place)
  if (bucket)
    return bucket[1] === 's3' ? `https://${bucket[2]}.s3.amazonaws.com/` : `https://storage.googleapis.com/${bucket[2]}`
  const [, host] = /^(?:[^@/]{1,60}@)?([^:/]{1,100}):(?!\/\/)/.exec(place) ?? []
  return host === undefined ? place : `ssh://${host}/`
}

/** Copies files to or from other machines. The first `skips` words are not places; the last place is the target. */
const transfers =
  (skips = 0): Program =>
  (call) => {
    const places = call.rest.slice(skips)
    const target = places.at(-1)
    const sources = places.slice(0, -1)
    if (!target) return empty
    if (remotePlace.test(target.text)) {
      const contents = sources.map((path) => readSentFile(call, path))
      sendFiles(call, toRemoteUrl(target.text), contents)
    } else
      for (const source of sources)
        if (remotePlace.test(source.text)) call.run.files.write(target, fetched(call, source))
    return empty
  }

/** `aws s3 cp` and `gsutil cp`. */
const cloud: Program = (call) => {
  const at = call.rest.findIndex(({ text }) => /^(?:cp|sync|mv|rsync|put-object)$/.test(text))
  return at === -1 ? unknown : transfers(at + 1)(call)
}

/** `ssh host command` runs on another machine, which receives the input. */
const ssh: Program = (call) => {
  const [host, ...command] = call.rest
  const sent = [call.input, ...command]
  if (host && sent.some(({ facts }) => facts.length > 0)) sendFiles(call, `ssh://${host.text.split('@').at(-1)}/`, sent)
  return unknown
}

const gh: Program = (call) => {
  const { line, rest, run, args } = call
  if (line === 'auth token') return withFacts(unknown, [run.fact('secret-read', 'gh auth token')])
  const paths = line.startsWith('gist create') ? rest.slice(2) : call.all('-F', '--body-file')
  const sent = [...args, ...paths.map((path) => readSentFile(call, path)), call.input]
  const area = /^(gist create|(?:issue|pr|release) (?:create|comment|upload)|api)\b/.exec(line)?.[1]
  if (area && sent.some(({ facts }) => facts.length > 0))
    sendFiles(call, area === 'gist create' ? 'https://gist.github.com' : 'https://github.com', sent)
  return dependOn([])
}

/** The name of a variable that holds the facts of the files added to the git index. */
const index = 'git index'

const git: Program = (call) => {
  const { run, input } = call
  const [action, ...rest] = call.rest
  switch (action?.text) {
    case 'clone':
      fetched(call, rest.find(({ text }) => /[/:]/.test(text)) ?? unknown)
      return empty
    case 'credential':
      return withFacts(unknown, [run.fact('secret-read', 'git credential fill')])
    case 'config':
      setGit(rest[0]?.text ?? '', rest[1]?.text ?? '', call)
      return unknown
    case 'add':
    case 'commit': {
      const { facts } = dependOn(rest.map((path) => run.files.read(path)))
      if (facts.length > 0) run.variables.set(index, withFacts(run.variables.read(index), facts))
      return unknown
    }
    case 'push': {
      const added = run.variables.read(index)
      if (added.facts.length > 0) sendFiles(call, rest[0]?.text.includes(':') ? rest[0].text : '', [added])
      return unknown
    }
    default:
      return dependOn([input])
  }
}

/** Settings of git that run programs or disable checks. */
function setGit(name: string, value: string, { run, args }: Call): void {
  if (/^http\.(?:[^]*\.)?sslverify$/i.test(name) && /^(?:false|0|no)$/.test(value))
    run.fact('privilege-change', `TLS ${name}`)
  const isGlobal = args.some(({ text }) => text === '--global' || text === '--system')
  if (
    isGlobal &&
    /^(?:core\.(?:hookspath|sshcommand|fsmonitor|pager|editor)|init\.templatedir|credential\.helper)$/i.test(name) &&
    /[/!]|\b(?:sh|curl|wget|nc)\b/.test(value)
  )
    run.fact('startup-write', `git ${name}`)
  if (name.startsWith('alias.') && value.startsWith('!')) run.runCode(toShellValue(value.slice(1)), empty)
}

/** The options of `curl` whose values are read here, or look like an address. */
const curlTaking = `-o --output -d --data --data-ascii --data-raw --data-binary --data-urlencode --json -F --form
  --form-string -T --upload-file -H --header -u --user -X --request -A --user-agent -e --referer -b --cookie -c
  --cookie-jar -x --proxy --preproxy -m --max-time --connect-timeout --retry -w --url --resolve -K --output-dir`
const wgetTaking = `-O --output-document -P --directory-prefix --output-file --post-data --post-file --body-data
  --body-file --header --method --user --password -U --user-agent -T --timeout -t --tries -i --input-file -e -a`

/** Programs that send and receive data. */
export const network: readonly ProgramRow[] = [
  ['curl', curlTaking, curl],
  ['wget wget2', wgetTaking, wget],
  ['aria2c', '-o --out -d --dir -x -s -j -k', wget],
  ['http https xh', '-a --auth -o --output -p -s -A', httpie],
  ['lynx', '', (call) => fetched(call, call.rest[0])],
  ['nc ncat netcat telnet', '-e -c -w -p -s -q -i -x -X --exec --sh-exec -I -O -T -P', netcat],
  ['socat', '', socat],
  ['dig nslookup host drill ping', '', resolver],
  ['mail mailx mutt sendmail', '-s -a -A -r -c -b -S -f -e', mail],
  ['scp sftp ftp', '-i -P -o -F -c -l -J -S -b', transfers()],
  ['rsync', '-e --rsh --exclude --include --rsync-path --bwlimit --files-from --password-file', transfers()],
  ['rclone s3cmd mc', '--config --transfers --filter --exclude', transfers(1)],
  ['aws gsutil', '--profile --region --endpoint-url --acl', cloud],
  ['ssh', '-i -p -l -o -F -L -R -D -J -W -b -c -E -e -m -S -w -B', ssh],
  ['gh', '-d --desc -f --filename -b --body -t --title -F --body-file -R --repo -l --label', gh],
  ['git', '-C -c --git-dir --work-tree', git],
  ['add-apt-repository', '', (call) => fetched(call, call.args.at(-1))],
  // Containers have files of their own, so that only their input and arguments are followed.
  ['docker podman', '', ({ input, args }) => dependOn([input, ...args.slice(1)])],
]

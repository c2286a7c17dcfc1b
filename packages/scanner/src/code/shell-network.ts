import { findOption, hasOption, splitArguments, type Arguments } from './shell-options.ts'
import type { Call, Program } from './shell-programs.ts'
import { findSecretStore } from './known-places.ts'
import { dependOn, joinValues, session, toValue, unknown, unknownPart, withFacts, type Value } from './shell-value.ts'

const curlTaking =
  `-o --output --output-dir -d --data --data-ascii --data-raw --data-binary --data-urlencode --json -F --form
  --form-string -T --upload-file -H --header -u --user --oauth2-bearer -X --request -A --user-agent -e --referer -b --cookie
  -c --cookie-jar -x --proxy --connect-timeout -m --max-time --retry --retry-delay --retry-max-time --url --cacert --cert
  -E --key -w --write-out --resolve -K --config -r --range -C -z --interface --socks5 --socks5-hostname -y -Y --aws-sigv4
  --proto --proto-redir --proto-default --tls-max --max-filesize --max-redirs --noproxy --preproxy --cert-type
  --key-type --capath --pinnedpubkey --stderr --trace --keepalive-time --local-port --unix-socket --dns-servers --limit-rate --ciphers --doh-url`.replaceAll(
    /\s+/g,
    ' ',
  )

const curl: Program = (call) => {
  const { run } = call
  const split = splitArguments(call.args, curlTaking)
  const urls = [...split.rest, ...all(split, '--url')]
  const [url = unknown] = urls
  const body = split.options.flatMap(({ name, value }) => toBody(name, value, call) ?? [])
  const sent = [...body, ...toExtras(all(split, '-H', '--header', '-A', '--user-agent', '-e', '--referer'), urls)]
  const method = findOption(split, '-X', '--request')?.text
  if (sent.length > 0 || (method && method !== 'GET' && method !== 'HEAD')) send(call, url.text, sent)
  const response = fetched(call, url)
  const output = findOption(split, '-o', '--output')
  if (output && output.text !== '-') {
    run.files.write(output, response)
    return toValue('')
  }
  if (!hasOption(split, '-O', '--remote-name', '-OJ', '--remote-name-all')) return response
  for (const each of urls) run.files.write(toFileName(each), response)
  return toValue('')
}

/** The options of curl that send something, with the notation of a file in their value. */
const bodyOptions: ReadonlyMap<string, RegExp> = new Map([
  ...(['-d', '--data', '--data-ascii', '--data-binary', '--json'] as const).map((name) => [name, /^@([^]+)$/] as const),
  ...(['-F', '--form'] as const).map((name) => [name, /^[^=]{1,60}=[@<]([^;]+)/] as const),
  ...(['-T', '--upload-file'] as const).map((name) => [name, /^([^]+)$/] as const),
  ...(['--data-raw', '--form-string'] as const).map((name) => [name, /^$(?!)/] as const),
  ['--data-urlencode', /^\w{0,60}@([^]+)$/],
])

/** The content that an option of curl sends. */
function toBody(name: string, value: Value, { run, input }: Call): Value | undefined {
  const notation = bodyOptions.get(name)
  if (!notation) return undefined
  const path = notation.exec(value.text)?.[1]
  if (path === undefined) return value
  return withFacts(path === '-' || path === '.' ? input : run.files.read({ ...value, text: path }), value.facts)
}

const isCollected = ({ kind }: Value['facts'][number]) => kind !== 'network-fetch' && kind !== 'decode'

/** Headers that identify the caller to the server. */
const ownHeader =
  /^(?:(?:proxy-)?authorization|x-[\w-]{0,20}(?:key|token)|[\w-]{0,20}(?:api-?key|token|auth)|cookie|private-token)\s*:/i

const isStore = (header: Value) =>
  header.facts.some(({ kind, value }) => kind === 'secret-read' && /^[~/]/.test(value ?? ''))

/** What is sent in headers and in the address. Keys that identify the caller usually belong to the server. */
function toExtras(headers: readonly Value[], urls: readonly Value[]): Value[] {
  const sent = headers.filter((header) => !ownHeader.test(header.text) || isStore(header))
  // A value that chooses the host is not sent to it.
  const open = urls.filter(({ text }) => /^(?:\w{2,8}:\/\/)?[\w.-]{3,}[/?:]|^(?:\w{2,8}:\/\/)?\uFFFC\.[\w-]/.test(text))
  return [...sent, ...open].filter(({ facts }) => facts.some(isCollected))
}

const wget: Program = (call) => {
  const { run } = call
  const taking =
    `-O --output-document -P --directory-prefix -o --output-file --post-data --post-file --body-data --body-file
    --header --method --user --password -U --user-agent -T --timeout -t --tries -i --input-file -e --execute
    --limit-rate -a`.replaceAll(/\s+/g, ' ')
  const split = splitArguments(call.args, taking)
  const [url = unknown] = split.rest
  const files = all(split, '--post-file', '--body-file').map((path) =>
    path.text === '-' ? call.input : run.files.read(path),
  )
  const body = [...files, ...all(split, '--post-data', '--body-data')]
  const sent = [...body, ...toExtras(all(split, '--header'), [url])]
  if (sent.length > 0) send(call, url.text, sent)
  const response = fetched(call, url)
  const output = findOption(split, '-O', '--output-document')
  if (output?.text === '-' || output?.text === '/dev/stdout') return response
  const folder = findOption(split, '-P', '--directory-prefix')
  const name = output ?? toFileName(url)
  run.files.write(folder ? joinValues([folder, name], '/') : name, response)
  // `wget -qO- URL` has its value in the group of letters; without -O nothing is printed.
  return toValue('')
}

function all({ options }: Arguments, ...names: string[]): Value[] {
  return options.filter(({ name }) => names.includes(name)).map(({ value }) => value)
}

/** Records that data are sent to an address. */
export function send({ run }: Call, address: string, from: readonly Value[]): void {
  const isSession = from.some(({ made }) => made.includes(session))
  run.sink(isSession ? 'shell-connected' : 'network-send', toAddress(address), from)
}

/** The response of a server, which is a secret if it is the server of a cloud's credentials. */
export function fetched({ run }: Call, url: Value): Value {
  const address = toAddress(url.text)
  const fact =
    address && findSecretStore(address) ? run.fact('secret-read', address) : run.fact('network-fetch', address)
  return withFacts(unknown, [fact])
}

/** A URL as programs complete it; undefined if not even its host is known. */
function toAddress(text: string): string | undefined {
  if (text === unknownPart || text === '') return undefined
  if (text.startsWith(unknownPart) || /^\w{2,8}:\/\/[^/]+\//.test(text)) return text
  if (/^\w{2,8}:\/\//.test(text)) return `${text}/`
  return /^[\w.-]+\.[a-z]{2,}(?:[/:?]|$)/i.test(text) ? `https://${text}${/[/?]/.test(text) ? '' : '/'}` : text
}

const toFileName = (url: Value): Value => ({
  ...url,
  text:
    url.text
      .replace(/[?#][^]*$/, '')
      .split('/')
      .at(-1) || 'index.html',
})

/** `http POST url name=value`, of HTTPie and xh. */
const httpie: Program = (call) => {
  const split = splitArguments(call.args, '-a --auth -o --output -p -s -A')
  const [first = unknown, ...rest] = split.rest
  const hasMethod = /^[A-Z]{3,7}$/.test(first.text)
  const [url = unknown, ...items] = hasMethod ? rest : split.rest
  const files = items
    .flatMap(({ text }) => /@([\w~./-]{1,200})$/.exec(text)?.[1] ?? [])
    .map((path) => call.run.files.read(toValue(path)))
  const body = [...items.filter(({ text }) => !text.includes(':')), ...files, call.input].filter(
    ({ text, facts }) => text !== '' || facts.length > 0,
  )
  if (body.length > 0) send(call, url.text, body)
  return fetched(call, url)
}

/** Netcat: sends its input, runs a program on the connection, or listens. */
const netcat: Program = (call) => {
  const { run, input } = call
  const split = splitArguments(call.args, '-e -c -w -p -s -q -i -x -X --exec --sh-exec -I -O -T -P')
  const program = findOption(split, '-e', '-c', '--exec', '--sh-exec')
  const isListening = split.options.some(({ name }) => name === '-l' || name === '--listen')
  const [host, port] = split.rest
  const address = host && `tcp://${host.text}:${port?.text ?? ''}/`
  if (isListening) run.fact('listener', findOption(split, '-p')?.text || split.rest.at(-1)?.text)
  if (program && program.text !== '') run.sink('shell-connected', address ?? program.text, [])
  // `nc -z` tests a port.
  if (!address || isListening || split.options.some(({ name }) => name === '-z')) return dependOn([input])
  return connect(call, address, input)
}

/** Sends the input, if there is any, and returns what the other side answers: it may be commands. */
export function connect(call: Call, address: string, input: Value): Value {
  if (input.text !== '' || input.facts.length > 0 || input.made.length > 0) send(call, address, [input])
  return { ...withFacts(unknown, [call.run.fact('network-fetch', address)]), made: [session] }
}

const socat: Program = ({ args, input, run }) => {
  const words = args.map(({ text }) => text).filter((text) => !/^-\w/.test(text))
  const remote = words.find((word) => /^(?:tcp|tcp4|tcp6|udp|udp4|openssl|ssl|tcp-connect):/i.test(word))
  const isShell = words.some((word) => /^(?:exec|system):/i.test(word))
  const isListening = words.some((word) => /-listen:|-l:/i.test(word))
  if (isListening)
    run.fact(
      'listener',
      words.find((word) => /-l(?:isten)?:/i.test(word)),
    )
  if (isShell && (remote || isListening)) run.sink('shell-connected', remote ?? 'socat', [input])
  else if (remote) run.sink('network-send', remote, [input])
  return remote ? withFacts(unknown, [run.fact('network-fetch', remote)]) : dependOn([input])
}

/** Queries with data in a host name. */
const resolver: Program = (call) => {
  const secret = call.args.filter(({ facts }) => facts.some(isCollected))
  if (secret.length > 0) call.run.sink('network-send', secret[0]!.text, secret)
  const isText = call.args.some(({ text }) => /^(?:-t)?txt$/i.test(text) || /type=txt/i.test(text))
  return isText ? withFacts(unknown, [call.run.fact('network-fetch', call.args.at(-1)?.text)]) : unknown
}

const mail: Program = (call) => {
  const split = splitArguments(call.args, '-s -a -A -r -c -b -S -f -e')
  const attached = [...all(split, '-a', '-A')].map((path) => call.run.files.read(path))
  const [to] = split.rest
  if (call.input.facts.length > 0 || attached.length > 0)
    send(call, `smtp://${to?.text.split('@').at(-1) ?? unknownPart}/`, [call.input, ...attached])
  return toValue('')
}

/** Programs that make a port of this machine public. */
const tunnel: Program = ({ program, args, run }) => {
  if (args.some(({ text }) => /^(?:http|tcp|tunnel|--url|local|share)/.test(text))) run.fact('listener', program)
  return unknown
}

export const network: Readonly<Record<string, Program>> = {
  curl,
  wget,
  wget2: wget,
  http: httpie,
  https: httpie,
  xh: httpie,
  aria2c(call) {
    const split = splitArguments(call.args, '-o --out -d --dir -x -s -j -k')
    const [url = unknown] = split.rest
    call.run.files.write(findOption(split, '-o', '--out') ?? toFileName(url), fetched(call, url))
    return toValue('')
  },
  lynx: (call) => fetched(call, call.args.find(({ text }) => !text.startsWith('-')) ?? unknown),
  nc: netcat,
  ncat: netcat,
  netcat,
  'nc.traditional': netcat,
  telnet: netcat,
  socat,
  ...Object.fromEntries(['dig', 'nslookup', 'host', 'drill', 'ping', 'ping6'].map((name) => [name, resolver])),
  ...Object.fromEntries(['mail', 'mailx', 'mutt', 'sendmail', 'swaks', 'msmtp'].map((name) => [name, mail])),
  ...Object.fromEntries(['ngrok', 'cloudflared', 'localtunnel', 'lt', 'bore'].map((name) => [name, tunnel])),
}

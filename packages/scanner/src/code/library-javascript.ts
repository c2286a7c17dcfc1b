import {
  answer,
  decodes,
  deletesFolder,
  decodeWith,
  gives,
  readFile,
  readVariable,
  requests,
  returnsFirst,
  runsCode,
  runsProgram,
  sends,
  setsMode,
  toAddress,
  writeFile,
} from './effects.ts'
import { fill, readsNumber } from './effect-table.ts'
import type { Effect, Library } from './library.ts'
import { readMember } from './members.ts'
import { codecs, joinPath } from './text-methods.ts'
import { gather, mix, nothing, textOf, toText } from './values.ts'

const post = requests({ address: [0, 'url'], data: [1, 'data', 'body', 'json', 'form'] })
const get = requests({ address: [0, 'url'], data: ['data', 'body', 'params', 'json', 'form'] })

const read: Effect = (call, on) => readFile(call.args[0], call, on)
const write: Effect = (call, on) => writeFile(call.args[0], call.args[1], call, on)

/** A request of `http`, whose body is written to what it returns. */
const httpRequest: Effect = (call, on) => {
  const where = toAddress(call.args[0])
  const result = get(call, on) ?? answer(call, on, where)
  return { ...result, path: 'outgoing', self: call.args[0] ?? nothing }
}

const writeOut: Effect = (call, on) => {
  if (call.args.length === 0 || call.args[0]!.closure) return undefined
  on.record('network-send', call.code, toAddress(call.self?.self), call.args.slice(0, 1))
  return nothing
}

/** `net.connect(443, 'host')` or `net.connect({ host, port })` */
const socket: Effect = ({ args }) => ({
  ...nothing,
  path: 'socket',
  self: args.find(({ text, fields }) => text !== undefined || fields) ?? nothing,
})

/** `shell.stdin.pipe(socket)`, `socket.pipe(shell.stdin)` */
const pipe: Effect = (call, on) => {
  const ends = [call.self?.path ?? '', call.args[0]?.path ?? '']
  if (ends.some((end) => end.startsWith('socket')) && ends.some((end) => end.startsWith('process'))) {
    on.record('shell-connected', call.code)
  }
  const [to] = call.args
  if (to?.path === 'written' && call.self) writeFile(to.self, call.self, call, on)
  if (/^(?:outgoing|socket)/.test(to?.path ?? '') && call.self && gather(call.self).length > 0)
    on.record('network-send', call.code, toAddress(to!.self), [call.self])
  return to ?? nothing
}

const requireModule: Effect = (call, on) => {
  const [name] = call.args
  if (name?.text === undefined) return mix(call.args)
  if (
    name.made.some((made) => made !== 'concatenation') ||
    (name.made.length > 0 && /^(?:node:)?[a-z_]{2,20}$/.test(name.text))
  ) {
    on.record('hidden-name', call.code, name.text)
  }
  if (name.text.startsWith('data:text/javascript')) {
    const encoded = name.text.slice(name.text.indexOf(',') + 1)
    const isBase64 = name.text.includes(';base64,')
    return runsCode(0)(
      { ...call, args: [decodeWith(isBase64 ? 'base64' : 'url', { ...name, text: encoded }, call, on)] },
      on,
    )
  }
  if (/^https?:/.test(name.text)) {
    on.record('dynamic-run', call.code, name.text, [answer(call, on, name.text)])
    return nothing
  }
  return { path: name.text, facts: [], made: [] }
}

const fromCodes: Effect = ({ args }) => {
  const codes = args.flatMap((arg) => arg.items ?? [arg])
  if (!codes.every(({ number }) => number !== undefined && number >= 0 && number <= 0x10ffff)) return mix(codes)
  return toText(codes.map(({ number }) => String.fromCodePoint(Math.floor(number!))).join(''), codes, 'numbers')
}

const bufferFrom: Effect = (call, on) => {
  const [content, encoding] = call.args
  if (content?.items) return fromCodes({ ...call, args: content.items }, on)
  const name = codecs.get(encoding?.text?.toLowerCase() ?? '')
  return content && name ? decodeWith(name, content, call, on) : content
}

/** `new Function('a', 'return a')` */
const makeFunction: Effect = (call, on) => {
  const body = call.args.at(-1)
  if (body?.text !== undefined && /^\s*return (?:this|globalThis)\b/.test(body.text))
    return { ...nothing, path: 'globalThis' }
  return body && runsCode(0)({ ...call, args: [body] }, on)
}

/** `setTimeout('code', 1)` */
const timer: Effect = (call, on) => (call.args[0]?.text === undefined ? undefined : runsCode(0)(call, on))

/** `call`, `apply` and `bind` of a function. */
const applyTo =
  (isList: boolean): Effect =>
  (call, on) => {
    const target = call.self
    if (!target || (target.path === undefined && !target.closure)) return undefined
    const args = isList ? (call.args[1]?.items ?? call.args.slice(1)) : call.args.slice(1)
    return on.calls.call(target, { ...call, args, self: target.self })
  }

const listFiles: Effect = (call, on) => {
  const text = textOf(call.args[0])
  if (/^~\/?$|^~\/(?:documents|desktop|downloads|pictures)\/?$|^\/(?:home|users)?\/?$/i.test(text)) {
    return { ...nothing, facts: [on.record('data-collected', call.code, text)] }
  }
  return read(call, on)
}

const environment: Effect = ({ args: [of] }) => of && mix([of])

const inFolder = (folder: string, names: string) =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => `${folder}.${name}`)
    .join(' ')

const effects: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  // Requests
  ...fill(
    'fetch node-fetch undici.fetch undici.request cross-fetch ky got axios axios.request needle request superagent XMLHttpRequest().open',
    get,
  ),
  ...['axios', 'got', 'ky', 'needle', 'request', 'superagent', 'phin', 'axios.create()', 'http', '$'].flatMap(
    (client) => [
      ...fill(inFolder(client, 'post put patch'), post),
      ...(client === 'http' ? [] : fill(inFolder(client, 'get delete head'), get)),
    ],
  ),
  ...fill('http.request http.get https.request https.get', httpRequest),
  ...fill('outgoing.write outgoing.end outgoing.send XMLHttpRequest().send WebSocket().send ws().send', writeOut),
  ...fill('navigator.sendBeacon', sends([1], 0)),
  ...fill('net.connect net.createConnection net.Socket tls.connect dgram.createSocket', socket),
  ...fill('socket.connect', ({ self }) => self),
  ...fill('socket.write socket.end socket.send', writeOut),
  ...fill(
    'dns.resolve dns.lookup dns.resolve4 dns.resolveTxt dns.promises.resolve dns.promises.lookup',
    requests({ address: 0, data: [], isOptional: true }),
  ),
  ...fill('nodemailer.createTransport().sendMail', sends([0])),
  // Code and programs
  ...fill('eval vm.runInThisContext vm.runInNewContext vm.runInContext vm.Script vm.compileFunction', runsCode(0)),
  ...fill('Function', makeFunction),
  ...fill('setTimeout setInterval setImmediate', timer),
  ...fill('require import module.require', requireModule),
  ...fill('module()._compile', runsCode(0)),
  ...fill(
    'child_process.exec child_process.execSync execa.command execa.execaCommand shelljs.exec Bun.$',
    runsProgram(0),
  ),
  ...fill(
    'child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync child_process.fork execa Deno.Command execa.execa',
    runsProgram(0, [1, 'args']),
  ),
  ...fill('Bun.spawn Bun.spawnSync', runsProgram([0, 'cmd'])),
  // Files
  ...fill(
    `${inFolder('fs', 'readFile readFileSync createReadStream openSync open copyFile cp')} Deno.readTextFile Deno.readTextFileSync
     Bun.file fs.read`,
    read,
  ),
  ...fill(
    `${inFolder('fs', 'writeFile writeFileSync appendFile appendFileSync outputFile outputFileSync')} Deno.writeTextFile
     Deno.writeTextFileSync Bun.write`,
    write,
  ),
  ...fill('fs.createWriteStream', ({ args: [path] }) => path && { ...nothing, path: 'written', self: path }),
  ...fill('written.write written.end', (call, on) => writeFile(call.self?.self, call.args[0], call, on)),
  ...fill('fs.copyFile fs.copyFileSync fs.cpSync fs.rename fs.renameSync', (call, on) => {
    const content = read(call, on)
    return writeFile(call.args[1], content, call, on)
  }),
  ...fill('fs.readdir fs.readdirSync glob.sync glob.globSync fast-glob.sync', listFiles),
  ...fill('path.join path.resolve path.posix.join path.win32.join', ({ args }) => joinPath(args)),
  ...fill('path.normalize String url.fileURLToPath', returnsFirst),
  ...fill('os.homedir', () => toText('~')),
  ...fill('os.tmpdir', () => toText('/tmp')),
  ...fill(
    'fs.rm fs.rmSync fs.rmdir fs.rmdirSync fs.remove fs.removeSync rimraf rimraf.sync rimraf.rimraf',
    deletesFolder,
  ),
  ...fill('fs.chmod fs.chmodSync', setsMode),
  ...fill('process.env.NODE_TLS_REJECT_UNAUTHORIZED=', (call, on) => {
    on.record('privilege-change', call.code, 'TLS')
    return nothing
  }),
  // Data of the user
  ...fill(
    'clipboardy.read clipboardy.readSync clipboardy.default.read screenshot-desktop navigator.clipboard.readText',
    gives('data-collected', 'clipboard or screen'),
  ),
  ...fill('keytar.getPassword keytar.findCredentials', gives('secret-read', 'a keychain')),
  ...fill(
    'Object.entries Object.keys Object.values Object.assign Object.fromEntries JSON.stringify structuredClone',
    (call, on) => {
      const isWhole = call.args.some(({ path }) => path === 'process.env')
      return isWhole ? environment(call, on) : undefined
    },
  ),
  ...fill('Deno.env.toObject', (call, on) => ({ ...nothing, facts: [on.wholeEnvironment(call.code)] })),
  ...fill('Deno.env.get', (call, on) =>
    call.args[0]?.text === undefined ? undefined : readVariable(call.args[0].text, call.code, on),
  ),
  // Encodings
  ...fill('atob js-base64.Base64.decode Base64.decode', decodes('base64')),
  ...fill('Buffer.from Buffer Uint8Array Uint8Array.from', bufferFrom),
  ...fill('decodeURIComponent decodeURI', decodes('url')),
  ...fill('unescape', decodes('escapes')),
  ...fill('zlib.inflateSync', decodes('deflate')),
  ...fill('zlib.inflateRawSync', decodes('raw deflate')),
  ...fill('zlib.gunzipSync zlib.unzipSync', decodes('gzip')),
  ...fill('zlib.brotliDecompressSync', decodes('brotli')),
  ...fill('CryptoJS.AES.decrypt crypto-js.AES.decrypt crypto.createDecipheriv().update', decodes('cipher')),
  ...fill('String.fromCharCode String.fromCodePoint', fromCodes),
  ...fill('TextDecoder().decode', returnsFirst),
  ...fill('parseInt Number', readsNumber),
  ...fill('Array.from', ({ args: [list] }) =>
    list?.text === undefined ? list : { ...list, items: [...list.text].map((one) => toText(one, [list])) },
  ),
  ...fill('Reflect.get', (call, on) =>
    call.args[0] && call.args[1] ? readMember(call.args[0], call.args[1], call.code, on) : undefined,
  ),
  ...fill('Reflect.apply', (call, on) => {
    const [target, , list] = call.args
    return target && on.calls.call(target, { ...call, args: list?.items ?? [], self: undefined })
  }),
])

const methods: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ...fill('call', applyTo(false)),
  ...fill('apply', applyTo(true)),
  ...fill('bind', ({ self }) => self),
  ...fill('filter sort', ({ self }) => (self?.items ? self : undefined)),
  ...fill('pipe', pipe),
  ...fill('sendBeacon', sends([1], 0)),
  ...fill('post put', (call, on) => (/^https?:/.test(textOf(call.args[0])) ? post(call, on) : undefined)),
])

const globals = new Set(
  `fetch eval Function require import process Buffer String Object JSON Array Number Reflect globalThis window global self setTimeout
   setInterval setImmediate atob unescape decodeURIComponent decodeURI parseInt XMLHttpRequest WebSocket navigator Deno Bun module
   Uint8Array TextDecoder structuredClone axios $`.split(/\s+/),
)

const aliases: readonly [RegExp, string][] = [
  [/^(?:globalThis|window|global|self)(?:\(\))?\./, ''],
  [/^process\.mainModule\.require/, 'require'],
  [/^node:/, ''],
  [/^fs(?:\.promises|\/promises|-extra)\b/, 'fs'],
  [/(?<=\w)\.default\b/, ''],
  [/^https?\.(?=post|put)/, 'axios.'],
  [/^.*\.constructor\.constructor$|^Function\.constructor$/, 'Function'],
]

function toPath(path: string): string {
  // Most are the name of a variable.
  if (!path.includes('.') && !path.includes(':')) return path
  let plain = path
  for (const [pattern, name] of aliases) plain = plain.replace(pattern, name)
  return plain
}

/** JavaScript and TypeScript with the libraries of Node, and those that programs send data with. */
export const javascript: Library = {
  language: 'script',
  toPath,
  globals,
  effects,
  methods,
  value(path, code, on) {
    if (path === 'process.env') return { path, facts: [on.wholeEnvironment(code)], made: [] }
    const name = /^(?:process|Bun)\.env\.(\w{1,80})$/.exec(path)?.[1]
    if (name === undefined) return undefined
    return readVariable(name, code, on)
  },
}

import {
  answer,
  collects,
  decodes,
  decodeWith,
  deletesFolder,
  listsFiles,
  readFile,
  readsVariable,
  readVariable,
  requests,
  returnsFirst,
  runsCode,
  runsProgram,
  sends,
  setsMode,
  toAddress,
  writeFile,
} from '../effects.ts'
import { toTable, type Effect, type Library } from '../library.ts'
import { readMember } from '../members.ts'
import { codecs, joinPath, readsNumber } from '../text-methods.ts'
import { gather, mix, nothing, textOf, toText } from '../values.ts'

const post = requests({ address: [0, 'url'], data: [1, 'data', 'body', 'json', 'form'] })
const get = requests({ address: [0, 'url'], data: ['data', 'body', 'params', 'json', 'form'] })
const read: Effect = (call, on) => readFile(call.args[0], call, on)

/** A request of `http`, whose body is written to what it returns. */
const httpRequest: Effect = (call, on) => {
  const result = get(call, on) ?? answer(call, on, toAddress(call.args[0]))
  return { ...result, path: 'outgoing', self: call.args[0] ?? nothing }
}

const writeOut: Effect = (call, on) => {
  if (call.args.length === 0 || call.args[0]!.closure) return undefined
  on.record('network-send', call.code, toAddress(call.self?.self), call.args.slice(0, 1))
  return nothing
}

/** `net.connect(443, 'host')` or `net.connect({ host, port })` */
const socket: Effect = ({ args }) => {
  const address = args.find(({ text, fields }) => text !== undefined || fields)
  return { ...nothing, path: 'socket', self: address ?? nothing }
}

/** `shell.stdin.pipe(socket)`, `socket.pipe(shell.stdin)`, `response.pipe(file)` */
const pipe: Effect = ({ self, args: [to], ...call }, on) => {
  const ends = [self?.path ?? '', to?.path ?? '']
  if (ends.some((end) => end.startsWith('socket')) && ends.some((end) => end.startsWith('process')))
    on.record('shell-connected', call.code)
  if (to?.path === 'written' && self) writeFile(to.self, self, { ...call, self, args: [to] }, on)
  if (/^(?:outgoing|socket)/.test(to?.path ?? '') && self && gather(self).length > 0)
    on.record('network-send', call.code, toAddress(to!.self), [self])
  return to ?? nothing
}

const requireModule: Effect = (call, on) => {
  const [name] = call.args
  if (name?.text === undefined) return mix(call.args)
  const { text, made } = name
  const isPlain =
    made.length === 0 || (made.every((one) => one === 'concatenation') && !/^(?:node:)?[a-z_]{2,20}$/.test(text))
  if (!isPlain) on.record('hidden-name', call.code, text)
  if (text.startsWith('data:text/javascript')) {
    const encoded = { ...name, text: text.slice(text.indexOf(',') + 1) }
    const code = decodeWith(text.includes(';base64,') ? 'base64' : 'url', encoded, call, on)
    return runsCode(0)({ ...call, args: [code] }, on)
  }
  if (!/^https?:/.test(text)) return { path: text, facts: [], made: [] }
  on.record('dynamic-run', call.code, text, [answer(call, on, text)])
  return nothing
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
  if (/^\s*return (?:this|globalThis)\b/.test(body?.text ?? '')) return { ...nothing, path: 'globalThis' }
  return body && runsCode(0)({ ...call, args: [body] }, on)
}

/** `call` and `apply` of a function. */
const applyTo =
  (isList: boolean): Effect =>
  (call, on) => {
    const target = call.self
    if (!target || (target.path === undefined && !target.closure)) return undefined
    const args = isList ? (call.args[1]?.items ?? call.args.slice(1)) : call.args.slice(1)
    return on.call(target, { ...call, args, self: target.self })
  }

const effects = toTable([
  // Requests
  ['fetch node-fetch undici.{fetch,request} cross-fetch ky got axios axios.request needle request superagent', get],
  ['{axios,got,ky,needle,request,superagent,phin,axios.create(),$}.{get,delete,head} XMLHttpRequest().open', get],
  ['{axios,got,ky,needle,request,superagent,phin,axios.create(),$,http}.{post,put,patch}', post],
  ['{http,https}.{request,get}', httpRequest],
  ['{outgoing,socket}.{write,end,send} {XMLHttpRequest(),WebSocket(),ws()}.send', writeOut],
  ['navigator.sendBeacon', sends([1], 0)],
  ['net.{connect,createConnection,Socket} tls.connect dgram.createSocket', socket],
  ['socket.connect', ({ self }) => self],
  [
    'dns.{resolve,lookup,resolve4,resolveTxt,promises.resolve,promises.lookup}',
    requests({ address: 0, data: [], isOptional: true }),
  ],
  ['nodemailer.createTransport().sendMail', sends([0])],
  // Code and programs
  ['eval vm.{runInThisContext,runInNewContext,runInContext,Script,compileFunction} module()._compile', runsCode(0)],
  ['Function', makeFunction],
  [
    '{setTimeout,setInterval,setImmediate}',
    (call, on) => (call.args[0]?.text === undefined ? undefined : runsCode(0)(call, on)),
  ],
  ['require import module.require', requireModule],
  ['child_process.{exec,execSync} execa.{command,execaCommand} shelljs.exec Bun.$', runsProgram(0)],
  [
    'child_process.{spawn,spawnSync,execFile,execFileSync,fork} execa execa.execa Deno.Command',
    runsProgram(0, [1, 'args']),
  ],
  ['Bun.{spawn,spawnSync}', runsProgram([0, 'cmd'])],
  // Files
  [
    'fs.{readFile,readFileSync,createReadStream,openSync,open,read,cp} Deno.{readTextFile,readTextFileSync} Bun.file',
    read,
  ],
  [
    'fs.{writeFile,appendFile,outputFile}{,Sync} Deno.{writeTextFile,writeTextFileSync} Bun.write',
    (call, on) => writeFile(call.args[0], call.args[1], call, on),
  ],
  ['fs.createWriteStream', ({ args: [path] }) => path && { ...nothing, path: 'written', self: path }],
  ['written.{write,end}', (call, on) => writeFile(call.self?.self, call.args[0], call, on)],
  [
    'fs.{copyFile,copyFileSync,cpSync,rename,renameSync}',
    (call, on) => writeFile(call.args[1], read(call, on), call, on),
  ],
  ['fs.{readdir,readdirSync} glob.{sync,globSync} fast-glob.sync', listsFiles],
  ['path.{join,resolve,posix.join,win32.join}', ({ args }) => joinPath(args)],
  ['path.normalize String url.fileURLToPath TextDecoder().decode', returnsFirst],
  ['os.homedir', () => toText('~')],
  ['os.tmpdir', () => toText('/tmp')],
  ['fs.{rm,rmdir,remove}{,Sync} rimraf rimraf.{sync,rimraf}', deletesFolder],
  ['fs.{chmod,chmodSync}', setsMode],
  ['process.env.NODE_TLS_REJECT_UNAUTHORIZED=', collects('privilege-change', 'TLS')],
  // Data of the user
  ['clipboardy.{read,readSync,default.read}', collects('data-collected', 'clipboard or screen')],
  ['screenshot-desktop navigator.clipboard.readText', collects('data-collected', 'clipboard or screen')],
  ['keytar.{getPassword,findCredentials}', collects('secret-read', 'a keychain')],
  [
    'Object.{entries,keys,values,assign,fromEntries} JSON.stringify structuredClone',
    ({ args }) => (args.some(({ path }) => path === 'process.env') ? mix(args.slice(0, 1)) : undefined),
  ],
  ['Deno.env.toObject', (call, on) => ({ ...nothing, facts: [on.wholeEnvironment(call.code)] })],
  ['Deno.env.get', readsVariable],
  // Encodings
  ['atob {js-base64.,}Base64.decode', decodes('base64')],
  ['Buffer.from Buffer Uint8Array Uint8Array.from', bufferFrom],
  ['decodeURIComponent decodeURI', decodes('url')],
  ['unescape', decodes('escapes')],
  ['zlib.inflateSync', decodes('deflate')],
  ['zlib.inflateRawSync', decodes('raw deflate')],
  ['zlib.{gunzipSync,unzipSync}', decodes('gzip')],
  ['zlib.brotliDecompressSync', decodes('brotli')],
  ['{CryptoJS,crypto-js}.AES.decrypt crypto.createDecipheriv().update', decodes('cipher')],
  ['String.{fromCharCode,fromCodePoint}', fromCodes],
  ['parseInt Number', readsNumber],
  [
    'Array.from',
    ({ args: [list] }) =>
      list?.text === undefined ? list : { ...list, items: [...list.text].map((one) => toText(one, [list])) },
  ],
  ['Reflect.get', ({ args: [of, key], code }, on) => (of && key ? readMember(of, key, code, on) : undefined)],
  [
    'Reflect.apply',
    (call, on) => call.args[0] && on.call(call.args[0], { ...call, args: call.args[2]?.items ?? [], self: undefined }),
  ],
])

const methods = toTable([
  ['call', applyTo(false)],
  ['apply', applyTo(true)],
  ['bind', ({ self }) => self],
  ['filter sort', ({ self }) => (self?.items ? self : undefined)],
  ['pipe', pipe],
  ['sendBeacon', sends([1], 0)],
  ['post put', (call, on) => (/^https?:/.test(textOf(call.args[0])) ? post(call, on) : undefined)],
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

/** JavaScript and TypeScript with the libraries of Node, and those that programs send data with. */
export const javascript: Library = {
  language: 'script',
  toPath(path) {
    // Most are the name of a variable.
    if (!path.includes('.') && !path.includes(':')) return path
    return aliases.reduce((plain, [pattern, name]) => plain.replace(pattern, name), path)
  },
  globals,
  effects,
  methods,
  value(path, code, on) {
    if (path === 'process.env') return { path, facts: [on.wholeEnvironment(code)], made: [] }
    const name = /^(?:process|Bun)\.env\.(\w{1,80})$/.exec(path)?.[1]
    return name === undefined ? undefined : readVariable(name, code, on)
  },
}

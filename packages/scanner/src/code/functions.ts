import {
  toRequestAnswer,
  findCallArgument,
  collects,
  decodes,
  decodeWith,
  deletesFolder,
  listsFiles,
  readFileValue,
  readsVariable,
  requests,
  returnsFirst,
  runsCode,
  runsProgram,
  sends,
  setsMode,
  toCallAddress,
  writeFile,
  type Which,
} from './effects.ts'
import { toTable, type Effect } from './library.ts'
import { readMember } from './members.ts'
import { codecs, joinPath, readsNumber } from './text-methods.ts'
import { gatherFacts, itemsMax, mixValues, nothing, textOf, toCodes, toTextValue, type Value } from './values.ts'

const bodies = ['data', 'json', 'files', 'params', 'content', 'body', 'fields', 'form']
const get = requests({ address: [0, 'url'], data: bodies })
const request = requests({ address: [1, 'url'], data: [2, ...bodies] })
const post = requests({ address: [0, 'url'], data: [1, ...bodies] })
const resolve = requests({ address: 0, data: [], isOptional: true })
const command = runsProgram([0, 'args', 'cmd', 'command'])
const program = runsProgram(0, [1, 'args'])
const clients = '{requests,httpx,{requests,httpx,aiohttp}.{Session,Client,AsyncClient,ClientSession,session}()}'
const agents = '{axios,got,ky,needle,request,superagent,phin,axios.create(),$,http}'

/** A request of `http`, whose body is written to the object that the call returns. */
const httpRequest: Effect = (call, on) => {
  const result = get(call, on) ?? toRequestAnswer(call, on, toCallAddress(call.args[0]))
  return { ...result, path: 'outgoing', self: call.args[0] ?? nothing }
}

/** Sends data on a connection. The object of the connection has its address. */
const sendsOn: Effect = (call, on) => {
  const sent = [...call.args, ...call.named.values()].filter(({ closure }) => !closure)
  if (sent.length === 0) return undefined
  on.record('network-send', call.code, toCallAddress(call.self?.self), sent)
  return nothing
}

/** The effect of a constructor: returns an object with the path of its kind and the argument that it is for. */
const makes =
  (path: string, of: Which = 0): Effect =>
  (call) => ({ ...nothing, path, self: findCallArgument(call, of) ?? nothing })

/** `net.connect(443, 'host')` or `net.connect({ host, port })` */
const connect: Effect = ({ args }) => {
  const address = args.find(({ text, fields }) => text !== undefined || fields)
  return { ...nothing, path: 'socket', self: address ?? nothing }
}

/** `shell.stdin.pipe(socket)`, `socket.pipe(shell.stdin)`, `response.pipe(file)` */
const pipe: Effect = ({ self, args: [to], ...call }, on) => {
  const ends = [self?.path ?? '', to?.path ?? '']
  if (ends.some((end) => end.startsWith('socket')) && ends.some((end) => end.startsWith('process')))
    on.record('shell-connected', call.code)
  if (to?.path === 'written' && self) writeFile(to.self, self, { ...call, self, args: [to] }, on)
  if (/^(?:outgoing|socket)/.test(to?.path ?? '') && self && gatherFacts(self).length > 0)
    on.record('network-send', call.code, toCallAddress(to!.self), [self])
  return to ?? nothing
}

/** `dup2` of a socket connects the standard streams of this process to it. */
const duplicate: Effect = (call, on) => {
  if (!call.args.some(({ path }) => path?.startsWith('socket'))) return undefined
  on.record('shell-connected', call.code)
  return nothing
}

/** Creates a request that other code sends later. */
const makeRequest: Effect = (call) => {
  const named = [...call.named].filter(([name]) => name !== 'headers').map(([, value]) => value)
  return { ...mixValues([...call.args.slice(1), ...named]), text: textOf(findCallArgument(call, [0, 'url'])) }
}

const retrieve: Effect = (call, on) => {
  const content = toRequestAnswer(call, on, toCallAddress(call.args[0]))
  const path = findCallArgument(call, [1, 'filename', 'out'])
  if (path) writeFile(path, content, call, on)
  return path ?? content
}

const importModule: Effect = (call, on) => {
  const name = findCallArgument(call, [0, 'name'])
  if (name?.text === undefined) return mixValues(call.args)
  const { text, made } = name
  // Paths of files are often concatenated, so that a concatenated path is not reported.
  const isPlain = made.every((one) => one === 'concatenation') && !/^(?:node:)?[a-z_]{2,20}$/.test(text)
  if (made.length > 0 && !isPlain) on.record('hidden-name', call.code, text)
  if (text.startsWith('data:text/javascript')) {
    const encoded = { ...name, text: text.slice(text.indexOf(',') + 1) }
    const code = decodeWith(text.includes(';base64,') ? 'base64' : 'url', encoded, call, on)
    return runsCode(0)({ ...call, args: [code] }, on)
  }
  if (!/^https?:/.test(text)) return { path: text, facts: [], made: [] }
  on.record('dynamic-run', call.code, text, [toRequestAnswer(call, on, text)])
  return nothing
}

/** `new Function('a', 'return a')` */
const makeFunction: Effect = (call, on) => {
  const body = call.args.at(-1)
  if (/^\s*return (?:this|globalThis)\b/.test(body?.text ?? '')) return { ...nothing, path: 'globalThis' }
  return body && runsCode(0)({ ...call, args: [body] }, on)
}

/** `call` and `apply` of a function. */
const applyTo: Effect = (call, on) => {
  const { self: target, args } = call
  if (!target || (target.path === undefined && !target.closure)) return undefined
  return on.call(target, { ...call, args: args[1]?.items ?? args.slice(1), self: target.self })
}

/** Runs a command whose words are the arguments. */
const runsArguments: Effect = (call, on) => command({ ...call, args: [{ ...nothing, items: call.args }] }, on)

const runsFile: Effect = (call, on) => {
  const content = call.args[0] && on.files.get(call.args[0].text ?? call.args[0])
  if (content) on.record('dynamic-run', call.code, undefined, [content])
  return nothing
}

const loadsObject: Effect = (call, on) => {
  const facts = call.args[0]?.facts.filter(({ kind }) => kind === 'network-fetch') ?? []
  if (facts.length > 0) on.record('dynamic-run', call.code, 'pickle', [{ ...nothing, facts }])
  return mixValues(call.args)
}

const read: Effect = (call, on) => readFileValue(call.args[0], call, on)

const open: Effect = (call, on) => {
  const path = findCallArgument(call, [0, 'file'])
  const isWritten = /[wax+]/.test(textOf(findCallArgument(call, [1, 'mode'])))
  return isWritten && path ? { ...nothing, path: 'written', self: path } : readFileValue(path, call, on)
}

/** Writes to an open file, or to an unknown object that may be an open file. */
const write: Effect = (call, on) => {
  const isFile = call.self?.path === 'written'
  if (isFile || call.args.length > 0) writeFile(isFile ? call.self!.self : undefined, call.args[0], call, on)
  return undefined
}

const writesFile: Effect = (call, on) => writeFile(call.args[0], call.args[1], call, on)

const copyFile: Effect = (call, on) => writeFile(call.args[1], read(call, on), call, on)

/** Adds a file or a text to an archive, which is in a file or a buffer. */
const addToArchive: Effect = (call, on) => {
  const to = call.self?.self
  const content = mixValues([...call.args.slice(1), read(call, on)!])
  if (to && content.facts.length > 0)
    on.files.set(to.text ?? to, mixValues([on.files.get(to.text ?? to) ?? nothing, content]))
  return nothing
}

/** Packs a folder into an archive file, whose name is an argument. */
const makeArchive: Effect = (call, on) => {
  const [name, format, folder = call.named.get('root_dir')] = call.args
  const path = toTextValue(`${textOf(name)}.${textOf(format)}`)
  if (folder) writeFile(path, listsFiles({ ...call, args: [folder], self: undefined }, on), call, on)
  return path
}

const inflate: Effect = (call, on) => {
  const isRaw = (findCallArgument(call, [1, 'wbits'])?.number ?? 15) < 0
  return decodes(isRaw ? 'raw deflate' : 'deflate')(call, on)
}

/** `codecs.decode(text, 'rot13')`, `Buffer.from(text, 'base64')` */
const decode: Effect = (call, on) => {
  const [content] = call.args
  if (content?.items) return fromCodes(call, on)
  const encoding = codecs.get(findCallArgument(call, [1, 'encoding'])?.text?.toLowerCase() ?? '')
  return content && encoding ? decodeWith(encoding, content, call, on) : content
}

/** The text of a list of character codes. */
const fromCodes: Effect = ({ args }) => {
  if (args.length === 0 || args[0]!.text !== undefined) return args[0]
  const codes = args.flatMap((arg) => arg.items ?? [arg])
  const from = [...args, ...codes]
  if (!codes.every(({ number }) => number !== undefined && number >= 0 && number <= 0x10ffff)) return mixValues(from)
  return toTextValue(codes.map(({ number }) => String.fromCodePoint(Math.floor(number!))).join(''), from, 'numbers')
}

const toList = (items: readonly Value[] | undefined): Value | undefined => items && { ...nothing, items }

const enumerate: Effect = ({ args: [list] }) => {
  const items = list && (list.items ?? toCodes(list))
  return toList(items?.map((item, index) => toList([{ ...nothing, number: index }, item])!))
}

const range: Effect = ({ args }) => {
  const numbers = args.map(({ number }) => number)
  const [from, to, step] = numbers.length === 1 ? [0, numbers[0], 1] : [numbers[0], numbers[1], numbers[2] ?? 1]
  if (from === undefined || to === undefined || !step || Math.abs((to - from) / step) > itemsMax) return nothing
  const length = Math.max(0, Math.ceil((to - from) / step))
  return toList(Array.from({ length }, (_, index) => ({ ...nothing, number: from + index * step })))
}

const map: Effect = (call, on) => {
  const [apply, list] = call.args
  const items = apply && list?.items?.slice(0, itemsMax)
  return toList(items?.map((item) => on.call(apply!, { ...call, args: [item], named: new Map(), self: undefined })))
}

const length: Effect = ({ args: [list] }) => {
  const size = list?.text?.length ?? list?.items?.length
  return size === undefined ? undefined : { ...nothing, number: size }
}

const copyEnvironment: Effect = ({ args }) =>
  args.some(({ path }) => path === 'process.env') ? mixValues(args.slice(0, 1)) : undefined

const clipboard = collects('data-collected', 'clipboard or screen')
const keystrokes = collects('data-collected', 'keystrokes')
const keychain = collects('secret-read', 'a keychain')
const browser = collects('secret-read', 'a browser')

/** What the functions of libraries do, in both languages. */
export const functions = toTable([
  // Requests
  ['fetch node-fetch undici.{fetch,request} cross-fetch ky got axios axios.request needle request superagent', get],
  [`${agents}.{get,delete,head} ${clients}.{get,head,options} XMLHttpRequest().open`, get],
  [`${agents}.{post,put,patch} ${clients}.{post,put,patch,delete} urllib{.request,2,}.urlopen`, post],
  [`${clients}.{request,stream} urllib3.{PoolManager().request,request}`, request],
  ['{http,https}.{request,get}', httpRequest],
  ['{urllib.request,urllib2}.Request', makeRequest],
  ['urllib.request.urlretrieve wget.download', retrieve],
  ['http.client.{HTTPSConnection,HTTPConnection}', makes('connection')],
  ['connection.request {outgoing,socket}.{write,end,send,sendall,sendto}', sendsOn],
  ['{XMLHttpRequest(),WebSocket(),ws()}.send', sendsOn],
  ['connection.getresponse', (call, on) => toRequestAnswer(call, on, toCallAddress(call.self?.self))],
  ['navigator.sendBeacon', sends([1], 0)],
  ['net.{connect,createConnection,Socket} tls.connect dgram.createSocket', connect],
  ['socket.{socket,create_connection}', makes('socket')],
  ['socket.{recv,recvfrom}', collects('network-fetch')],
  ['socket.{connect,fileno} os.environ.{items,copy,values,keys}', ({ self }) => self],
  ['os.dup2', duplicate],
  ['socket.{gethostbyname,getaddrinfo} dns.resolver.{resolve,query}', resolve],
  ['dns.{,promises.}{resolve,lookup,resolve4,resolveTxt}', resolve],
  ['smtplib.{SMTP,SMTP_SSL}().{sendmail,send_message} nodemailer.createTransport().sendMail', sends([0, 1, 2])],
  ['ftplib.{FTP,FTP_TLS}().storbinary', sends([0, 1])],
  // Code and programs
  ['{builtins.,}{exec,eval} vm.{runInThisContext,runInNewContext,runInContext,Script,compileFunction}', runsCode(0)],
  ['module()._compile', runsCode(0)],
  ['Function', makeFunction],
  ['{setTimeout,setInterval,setImmediate}', (call, on) => (call.args[0]?.text ? runsCode(0)(call, on) : undefined)],
  ['require import module.require {builtins.,}__import__ importlib.import_module', importModule],
  ['runpy.run_path execfile', runsFile],
  ['types.{FunctionType,CodeType}', collects('dynamic-run')],
  ['{pickle,dill,cloudpickle}.loads', loadsObject],
  ['os.{system,popen,startfile} {commands,subprocess}.{getoutput,getstatusoutput}', command],
  ['subprocess.{run,call,check_call,check_output,Popen} pty.spawn asyncio.create_subprocess_shell', command],
  ['child_process.{exec,execSync} execa.{command,execaCommand} shelljs.exec Bun.{$,spawn,spawnSync}', command],
  ['child_process.{spawn,spawnSync,execFile,execFileSync,fork} execa execa.execa Deno.Command', program],
  ['os.{execv,execvp,execve,posix_spawn}', program],
  ['asyncio.create_subprocess_exec os.{execl,execlp,spawnl}', runsArguments],
  ['{builtins.,}getattr Reflect.get', ({ args: [of, key], code }, on) => of && key && readMember(of, key, code, on)],
  ['Reflect.apply', (call, on) => applyTo({ ...call, self: call.args[0], args: call.args.slice(1) }, on)],
  ['globals locals vars', () => ({ ...nothing, path: 'builtins' })],
  ['ssl._create_unverified_context process.env.NODE_TLS_REJECT_UNAUTHORIZED=', collects('privilege-change', 'TLS')],
  // Data of the user
  ['os.getenv os.environ.{get,pop} Deno.env.get', readsVariable],
  ['Deno.env.toObject', (call, on) => ({ ...nothing, facts: [on.wholeEnvironment(call.code)] })],
  ['Object.{entries,keys,values,assign,fromEntries} JSON.stringify structuredClone', copyEnvironment],
  ['pyperclip.paste PIL.ImageGrab.{grab,grabclipboard} pyautogui.screenshot mss.mss().{shot,grab}', clipboard],
  ['clipboardy.{read,readSync} screenshot-desktop navigator.clipboard.readText', clipboard],
  ['pynput.keyboard.Listener keyboard.{on_press,on_release,hook,read_event}', keystrokes],
  ['keyring.{get_password,get_credential} keytar.{getPassword,findCredentials}', keychain],
  ['win32crypt.CryptUnprotectData browser_cookie3.{chrome,firefox,load,edge} rookiepy.chrome', browser],
  // Files
  ['{,io.,codecs.,builtins.,aiofiles.}open', open],
  ['fs.{readFile,readFileSync,createReadStream,openSync,open,read} Deno.{readTextFile,readTextFileSync}', read],
  ['Bun.file', read],
  ['fs.{writeFile,appendFile,outputFile}{,Sync} Deno.{writeTextFile,writeTextFileSync} Bun.write', writesFile],
  ['fs.createWriteStream', makes('written')],
  ['written.{write,writelines,end}', write],
  ['shutil.{copy,copyfile,copy2,move} os.{rename,replace} fs.{copyFile,cp,rename}{,Sync}', copyFile],
  ['tempfile.NamedTemporaryFile', () => ({ ...nothing, path: 'written', self: { ...nothing } })],
  ['zipfile.ZipFile tarfile.{open,TarFile}', makes('archive', ['fileobj', 0, 'name', 'file'])],
  ['archive.{write,add,writestr,addfile}', addToArchive],
  [
    'io.BytesIO().{getvalue,read,getbuffer}',
    ({ self }, on) => self && mixValues([self, on.files.get(self) ?? nothing]),
  ],
  ['shutil.make_archive', makeArchive],
  ['os.{walk,listdir,scandir} glob.{glob,iglob,sync,globSync} fast-glob.sync fs.{readdir,readdirSync}', listsFiles],
  ['shutil.rmtree fs.{rm,rmdir,remove}{,Sync} rimraf rimraf.{sync,rimraf}', deletesFolder],
  ['os.chmod fs.{chmod,chmodSync}', setsMode],
  ['{os.path,posixpath,ntpath}.join pathlib.{Path,PurePath,PosixPath}', ({ args }) => joinPath(args)],
  ['path.{join,resolve,posix.join,win32.join}', ({ args }) => joinPath(args)],
  ['os.homedir pathlib.Path.home', () => toTextValue('~')],
  ['os.tmpdir tempfile.gettempdir', () => toTextValue('/tmp')],
  // Encodings
  ['base64.{b64decode,urlsafe_b64decode,standard_b64decode,decodebytes} binascii.a2b_base64', decodes('base64')],
  ['atob {js-base64.,}Base64.decode', decodes('base64')],
  ['base64.{b32decode,b85decode,a85decode}', decodes('base85')],
  ['base64.b16decode {bytes,bytearray}.fromhex binascii.{unhexlify,a2b_hex}', decodes('hex')],
  ['codecs.decode Buffer.from Buffer Uint8Array Uint8Array.from', decode],
  ['urllib.parse.unquote decodeURIComponent decodeURI', decodes('url')],
  ['unescape', decodes('escapes')],
  ['zlib.decompress', inflate],
  ['zlib.inflateSync', decodes('deflate')],
  ['zlib.inflateRawSync', decodes('raw deflate')],
  ['gzip.decompress zlib.{gunzipSync,unzipSync}', decodes('gzip')],
  ['zlib.brotliDecompressSync', decodes('brotli')],
  ['bz2.decompress', decodes('bzip2')],
  ['lzma.decompress', decodes('lzma')],
  ['marshal.{loads,load}', decodes('marshal')],
  ['cryptography.fernet.Fernet().decrypt {Crypto,Cryptodome}.Cipher.AES.new().decrypt', decodes('cipher')],
  ['{CryptoJS,crypto-js}.AES.decrypt crypto.createDecipheriv().update', decodes('cipher')],
  // Texts, numbers and lists
  ['{builtins.,}chr bytes bytearray String.{fromCharCode,fromCodePoint}', fromCodes],
  ['{builtins.,}ord', ({ args: [text] }) => (text?.text ? { ...text, number: text.text.codePointAt(0)! } : undefined)],
  ['os.path.{expanduser,expandvars,abspath,realpath,normpath} os.{fspath,fsencode}', returnsFirst],
  ['{builtins.,}{str,compile} list tuple set sorted path.normalize String url.fileURLToPath', returnsFirst],
  ['TextDecoder().decode', returnsFirst],
  ['int parseInt Number', readsNumber],
  ['reversed', ({ args: [list] }) => list && toList((list.items ?? toCodes(list, 'reversed'))?.toReversed())],
  ['Array.from', ({ args: [list] }) => (list?.text === undefined ? list : toList(toCodes(list)))],
  ['enumerate', enumerate],
  ['range', range],
  ['len', length],
  ['map', map],
])

/** What methods of unknown objects do, by their names. */
export const methods = toTable([
  ['call apply', applyTo],
  ['bind', ({ self }) => self],
  ['filter sort', ({ self }) => (self?.items ? self : undefined)],
  ['pipe', pipe],
  ['sendBeacon', sends([1], 0)],
  ['post put', (call, on) => (/^https?:/.test(textOf(call.args[0])) ? post(call, on) : undefined)],
  ['sendall sendto', sendsOn],
  ['upload_file upload_fileobj put_object upload_from_filename upload_from_string', sends([0, 1, 'Body', 'Filename'])],
  ['sendmail send_message storbinary', sends([0, 1, 2])],
  ['read_text read_bytes', (call, on) => readFileValue(call.self, call, on)],
  ['write_text write_bytes', (call, on) => writeFile(call.self, call.args[0], call, on)],
  ['write writelines', write],
  ['rglob glob iterdir', listsFiles],
  ['open', (call, on) => (call.self?.text ? open({ ...call, args: [call.self, ...call.args] }, on) : undefined)],
])

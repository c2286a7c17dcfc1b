import {
  answer,
  argument,
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
import { itemsMax, mix, nothing, textOf, toCodes, toText, type Value } from '../values.ts'

const bodies = ['data', 'json', 'files', 'params', 'content', 'body', 'fields']
const get = requests({ address: [0, 'url'], data: ['params', 'data', 'json'] })
const post = requests({ address: [0, 'url'], data: [1, ...bodies] })
const request = requests({ address: [1, 'url'], data: [2, ...bodies] })
const command = runsProgram([0, 'args', 'cmd', 'command'])
const clients = '{requests,httpx,{requests,httpx,aiohttp}.{Session,Client,AsyncClient,ClientSession,session}()}'

/** Sends on a connection whose address is known from its object. */
const sendsOn: Effect = (call, on) => {
  const { self, args, named } = call
  const where = self?.path === 'socket' || self?.path === 'connection' ? toAddress(self.self) : undefined
  on.record('network-send', call.code, where, [...args, ...named.values()])
  return nothing
}

/** An object of a kind, with the address or path that it is for. */
const makes =
  (path: string): Effect =>
  ({ args: [of] }) => ({ ...nothing, path, self: of ?? nothing })

/** A request that is sent later. */
const makeRequest: Effect = (call) => {
  const named = [...call.named].filter(([name]) => name !== 'headers').map(([, value]) => value)
  return { ...mix([...call.args.slice(1), ...named]), text: textOf(argument(call, [0, 'url'])) }
}

const retrieve: Effect = (call, on) => {
  const content = answer(call, on, toAddress(call.args[0]))
  const path = argument(call, [1, 'filename', 'out'])
  if (path) writeFile(path, content, call, on)
  return path ?? content
}

/** Listens on all addresses of the machine. */
const bind: Effect = (call, on) => {
  const host = textOf(call.args[0]?.items?.[0])
  if (host === '' || host === '0.0.0.0' || host === '::') on.record('listener', call.code, host)
  return nothing
}

/** `dup2` of a socket connects the standard streams of this process to it. */
const duplicate: Effect = (call, on) => {
  if (!call.args.some(({ path }) => path?.startsWith('socket'))) return undefined
  on.record('shell-connected', call.code)
  return nothing
}

const importModule: Effect = (call, on) => {
  const name = argument(call, [0, 'name'])
  if (name?.text === undefined) return mix(call.args)
  if (name.made.length > 0) on.record('hidden-name', call.code, name.text)
  return { path: name.text, facts: [], made: [] }
}

const runsFile: Effect = (call, on) => {
  const content = call.args[0] && on.files.get(call.args[0].text ?? call.args[0])
  if (content) on.record('dynamic-run', call.code, undefined, [content])
  return nothing
}

const loadsObject: Effect = (call, on) => {
  const facts = call.args[0] ? call.args[0].facts.filter(({ kind }) => kind === 'network-fetch') : []
  if (facts.length > 0) on.record('dynamic-run', call.code, 'pickle', [{ ...nothing, facts }])
  return mix(call.args)
}

const open: Effect = (call, on) => {
  const path = argument(call, [0, 'file'])
  const isWritten = /[wax+]/.test(textOf(argument(call, [1, 'mode'])))
  return isWritten && path ? { ...nothing, path: 'written', self: path } : readFile(path, call, on)
}

/** A file opened for writing. */
const write: Effect = (call, on) => {
  const isFile = call.self?.path === 'written'
  if (isFile || call.args.length > 0) writeFile(isFile ? call.self!.self : undefined, call.args[0], call, on)
  return undefined
}

const copyFile: Effect = (call, on) => {
  if (call.args[0]) writeFile(call.args[1], readFile(call.args[0], call, on), call, on)
  return nothing
}

/** Adds a file or a text to an archive, which is in a file or a buffer. */
const addToArchive: Effect = (call, on) => {
  const to = call.self?.self
  const content = mix([...call.args.slice(1), readFile(call.args[0], call, on)])
  if (!to || content.facts.length === 0) return nothing
  const key = to.text ?? to
  on.files.set(key, mix([on.files.get(key) ?? nothing, content]))
  return nothing
}

const fromBuffer: Effect = ({ self }, on) => {
  const content = self && on.files.get(self)
  return content && mix([self, content])
}

/** Packs a folder into the file of a name. */
const makeArchive: Effect = (call, on) => {
  const [name, format, folder = call.named.get('root_dir')] = call.args
  const path = toText(`${textOf(name)}.${textOf(format)}`)
  if (folder) writeFile(path, listsFiles({ ...call, args: [folder], self: undefined }, on), call, on)
  return path
}

const inflate: Effect = (call, on) => {
  const isRaw = (call.args[1]?.number ?? argument(call, 'wbits')?.number ?? 15) < 0
  return decodes(isRaw ? 'raw deflate' : 'deflate')(call, on)
}

const decode: Effect = (call, on) => {
  const encoding = codecs.get(argument(call, [1, 'encoding'])?.text?.toLowerCase() ?? '')
  return encoding && call.args[0] ? decodeWith(encoding, call.args[0], call, on) : call.args[0]
}

/** The text of a list of codes. */
const fromCodes: Effect = ({ args: [list] }) => {
  if (!list || list.text !== undefined) return list
  const codes = list.items ?? [list]
  if (!codes.every(({ number }) => number !== undefined && number >= 0 && number <= 0x10ffff)) return mix([list])
  return toText(String.fromCodePoint(...codes.map(({ number }) => number!)), [list, ...codes], 'numbers')
}

const reversed: Effect = ({ args: [list] }) => {
  if (list?.text !== undefined)
    return { ...nothing, items: [...list.text].toReversed().map((one) => toText(one, [list], 'reversed')) }
  return list?.items && { ...list, items: list.items.toReversed() }
}

const range: Effect = ({ args }) => {
  const numbers = args.map(({ number }) => number)
  const [from, to, step] = numbers.length === 1 ? [0, numbers[0], 1] : [numbers[0], numbers[1], numbers[2] ?? 1]
  if (from === undefined || to === undefined || !step || Math.abs((to - from) / step) > itemsMax) return nothing
  const items = Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, index): Value => {
    return { ...nothing, number: from + index * step }
  })
  return { ...nothing, items }
}

const enumerate: Effect = ({ args: [list] }) => {
  const items = list && (list.items ?? toCodes(list))
  return (
    items && {
      ...nothing,
      items: items.map((item, index) => ({ ...nothing, items: [{ ...nothing, number: index }, item] })),
    }
  )
}

const map: Effect = (call, on) => {
  const [apply, list] = call.args
  if (!apply || !list?.items) return undefined
  const items = list.items.slice(0, itemsMax)
  return {
    ...nothing,
    items: items.map((item) => on.call(apply, { ...call, args: [item], named: new Map(), self: undefined })),
  }
}

const length: Effect = ({ args: [list] }) => {
  const size = list?.text?.length ?? list?.items?.length
  return size === undefined ? undefined : { ...nothing, number: size }
}

const effects = toTable([
  // Network
  [`${clients}.{get,head,options}`, get],
  [`${clients}.{post,put,patch,delete}`, post],
  [`${clients}.{request,stream} urllib3.{PoolManager().request,request}`, request],
  ['{urllib.request,urllib2,urllib}.urlopen', requests({ address: [0, 'url'], data: [1, 'data'] })],
  ['{urllib.request,urllib2}.Request', makeRequest],
  ['urllib.request.urlretrieve wget.download', retrieve],
  ['http.client.{HTTPSConnection,HTTPConnection}', makes('connection')],
  ['connection.request socket.{send,sendall,sendto}', sendsOn],
  ['connection.getresponse', (call, on) => answer(call, on, toAddress(call.self?.self))],
  ['smtplib.{SMTP,SMTP_SSL}().{sendmail,send_message}', sends([0, 1, 2])],
  ['ftplib.{FTP,FTP_TLS}().storbinary', sends([0, 1])],
  [
    'socket.{gethostbyname,getaddrinfo} dns.resolver.{resolve,query}',
    requests({ address: 0, data: [], isOptional: true }),
  ],
  ['socket.{socket,create_connection}', makes('socket')],
  ['socket.{recv,recvfrom}', collects('network-fetch')],
  ['socket.fileno os.environ.{items,copy,values,keys}', ({ self }) => self],
  ['os.dup2', duplicate],
  ['socket.bind', bind],
  // Code and programs
  ['{builtins.,}{exec,eval}', runsCode(0)],
  ['runpy.run_path execfile', runsFile],
  ['marshal.{loads,load}', decodes('marshal')],
  ['types.{FunctionType,CodeType}', collects('dynamic-run')],
  ['{pickle,dill,cloudpickle}.loads', loadsObject],
  ['os.{system,popen,startfile} {commands,subprocess}.{getoutput,getstatusoutput}', command],
  ['subprocess.{run,call,check_call,check_output,Popen} pty.spawn asyncio.create_subprocess_shell', command],
  [
    'asyncio.create_subprocess_exec os.{execl,execlp,spawnl}',
    (call, on) => command({ ...call, args: [{ ...nothing, items: call.args }] }, on),
  ],
  ['os.{execv,execvp,execve,posix_spawn}', runsProgram(0, 1)],
  ['__import__ importlib.import_module builtins.__import__', importModule],
  [
    '{builtins.,}getattr',
    ({ args: [of, name], code }, on) => (of && name ? readMember(of, name, code, on) : undefined),
  ],
  ['globals locals vars', () => ({ ...nothing, path: 'builtins' })],
  ['ssl._create_unverified_context', collects('privilege-change', 'TLS')],
  // Data of the user
  ['os.getenv os.environ.{get,pop}', readsVariable],
  ['pyperclip.paste PIL.ImageGrab.{grab,grabclipboard}', collects('data-collected', 'clipboard or screen')],
  ['pyautogui.screenshot mss.mss().{shot,grab}', collects('data-collected', 'clipboard or screen')],
  ['pynput.keyboard.Listener', collects('data-collected', 'keystrokes')],
  ['keyboard.{on_press,on_release,hook,read_event}', collects('data-collected', 'keystrokes')],
  ['keyring.{get_password,get_credential}', collects('secret-read', 'a keychain')],
  [
    'win32crypt.CryptUnprotectData browser_cookie3.{chrome,firefox,load,edge} rookiepy.chrome',
    collects('secret-read', 'a browser'),
  ],
  // Files
  ['{,io.,codecs.,builtins.,aiofiles.}open', open],
  ['written.{write,writelines}', write],
  [
    'zipfile.ZipFile tarfile.{open,TarFile}',
    (call) => ({ ...nothing, path: 'archive', self: argument(call, ['fileobj', 0, 'name', 'file']) ?? nothing }),
  ],
  ['archive.{write,add,writestr,addfile}', addToArchive],
  ['io.BytesIO().{getvalue,read,getbuffer}', fromBuffer],
  ['shutil.make_archive', makeArchive],
  ['shutil.{copy,copyfile,copy2,move} os.{rename,replace}', copyFile],
  ['{os.path,posixpath,ntpath}.join pathlib.{Path,PurePath,PosixPath}', ({ args }) => joinPath(args)],
  ['os.path.{expanduser,abspath,realpath,normpath} os.{fspath,fsencode} {builtins.,}{str,compile}', returnsFirst],
  [
    'os.path.expandvars',
    ({ args: [path] }) =>
      path?.text === undefined ? path : { ...path, text: path.text.replace(/^\$\{?HOME\}?/, '~') },
  ],
  ['pathlib.Path.home', () => toText('~')],
  ['tempfile.gettempdir', () => toText('/tmp')],
  ['tempfile.NamedTemporaryFile', () => ({ ...nothing, path: 'written', self: { ...nothing } })],
  ['shutil.rmtree', deletesFolder],
  ['os.chmod', setsMode],
  ['os.{walk,listdir,scandir} glob.{glob,iglob}', listsFiles],
  // Encodings
  ['base64.{b64decode,urlsafe_b64decode,standard_b64decode,decodebytes} binascii.a2b_base64', decodes('base64')],
  ['base64.{b32decode,b85decode,a85decode}', decodes('base85')],
  ['base64.b16decode {bytes,bytearray}.fromhex binascii.{unhexlify,a2b_hex}', decodes('hex')],
  ['zlib.decompress', inflate],
  ['gzip.decompress', decodes('gzip')],
  ['bz2.decompress', decodes('bzip2')],
  ['lzma.decompress', decodes('lzma')],
  ['urllib.parse.unquote', decodes('url')],
  ['codecs.decode', decode],
  ['cryptography.fernet.Fernet().decrypt {Crypto,Cryptodome}.Cipher.AES.new().decrypt', decodes('cipher')],
  // Texts, numbers and lists
  ['{builtins.,}chr bytes bytearray', fromCodes],
  ['{builtins.,}ord', ({ args: [text] }) => (text?.text ? { ...text, number: text.text.codePointAt(0)! } : undefined)],
  ['int', readsNumber],
  ['reversed', reversed],
  ['list tuple set sorted', returnsFirst],
  ['range', range],
  ['enumerate', enumerate],
  ['len', length],
  ['map', map],
])

const methods = toTable([
  ['read_text read_bytes', (call, on) => readFile(call.self, call, on)],
  ['write_text write_bytes', (call, on) => writeFile(call.self, call.args[0], call, on)],
  [
    'open',
    (call, on) => (call.self?.text === undefined ? undefined : open({ ...call, args: [call.self, ...call.args] }, on)),
  ],
  ['write writelines', write],
  ['rglob glob iterdir', listsFiles],
  ['sendall sendto', sendsOn],
  ['post put', (call, on) => (/^https?:/.test(textOf(call.args[0])) ? post(call, on) : undefined)],
  ['upload_file upload_fileobj put_object upload_from_filename upload_from_string', sends([0, 1, 'Body', 'Filename'])],
  ['sendmail send_message', sends([0, 1, 2])],
  ['storbinary', sends([0, 1])],
])

const globals = new Set(
  `exec eval compile open getattr setattr chr ord bytes bytearray int str list tuple set sorted reversed range enumerate len map
   globals locals vars __import__ __builtins__ execfile`.split(/\s+/),
)
const aliases: readonly [RegExp, string][] = [
  [/\.__dict__\b/, ''],
  [/^__builtins__/, 'builtins'],
  [/^builtins\.builtins/, 'builtins'],
  [/^builtins\.(?=__import__|os\b|subprocess\b|socket\b|requests\b|base64\b)(?!__import__)/, ''],
  [/^(?:multiprocessing\.)?os\.sys\.modules\b|^sys\.modules\b/, 'builtins'],
  [/^(?:posix|nt)\.system$/, 'os.system'],
  [/^os\.environb/, 'os.environ'],
  [/^Path\b/, 'pathlib.Path'],
]

/** Python with its standard library, and libraries that programs send data with. */
export const python: Library = {
  language: 'python',
  toPath: (path) => aliases.reduce((plain, [pattern, name]) => plain.replace(pattern, name), path),
  globals,
  effects,
  methods,
  value(path, code, on) {
    if (path === 'os.environ') return { path, facts: [on.wholeEnvironment(code)], made: [] }
    const name = /^os\.environ\.([A-Z]\w{0,79})$/.exec(path)?.[1]
    return name === undefined ? undefined : readVariable(name, code, on)
  },
}

import { codecs } from './text-methods.ts'
import {
  answer,
  argument,
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
import type { Effect, Library } from './evaluate.ts'
import { joinPath } from './text-methods.ts'
import { mix, nothing, textOf, toText, type Value } from './values.ts'

const fill = (names: string, effect: Effect): [string, Effect][] =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => [name, effect])

const request = requests({ address: [0, 'url'], data: [1, 'data', 'json', 'files', 'params', 'content', 'body'] })
const requestWithMethod = requests({
  address: [1, 'url'],
  data: [2, 'data', 'json', 'files', 'params', 'content', 'body', 'fields'],
})
const command = runsProgram([0, 'args', 'cmd', 'command'])

const open: Effect = (call, on) => {
  const path = argument(call, [0, 'file'])
  const mode = textOf(argument(call, [1, 'mode']))
  return /[wax+]/.test(mode) && path ? { ...nothing, path: 'written', self: path } : readFile(path, call, on)
}

/** Files of a folder: the user's, if it is the home folder or a part of it. */
const listFiles: Effect = (call, on) => {
  const path = call.self?.text === undefined ? call.args[0] : joinPath([call.self, ...call.args])
  const text = textOf(path)
  if (!/^~\/?(?:\*|$)|^~\/(?:documents|desktop|downloads|pictures)(?:\/|$)|^\/(?:home|users)?\/?(?:\*|$)/i.test(text)) {
    return path ? readFile(path, call, on) : undefined
  }
  return { ...nothing, facts: [on.record('data-collected', call.code, text)] }
}

const importModule: Effect = (call, on) => {
  const name = argument(call, [0, 'name'])
  if (name?.text === undefined) return mix(call.args)
  if (name.made.length > 0) on.record('hidden-name', call.code, name.text)
  return { path: name.text, facts: [], made: [] }
}

const attribute: Effect = (call, on) => {
  const [of, name] = call.args
  return of && name ? on.member(of, name, call.code) : undefined
}

/** An archive, in a file or a buffer. */
const archive: Effect = (call) => ({
  ...nothing,
  path: 'archive',
  self: argument(call, ['fileobj', 0, 'name', 'file']) ?? nothing,
})

/** Adds a file or a text to an archive. */
const addToArchive: Effect = (call, on) => {
  const to = call.self?.self
  const content = mix([...call.args.slice(1), ...(call.args[0] ? [readFile(call.args[0], call, on)] : [])])
  if (to && content.facts.length > 0) {
    const before = on.files.get(to.text ?? to)
    on.files.set(to.text ?? to, before ? mix([before, content]) : content)
  }
  return nothing
}

const fromBuffer: Effect = ({ self }, on) => {
  const content = self && on.files.get(self)
  return content && mix([self, content])
}

/** Packs a folder into the file of a name. */
const makeArchive: Effect = (call, on) => {
  const name = call.args[0]
  const folder = argument(call, [2, 'root_dir', 'base_dir'])
  if (!name || !folder) return undefined
  const path = toText(`${textOf(name)}.${textOf(call.args[1])}`)
  const content = listFiles({ ...call, args: [folder], self: undefined }, on)
  if (content) writeFile(path, content, call, on)
  return path
}

/** A file opened for writing. */
const write: Effect = (call, on) => {
  const file = call.self
  if (file?.path !== 'written' && call.args.length === 0) return undefined
  writeFile(file?.path === 'written' ? file.self : undefined, call.args[0], call, on)
  return undefined
}

/** Listens on all addresses of the machine. */
const bind: Effect = (call, on) => {
  const host = textOf(call.args[0]?.items?.[0])
  if (host === '' || host === '0.0.0.0' || host === '::') on.record('listener', call.code, host)
  return nothing
}

const socketSend: Effect = (call, on) => {
  on.record('network-send', call.code, call.self?.path === 'socket' ? toAddress(call.self.self) : undefined, call.args)
  return nothing
}

/** `dup2` of a socket connects the standard streams of this process to it. */
const duplicate: Effect = (call, on) => {
  if (!call.args.some(({ path }) => path?.startsWith('socket'))) return undefined
  on.record('shell-connected', call.code)
  return nothing
}

const chr: Effect = ({ args: [code] }) =>
  code?.number === undefined || code.number < 0 || code.number > 0x10ffff
    ? code && mix([code])
    : toText(String.fromCodePoint(code.number), [code], 'numbers')

const bytesOf: Effect = ({ args: [list] }) => {
  if (list?.text !== undefined) return list
  if (!list?.items?.every(({ number }) => number !== undefined && number >= 0 && number < 256)) return undefined
  return toText(String.fromCharCode(...list.items.map(({ number }) => number!)), [list, ...list.items], 'numbers')
}

const effects: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  // Requests
  ...[
    'requests',
    'httpx',
    'requests.Session()',
    'httpx.Client()',
    'httpx.AsyncClient()',
    'aiohttp.ClientSession()',
    'requests.session()',
  ].flatMap((client) => [
    ...fill('get head options', requests({ address: [0, 'url'], data: ['params', 'data', 'json'] })).map(
      ([name, effect]): [string, Effect] => [`${client}.${name}`, effect],
    ),
    ...fill('post put patch delete', request).map(([name, effect]): [string, Effect] => [`${client}.${name}`, effect]),
    ...fill('request stream', requestWithMethod).map(([name, effect]): [string, Effect] => [
      `${client}.${name}`,
      effect,
    ]),
  ]),
  ...fill(
    'urllib.request.urlopen urllib2.urlopen urllib.urlopen',
    requests({ address: [0, 'url'], data: [1, 'data'] }),
  ),
  ...fill('urllib.request.Request urllib2.Request', (call) => ({
    ...nothing,
    text: textOf(argument(call, [0, 'url'])),
    facts: mix([
      ...call.args.slice(1),
      ...[...call.named].filter(([name]) => name !== 'headers').map(([, value]) => value),
    ]).facts,
  })),
  ...fill('urllib.request.urlretrieve wget.download', (call, on) => {
    const where = toAddress(call.args[0])
    const content = answer(call, on, where)
    const path = argument(call, [1, 'filename', 'out'])
    if (path) writeFile(path, content, call, on)
    return path ?? content
  }),
  ...fill('urllib3.PoolManager().request urllib3.request', requestWithMethod),
  ...fill('http.client.HTTPSConnection http.client.HTTPConnection', (call) => ({
    ...nothing,
    path: 'connection',
    self: call.args[0] ?? nothing,
  })),
  [
    'connection.request',
    (call, on) => {
      on.record('network-send', call.code, toAddress(call.self?.self), [...call.args.slice(1), ...call.named.values()])
      return nothing
    },
  ],
  ['connection.getresponse', (call, on) => answer(call, on, toAddress(call.self?.self))],
  ...fill(
    'smtplib.SMTP().sendmail smtplib.SMTP_SSL().sendmail smtplib.SMTP().send_message smtplib.SMTP_SSL().send_message',
    sends([0, 1, 2]),
  ),
  ...fill('ftplib.FTP().storbinary ftplib.FTP_TLS().storbinary', sends([0, 1])),
  ...fill(
    'socket.gethostbyname socket.getaddrinfo dns.resolver.resolve dns.resolver.query',
    requests({ address: 0, data: [], isOptional: true }),
  ),
  ...fill('socket.socket socket.create_connection', (call) => ({
    ...nothing,
    path: 'socket',
    self: call.args[0] ?? nothing,
  })),
  ...fill('socket.send socket.sendall socket.sendto', socketSend),
  ...fill('socket.recv socket.recvfrom', (call, on) => ({
    ...nothing,
    facts: [on.record('network-fetch', call.code)],
  })),
  ...fill('socket.fileno', ({ self }) => self),
  ['os.dup2', duplicate],
  [
    'pty.spawn',
    (call, on) => {
      on.record('program-run', call.code, textOf(call.args[0]))
      return undefined
    },
  ],
  // Code and programs
  ...fill('exec eval builtins.exec builtins.eval', runsCode(0)),
  ...fill('runpy.run_path execfile', (call, on) => {
    const content = call.args[0] && on.files.get(call.args[0].text ?? call.args[0])
    if (content) on.record('dynamic-run', call.code, undefined, [content])
    return nothing
  }),
  ...fill('marshal.loads marshal.load', decodes('marshal')),
  ...fill('types.FunctionType types.CodeType', (call, on) => {
    on.record('dynamic-run', call.code, undefined, call.args)
    return nothing
  }),
  ...fill('pickle.loads dill.loads cloudpickle.loads', (call, on) => {
    const facts = call.args[0] ? call.args[0].facts.filter(({ kind }) => kind === 'network-fetch') : []
    if (facts.length > 0) on.record('dynamic-run', call.code, 'pickle', [{ ...nothing, facts }])
    return mix(call.args)
  }),
  ...fill(
    `os.system os.popen os.startfile commands.getoutput commands.getstatusoutput subprocess.run subprocess.call subprocess.check_call
     subprocess.check_output subprocess.Popen subprocess.getoutput subprocess.getstatusoutput pty.spawn
     asyncio.create_subprocess_shell`,
    command,
  ),
  ...fill('asyncio.create_subprocess_exec os.execl os.execlp os.spawnl', (call, on) => {
    return command({ ...call, args: [{ ...nothing, items: call.args }] }, on)
  }),
  ...fill('os.execv os.execvp os.execve os.posix_spawn', runsProgram(0, 1)),
  // Names
  ...fill('__import__ importlib.import_module builtins.__import__', importModule),
  ...fill('getattr builtins.getattr', attribute),
  ...fill('globals locals vars', () => ({ ...nothing, path: 'builtins' })),
  // Files
  ...fill('open io.open codecs.open builtins.open aiofiles.open', open),
  ...fill('written.write written.writelines', write),
  ...fill('zipfile.ZipFile tarfile.open tarfile.TarFile', archive),
  ...fill('archive.write archive.add archive.writestr archive.addfile', addToArchive),
  ['shutil.make_archive', makeArchive],
  ...fill('io.BytesIO().getvalue io.BytesIO().read io.BytesIO().getbuffer', fromBuffer),
  ...fill('shutil.copy shutil.copyfile shutil.copy2 shutil.move os.rename os.replace', (call, on) => {
    const [from, to] = call.args
    if (from && to) {
      const content = readFile(from, call, on)
      writeFile(to, content, call, on)
    }
    return nothing
  }),
  ...fill('os.path.join posixpath.join ntpath.join pathlib.Path pathlib.PurePath pathlib.PosixPath', ({ args }) =>
    joinPath(args),
  ),
  ...fill(
    'os.path.expanduser os.path.abspath os.path.realpath os.path.normpath os.fspath os.fsencode str builtins.str compile builtins.compile',
    returnsFirst,
  ),
  ...fill(
    'os.path.expandvars',
    ({ args: [path] }) =>
      path && { ...path, ...(path.text !== undefined && { text: path.text.replace(/^\$\{?HOME\}?/, '~') }) },
  ),
  ...fill('pathlib.Path.home', () => toText('~')),
  ...fill('tempfile.gettempdir', () => toText('/tmp')),
  ...fill('tempfile.NamedTemporaryFile', () => ({ ...nothing, path: 'written', self: { ...nothing } })),
  ['shutil.rmtree', deletesFolder],
  ['os.chmod', setsMode],
  ...fill('ssl._create_unverified_context', (call, on) => {
    on.record('privilege-change', call.code, 'TLS')
    return nothing
  }),
  ['socket.bind', bind],
  ...fill('os.walk os.listdir os.scandir glob.glob glob.iglob', listFiles),
  // Variables
  ...fill('os.getenv os.environ.get os.environ.pop', (call, on) =>
    call.args[0]?.text === undefined ? mix(call.args) : readVariable(call.args[0].text, call.code, on),
  ),
  ...fill(
    'os.environ.items os.environ.copy os.environ.values os.environ.keys os.environb.items',
    ({ self }) => self && mix([self]),
  ),
  // Data of the user
  ...fill(
    'pyperclip.paste PIL.ImageGrab.grab PIL.ImageGrab.grabclipboard pyautogui.screenshot mss.mss().shot mss.mss().grab',
    gives('data-collected', 'clipboard or screen'),
  ),
  ...fill(
    'pynput.keyboard.Listener keyboard.on_press keyboard.on_release keyboard.hook keyboard.read_event',
    gives('data-collected', 'keystrokes'),
  ),
  ...fill('keyring.get_password keyring.get_credential', gives('secret-read', 'a keychain')),
  ...fill('win32crypt.CryptUnprotectData', gives('secret-read', 'a browser')),
  ...fill(
    'browser_cookie3.chrome browser_cookie3.firefox browser_cookie3.load browser_cookie3.edge rookiepy.chrome',
    gives('secret-read', 'a browser'),
  ),
  // Encodings
  ...fill(
    'base64.b64decode base64.urlsafe_b64decode base64.standard_b64decode base64.decodebytes binascii.a2b_base64',
    decodes('base64'),
  ),
  ...fill('base64.b32decode', decodes('base32')),
  ...fill('base64.b85decode', decodes('base85')),
  ...fill('base64.b16decode bytes.fromhex bytearray.fromhex binascii.unhexlify binascii.a2b_hex', decodes('hex')),
  ...fill('zlib.decompress', (call, on) => {
    const isRaw = (call.args[1]?.number ?? argument(call, 'wbits')?.number ?? 15) < 0
    return decodes(isRaw ? 'raw deflate' : 'deflate')(call, on)
  }),
  ...fill('gzip.decompress', decodes('gzip')),
  ...fill('bz2.decompress', decodes('bzip2')),
  ...fill('lzma.decompress', decodes('lzma')),
  ...fill('urllib.parse.unquote', decodes('url')),
  ...fill('codecs.decode', (call, on) => {
    const encoding = codecs.get(argument(call, [1, 'encoding'])?.text?.toLowerCase() ?? '')
    return encoding && call.args[0] ? decodeWith(encoding, call.args[0], call, on) : call.args[0]
  }),
  ...fill(
    'cryptography.fernet.Fernet().decrypt Crypto.Cipher.AES.new().decrypt Cryptodome.Cipher.AES.new().decrypt',
    decodes('cipher'),
  ),
  ...fill('chr builtins.chr', chr),
  ...fill('ord builtins.ord', ({ args: [text] }) =>
    text?.text ? { ...text, number: text.text.codePointAt(0)! } : undefined,
  ),
  ...fill('bytes bytearray', bytesOf),
  ...fill('int', ({ args: [text, base] }) => {
    if (text?.text === undefined) return text
    const number = parseInt(text.text, base?.number ?? 10)
    return Number.isNaN(number) ? mix([text]) : { number, facts: text.facts, made: text.made }
  }),
  ...fill('reversed', ({ args: [list] }) => {
    if (list?.text !== undefined)
      return { ...nothing, items: [...list.text].toReversed().map((one) => toText(one, [list], 'reversed')) }
    return list?.items && { ...list, items: list.items.toReversed() }
  }),
  ...fill('list tuple set sorted', ({ args: [list] }) => list),
  ...fill('str.maketrans', ({ args: [from, to] }) => {
    if (from?.text === undefined || to?.text === undefined) return undefined
    const letters = [...from.text].map((one, index): [string, Value] => [one, toText(to.text![index] ?? '')])
    return { ...nothing, fields: new Map(letters) }
  }),
  ...fill('range', ({ args }) => {
    const numbers = args.map(({ number }) => number)
    const [from, to, step] = numbers.length === 1 ? [0, numbers[0], 1] : [numbers[0], numbers[1], numbers[2] ?? 1]
    if (from === undefined || to === undefined || step === 0 || Math.abs((to - from) / step!) > 4096) return nothing
    const items: Value[] = []
    for (let at = from; step! > 0 ? at < to : at > to; at += step!) items.push({ ...nothing, number: at })
    return { ...nothing, items }
  }),
  ...fill('enumerate', ({ args: [list] }) => {
    const items =
      list?.items ??
      (list?.text === undefined
        ? undefined
        : [...list.text].map((one) => ({ ...toText(one, [list]), number: one.charCodeAt(0) })))
    return (
      items && {
        ...nothing,
        items: items.map((item, index) => ({ ...nothing, items: [{ ...nothing, number: index }, item] })),
      }
    )
  }),
  ...fill('len', ({ args: [list] }) => {
    const length = list?.text?.length ?? list?.items?.length
    return length === undefined ? undefined : { ...nothing, number: length }
  }),
  ...fill('map', (call, on) => {
    const [apply, list] = call.args
    if (!apply || !list?.items) return undefined
    const items = list.items
      .slice(0, 4096)
      .map((item) => on.call(apply, { ...call, args: [item], named: new Map(), self: undefined }))
    return { ...nothing, items }
  }),
])

const methods: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ...fill('read_text read_bytes', (call, on) => readFile(call.self, call, on)),
  ...fill('write_text write_bytes', (call, on) => writeFile(call.self, call.args[0], call, on)),
  ...fill('open', (call, on) =>
    call.self?.text === undefined ? undefined : open({ ...call, args: [call.self, ...call.args] }, on),
  ),
  ...fill('write writelines', write),
  ...fill('sendall sendto', socketSend),
  ...fill('post put', (call, on) => (/^https?:/.test(textOf(call.args[0])) ? request(call, on) : undefined)),
  ...fill(
    'upload_file upload_fileobj put_object upload_from_filename upload_from_string',
    sends([0, 1, 'Body', 'Filename']),
  ),
  ...fill('sendmail send_message', sends([0, 1, 2])),
  ...fill('storbinary', sends([0, 1])),
  ...fill('rglob glob iterdir', listFiles),
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
  [/^(?:multiprocessing\.)?os\.sys\.modules\b/, 'builtins'],
  [/^sys\.modules\b/, 'builtins'],
  [/^(?:posix|nt)\.system$/, 'os.system'],
  [/^Path\b/, 'pathlib.Path'],
]

/** Python with its standard library, and libraries that programs send data with. */
export const python: Library = {
  language: 'python',
  toPath(path) {
    return aliases.reduce((plain, [pattern, name]) => plain.replace(pattern, name), path)
  },
  globals,
  effects,
  methods,
  value(path, code, on) {
    if (path === 'os.environ' || path === 'os.environb') {
      return { path, facts: [on.wholeEnvironment(code)], made: [] }
    }
    const name = /^os\.environb?\.(\w{1,80})$/.exec(path)?.[1]
    if (name === undefined || path.endsWith('.get') || path.endsWith('.items') || path.endsWith('.copy'))
      return undefined
    return /^[A-Z]/.test(name) ? readVariable(name, code, on) : undefined
  },
}

import { argument, decodes, gives, readVariable, runsCode, runsProgram } from './effects.ts'
import { fill, type EffectTable } from './effect-table.ts'
import type { Effect, Library } from './library.ts'
import { readMember } from './members.ts'
import { pythonFileMethods, pythonFiles } from './python-files.ts'
import { pythonNetwork, pythonNetworkMethods } from './python-network.ts'
import { pythonTexts } from './python-texts.ts'
import { mix, nothing } from './values.ts'

const command = runsProgram([0, 'args', 'cmd', 'command'])

const importModule: Effect = (call, on) => {
  const name = argument(call, [0, 'name'])
  if (name?.text === undefined) return mix(call.args)
  if (name.made.length > 0) on.record('hidden-name', call.code, name.text)
  return { path: name.text, facts: [], made: [] }
}

const attribute: Effect = (call, on) => {
  const [of, name] = call.args
  return of && name ? readMember(of, name, call.code, on) : undefined
}

/** Functions that run code and programs, read variables, or collect the user's data. */
const programs: EffectTable = [
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
  ...fill('__import__ importlib.import_module builtins.__import__', importModule),
  ...fill('getattr builtins.getattr', attribute),
  ...fill('globals locals vars', () => ({ ...nothing, path: 'builtins' })),
  ...fill('ssl._create_unverified_context', (call, on) => {
    on.record('privilege-change', call.code, 'TLS')
    return nothing
  }),
  ...fill('os.getenv os.environ.get os.environ.pop', (call, on) =>
    call.args[0]?.text === undefined ? mix(call.args) : readVariable(call.args[0].text, call.code, on),
  ),
  ...fill(
    'os.environ.items os.environ.copy os.environ.values os.environ.keys os.environb.items',
    ({ self }) => self && mix([self]),
  ),
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
]

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
  effects: new Map([...pythonNetwork, ...programs, ...pythonFiles, ...pythonTexts]),
  methods: new Map([...pythonFileMethods, ...pythonNetworkMethods]),
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

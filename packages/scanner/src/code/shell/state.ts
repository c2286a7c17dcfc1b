import { isSecretVariable, isStartupPlace, toPlainPath, toReadKind, isAgentFile } from '../known-places.ts'
import type { CodeFact, CodeFactKind } from '../reading.ts'
import type { Recorder } from '../recorder.ts'
import type { Script } from './shell-syntax.ts'
import { empty, joinValues, noise, session, toShellValue, unknown, unknownPart, withFacts } from './value.ts'
import type { Value } from './value.ts'

/** The state of a script that is followed without running it. The readers of words, files and programs change it. */
export interface Shell {
  readonly record: Recorder
  readonly files: ShellFiles
  readonly variables: ShellVariables
  fact(kind: CodeFactKind, value?: string): CodeFact
  /** Records a fact that the values lead to. */
  sink(kind: CodeFactKind, value: string | undefined, from: readonly Value[]): CodeFact
  /** Records a computed text, to be scanned like a decoded text. */
  showText(value: Value, isHidden?: boolean): void
  /** A text of the script, which is not known in full if another program computes the script. */
  literal(text: string): Value
  /** Runs a command given as words: the program and its arguments. Returns its output. */
  runWords(words: readonly Value[], input: Value): Value
  /** Runs a text as shell code. Returns its output. */
  runCode(code: Value, input: Value): Value
  /** Runs a substitution. Returns its output. */
  runScript(script: Script | undefined): Value
  /** Runs a process substitution. Returns the path of its output or input. */
  openProcess(script: Script | undefined, operator: '<' | '>'): Value
  /** Reads a program in another language. Returns its facts. */
  runOther(language: 'python' | 'script' | 'other', code: Value): readonly CodeFact[]
}

/** The path of the script itself. */
const ownPath = '$0'
const initial: ReadonlyMap<string, string> = new Map([
  ...(['HOME', 'ZDOTDIR', 'USERPROFILE'] as const).map((name) => [name, '~'] as const),
  ['PWD', '.'],
  ['TMPDIR', '/tmp'],
  ['XDG_CONFIG_HOME', '~/.config'],
  ['XDG_DATA_HOME', '~/.local/share'],
  ['IFS', ' '],
  ['0', ownPath],
  ['BASH_SOURCE', ownPath],
])

/** The variables of a script. */
export class ShellVariables {
  readonly #shell: Shell
  readonly #values = new Map<string, Value>()
  readonly #arrays = new Map<string, readonly Value[]>()
  #branches = 0

  constructor(shell: Shell) {
    this.#shell = shell
  }

  read(name: string): Value {
    const value = this.#values.get(name)
    if (value) return value
    const elements = this.#arrays.get(name)
    if (elements) return name === '@' ? joinValues(elements, ' ') : (elements[0] ?? empty)
    const text = initial.get(name)
    if (text !== undefined) return toShellValue(text)
    return isSecretVariable(name) ? withFacts(unknown, [this.#shell.fact('variable-read', name)]) : unknown
  }

  /** The elements of an array; undefined if the variable is not an array. */
  readArray(name: string): readonly Value[] | undefined {
    return this.#arrays.get(name)
  }

  set(name: string, value: Value): void {
    const before = this.#branches > 0 ? this.#values.get(name) : undefined
    this.#arrays.delete(name)
    this.#values.set(name, before ? withFacts(value, before.facts) : value)
  }

  setArray(name: string, elements: readonly Value[]): void {
    this.#values.delete(name)
    this.#arrays.set(name, elements.slice(0, 1000))
  }

  /** Runs a branch: a variable that the branch assigns keeps the facts of its previous value, too. */
  inBranch<T>(action: () => T): T {
    this.#branches++
    try {
      return action()
    } finally {
      this.#branches--
    }
  }

  /** Sets the arguments of a function. Returns a function that restores the arguments of its caller. */
  pushArguments(args: readonly Value[]): () => void {
    const before = this.readArray('@')
    const set = (values: readonly Value[] | undefined) => {
      for (let at = 1; at <= 9; at++) {
        const value = values?.[at - 1]
        if (value) this.#values.set(String(at), value)
        else this.#values.delete(String(at))
      }
      if (values) this.#arrays.set('@', values)
      else this.#arrays.delete('@')
    }
    set(args)
    return () => set(before)
  }
}

const filesMax = 500
/** The kinds of facts about the commands in a startup file that flow into the write of the file. */
const acts: ReadonlySet<CodeFactKind> = new Set([
  ...(['network-send', 'network-fetch', 'dynamic-run', 'shell-connected'] as const),
  ...(['decode', 'secret-read', 'environment-read'] as const),
])

/** The files that a script reads and writes. */
export class ShellFiles {
  readonly #shell: Shell
  readonly #script: string
  readonly #written = new Map<string, Value>()
  readonly #sinks = new Map<string, (input: Value) => void>()
  readonly #descriptors = new Map<string, Value>()
  readonly #scripts = new Set<string>()
  #pipes = 0

  constructor(shell: Shell, script: string) {
    this.#shell = shell
    this.#script = script
  }

  /** The content of a file. */
  read(path: Value): Value {
    const plain = toPath(path.text)
    const written = this.#written.get(plain)
    if (written) return written
    const shell = this.#shell
    if (plain === ownPath) return { text: this.#script, facts: [shell.fact('decode', 'own file')], made: ['own file'] }
    if (/^\/dev\/(?:zero|u?random)$/.test(plain)) return { ...unknown, made: [noise] }
    const socket = toSocket(plain)
    if (socket) return { text: unknownPart, facts: [shell.fact('network-fetch', socket)], made: [session] }
    if (/^\/proc\/[^/]{1,20}\/environ$/.test(plain)) return withFacts(unknown, [shell.fact('environment-read')])
    const kind = toReadKind(plain) ?? (ownFolder.test(plain) ? 'data-collected' : undefined)
    return kind ? withFacts(unknown, [shell.fact(kind, plain)]) : unknown
  }

  /** Whether the script has written the file. */
  has(path: string): boolean {
    return this.#written.has(toPath(path))
  }

  write(path: Value, content: Value, isAppended = false): void {
    const plain = toPath(path.text)
    if (/^\/dev\/(?:null|stdout|stderr|tty)$|^-?$/.test(plain)) return
    const sink = this.#sinks.get(plain)
    if (sink) return sink(content)
    const shell = this.#shell
    const socket = toSocket(plain)
    if (socket)
      return void shell.sink(content.made.includes(session) ? 'shell-connected' : 'network-send', socket, [content])
    // Disk images are written to devices for good reasons, but zeros and random bytes destroy the data of a device.
    if (device.test(plain) && content.made.includes(noise)) shell.sink('destruction', plain, [])
    if (isStartupPlace(plain)) this.#writeStartup(plain, content)
    // Writes to a folder of skills are not reported, because skills are installed by copying or cloning them.
    else if (isAgentFile(plain) && !plain.includes('/skills/')) shell.sink('agent-config-write', plain, [content])
    else this.#readProgram(plain, content)
    const before = isAppended ? this.#written.get(plain) : undefined
    if (this.#written.size < filesMax) this.#written.set(plain, before ? joinValues([before, content], '\n') : content)
  }

  /** Records a write to a startup file, and what its commands do. */
  #writeStartup(path: string, content: Value): void {
    const { record } = this.#shell
    const before = record.facts.length
    this.#shell.runCode({ ...content, text: content.text.replace(beforeCommand, '') }, empty)
    const facts = record.facts.slice(before).filter(({ kind }) => acts.has(kind))
    this.#shell.sink('startup-write', path, [withFacts(content, facts)])
  }

  /** Reads a program that the script writes. */
  #readProgram(path: string, content: Value): void {
    const first = /^#!([^\n]{0,100})/.exec(content.text)?.[1] ?? ''
    const ending = path.slice(path.lastIndexOf('.') + 1)
    if (/^(?:sh|bash|zsh|command)$/.test(ending) || /\b(?:ba|z|da|k)?sh\b/.test(first)) this.runScript(content)
    else if (ending === 'py' || first.includes('python')) this.#shell.runOther('python', content)
    else if (/^[mc]?[jt]s$/.test(ending) || /\b(?:node|deno|bun)\b/.test(first)) this.#shell.runOther('script', content)
  }

  /** Reads a shell script in a file only once, although it may be written at one place and started at another. */
  runScript(content: Value): void {
    if (this.#scripts.has(content.text)) return
    this.#scripts.add(content.text)
    this.#shell.runCode(content, empty)
  }

  /** Creates a file for the output of a process, or for a function that takes its input. Returns its path. */
  addPipe(content: Value | ((input: Value) => void)): Value {
    const path = `/dev/fd/${++this.#pipes}`
    if (typeof content === 'function') this.#sinks.set(path, content)
    else this.#written.set(path, content)
    return toShellValue(path)
  }

  openDescriptor(descriptor: string, path: Value): void {
    this.#descriptors.set(descriptor, path)
  }

  readDescriptor(descriptor: string): Value | undefined {
    const path = this.#descriptors.get(descriptor)
    return path && this.read(path)
  }

  /** Writes to an open descriptor. Returns whether the descriptor is open. */
  writeDescriptor(descriptor: string, content: Value): boolean {
    const path = this.#descriptors.get(descriptor)
    if (path) this.write(path, content)
    return path !== undefined
  }
}

const device = /^\/dev\/(?:[shv]d[a-z]|nvme\d|r?disk\d|mmcblk\d)/
const ownFolder =
  /^~(?:\/(?:Documents|Desktop|Pictures|Downloads|Movies|Music)?)?$|^~\/(?:Documents|Desktop|Pictures)\//i

/** A plain path without `./`. */
const toPath = (path: string) =>
  toPlainPath(path)
    .replace(/^(?:\.\/)+(?=.)/, '')
    .replaceAll(/\/(?:\.\/)+/g, '/')

/** The URL to which Bash connects for `/dev/tcp/HOST/PORT` and `/dev/udp/HOST/PORT`; undefined for other paths. */
function toSocket(path: string): string | undefined {
  const [, protocol, host, port] = /^\/dev\/(tcp|udp)\/([^/]{1,200})\/([^/]{1,20})$/.exec(path) ?? []
  return protocol && `${protocol}://${host}:${port}/`
}

/** The text before the command in a crontab, a systemd service or a property list. */
const beforeCommand = /^(?:[ \t]*(?:@\w{1,20}|(?:[\d*][\d*,/-]{0,20}[ \t]+){5})|Exec\w{0,20}=[-@:+!]?|[ \t]*<string>)/gm

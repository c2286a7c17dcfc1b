import {
  findSecretStore,
  isAgentFile,
  isEnvironmentFile,
  isPersonalFile,
  isStartupPlace,
  toPlainPath,
} from './known-places.ts'
import type { CodeFactKind } from './reading.ts'
import { toCommands } from './shell-startup.ts'
import type { ShellRun } from './shell-run.ts'
import {
  empty,
  joinValues,
  noise,
  session,
  toValue,
  unknown,
  unknownPart,
  withFacts,
  type Value,
} from './shell-value.ts'
import { ownPath } from './shell-variables.ts'

const filesMax = 500

/** What a startup file does that matters to its owner. */
const acts: ReadonlySet<CodeFactKind> = new Set([
  ...(['network-send', 'network-fetch', 'dynamic-run', 'listener', 'shell-connected'] as const),
  ...(['decode', 'secret-read', 'environment-read'] as const),
])

/** The files that a script reads and writes. */
export class ShellFiles {
  readonly #run: ShellRun
  readonly #script: string
  readonly #written = new Map<string, Value>()
  readonly #sinks = new Map<string, (input: Value) => void>()
  readonly #descriptors = new Map<string, Value>()
  readonly #scripts = new Set<string>()
  #pipes = 0

  constructor(run: ShellRun, script: string) {
    this.#run = run
    this.#script = script
  }

  /** The content of a file. */
  read(path: Value): Value {
    const plain = toPath(path.text)
    const written = this.#written.get(plain)
    if (written) return written
    const run = this.#run
    if (plain === ownPath) return { text: this.#script, facts: [run.fact('decode', 'own file')], made: ['own file'] }
    if (/^\/dev\/(?:zero|u?random)$/.test(plain)) return { ...unknown, made: [noise] }
    const socket = toSocket(plain)
    if (socket) return { text: unknownPart, facts: [run.fact('network-fetch', socket)], made: [session] }
    if (findSecretStore(plain)) return withFacts(unknown, [run.fact('secret-read', plain)])
    if (isEnvironmentFile(plain)) return withFacts(unknown, [run.fact('environment-read', plain)])
    if (/^\/proc\/[^/]{1,20}\/environ$/.test(plain)) return withFacts(unknown, [run.fact('environment-read')])
    if (isPersonalFile(plain) || ownFolder.test(plain)) return withFacts(unknown, [run.fact('data-collected', plain)])
    return unknown
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
    const run = this.#run
    const socket = toSocket(plain)
    if (socket)
      return void run.sink(content.made.includes(session) ? 'shell-connected' : 'network-send', socket, [content])
    // Images are written to devices for good reasons, but noise destroys them.
    if (device.test(plain) && content.made.includes(noise)) run.sink('destruction', plain, [])
    if (/^\/etc\/sudoers(?:\.d\/|$)/.test(plain)) run.sink('privilege-change', plain, [content])
    if (isStartupPlace(plain)) this.#writeStartup(plain, content)
    // Skills are installed by copying or cloning them.
    else if (isAgentFile(plain) && !/\/skills\//.test(plain)) run.sink('agent-config-write', plain, [content])
    else this.#readProgram(plain, content)
    const before = isAppended ? this.#written.get(plain) : undefined
    if (this.#written.size < filesMax) this.#written.set(plain, before ? joinValues([before, content], '\n') : content)
  }

  /** Records a write to a startup file, and what its commands do. */
  #writeStartup(path: string, content: Value): void {
    const run = this.#run
    const commands = toCommands(path, content.text)
    const facts = run.factsOf(() => void run.runCode({ ...content, text: commands }, empty))
    const from = withFacts(
      content,
      facts.filter(({ kind }) => acts.has(kind)),
    )
    run.sink('startup-write', path, [from])
  }

  /** Reads a program that the script writes. */
  #readProgram(path: string, content: Value): void {
    const first = /^#!([^\n]{0,100})/.exec(content.text)?.[1] ?? ''
    const ending = path.slice(path.lastIndexOf('.') + 1)
    if (/^(?:sh|bash|zsh|command)$/.test(ending) || /\b(?:ba|z|da|k)?sh\b/.test(first)) this.runScript(content)
    else if (ending === 'py' || first.includes('python')) this.#run.runOther('python', content)
    else if (/^[mc]?[jt]s$/.test(ending) || /\b(?:node|deno|bun)\b/.test(first)) this.#run.runOther('script', content)
  }

  /** Reads a shell script in a file, once: it is written at one place and started at another. */
  runScript(content: Value): void {
    if (this.#scripts.has(content.text)) return
    this.#scripts.add(content.text)
    this.#run.runCode(content, empty)
  }

  /** Makes the output of a process a file. Returns its path. */
  addPipe(content: Value): Value {
    const path = `/dev/fd/${++this.#pipes}`
    this.#written.set(path, content)
    return toValue(path)
  }

  /** Makes the input of a process a file. Returns its path. */
  addSink(sink: (input: Value) => void): Value {
    const path = `/dev/fd/${++this.#pipes}`
    this.#sinks.set(path, sink)
    return toValue(path)
  }

  openDescriptor(descriptor: string, path: Value): void {
    this.#descriptors.set(descriptor, path)
  }

  readDescriptor(descriptor: string): Value | undefined {
    const path = this.#descriptors.get(descriptor)
    return path && this.read(path)
  }

  /** Writes to an open descriptor. Returns whether there is one. */
  writeDescriptor(descriptor: string, content: Value): boolean {
    const path = this.#descriptors.get(descriptor)
    if (path) this.write(path, content)
    return path !== undefined
  }
}

const device = /^\/dev\/(?:[shv]d[a-z]|nvme\d|r?disk\d|mmcblk\d)/
const ownFolder =
  /^~(?:\/(?:Documents|Desktop|Pictures|Downloads|Movies|Music)?)?$|^~\/(?:Documents|Desktop|Pictures)\//i

/** A path without steps that lead nowhere. */
const toPath = (path: string) =>
  toPlainPath(path)
    .replace(/^(?:\.\/)+(?=.)/, '')
    .replaceAll(/\/(?:\.\/)+/g, '/')
    .replace(/^\/root(?=\/|$)/, '~')

/** The address of `/dev/tcp/host/port`. */
function toSocket(path: string): string | undefined {
  const [, protocol, host, port] = /^\/dev\/(tcp|udp)\/([^/]{1,200})\/([^/]{1,20})$/.exec(path) ?? []
  return protocol && `${protocol}://${host}:${port}/`
}

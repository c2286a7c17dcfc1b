import { decodeAs as decodeText, toUtf8, type Encoding } from './decoders.ts'
import type { Call, Effect, Evaluator } from './library.ts'
import {
  findSecretStore,
  isAgentFile,
  isOwnHeader,
  isSecretVariable,
  isStartupPlace,
  toReadKind,
} from './known-places.ts'
import type { CodeFactKind } from './reading.ts'
import type { Code } from './syntax.ts'
import { joinPath } from './text-methods.ts'
import { gatherFacts, isHiding, mixValues, nothing, textOf, toTextValue, unknownPart, type Value } from './values.ts'

/** Selects an argument: by its position, by its name, or the first of several that a call has. */
export type Which = number | string | readonly (number | string)[]

export function findCallArgument({ args, named }: Pick<Call, 'args' | 'named'>, which: Which): Value | undefined {
  if (typeof which === 'number') return args[which]
  if (typeof which === 'string') return named.get(which) ?? optionOf(args, which)
  for (const one of which) {
    const found = findCallArgument({ args, named }, one)
    if (found) return found
  }
  return undefined
}

/** Finds a named option in the objects among arguments, as functions of JavaScript take options. */
function optionOf(args: readonly Value[], name: string): Value | undefined {
  for (const { fields } of args.toReversed()) if (fields?.has(name)) return fields.get(name)
  return undefined
}

/** The values of headers that do not identify the caller. */
function otherHeaders(headers: Value | undefined): Value[] {
  if (!headers) return []
  if (!headers.fields) return headers.items ? [headers] : []
  return [...headers.fields].filter(([name]) => !isOwnHeader(name)).map(([, value]) => value)
}

/** The known part of an address; undefined if not even its beginning is known. */
export function toCallAddress(value: Value | undefined): string | undefined {
  if (value?.items) return textOf(value.items[0])
  const text = value?.fields
    ? textOf(value.fields.get('hostname') ?? value.fields.get('host') ?? value.fields.get('url'))
    : textOf(value)
  return text === unknownPart ? undefined : text
}

interface Request {
  readonly address: Which
  /** Arguments that are sent; those named `headers` are always considered. */
  readonly data: readonly (number | string)[]
  /** Whether the call is a request only if data is sent. */
  readonly isOptional?: boolean
}

/** A request, which sends its data and receives an answer. */
export function requests({ address, data, isOptional }: Request): Effect {
  return (call, on) => {
    const to = findCallArgument(call, address)
    const where = toCallAddress(to)
    const bodies = data.flatMap((which) => findCallArgument(call, which) ?? [])
    // A value that determines the host is not counted as data sent to the host.
    const isHostKnown = where !== undefined && /^(?:https?:\/\/)?[\w.-]{3,}[/?:]|^\ufffc\.[\w-]/.test(where)
    const sent = [...bodies, ...(to && isHostKnown ? [to] : []), ...otherHeaders(findCallArgument(call, 'headers'))]
    if (bodies.length > 0 || sent.some((value) => gatherFacts(value).length > 0))
      on.record('network-send', call.code, where, sent)
    else if (isOptional) return undefined
    if (to?.made.some(isHiding)) on.reveal(to, call.code)
    return toRequestAnswer(call, on, where)
  }
}

/** The answer to a request: content from the network, or a secret if the address is a store of secrets. */
export function toRequestAnswer(call: Call, on: Evaluator, where: string | undefined): Value {
  const store = where === undefined ? undefined : findSecretStore(where)
  const facts = [on.record(store ? 'secret-read' : 'network-fetch', call.code, where)]
  return { path: 'answer', facts, made: [] }
}

/** Sends the arguments that `data` selects, or all arguments if the call has none of them. */
export function sends(data: readonly (number | string)[], address?: Which): Effect {
  return (call, on) => {
    const sent = data.flatMap((which) => findCallArgument(call, which) ?? [])
    const where = address === undefined ? undefined : toCallAddress(findCallArgument(call, address))
    on.record('network-send', call.code, where, sent.length > 0 ? sent : call.args)
    return nothing
  }
}

/** The content of a file as a value. */
export function readFileValue(path: Value | undefined, call: Call, on: Evaluator): Value {
  const known = path && (on.files.get(path.text ?? path) ?? undefined)
  const text = textOf(path)
  const kind = toReadKind(text)
  const facts = [...(path?.facts ?? []), ...(known ? gatherFacts(known) : [])]
  if (kind) facts.push(on.record(kind, call.code, text))
  return { path: 'file', facts, made: [], ...(path && { self: path }) }
}

/** Writes to a file: a fact if programs run it or agents obey it. Stores the facts of the data for a later read. */
export function writeFile(path: Value | undefined, data: Value | undefined, call: Call, on: Evaluator): Value {
  const text = textOf(path)
  const from = data ? [data] : []
  if (isStartupPlace(text)) on.record('startup-write', call.code, text, from)
  else if (isAgentFile(text)) on.record('agent-config-write', call.code, text, from)
  if (path && data && gatherFacts(data).length > 0)
    on.files.set(path.text ?? path, { ...nothing, facts: gatherFacts(data) })
  if (data) on.reveal(data, call.code)
  return nothing
}

/** The effect of a call that runs the text of an argument as code. */
export function runsCode(which: Which, language?: 'python' | 'script'): Effect {
  return (call, on) => {
    const text = findCallArgument(call, which)
    if (!text || text.closure) return undefined
    const isKnown = text.text !== undefined && text.made.length === 0
    const from = [text, ...hiddenIn(text, call, on)]
    if (!isKnown || gatherFacts(text).length > 0) on.record('dynamic-run', call.code, undefined, from)
    on.reveal(text, call.code)
    if (text.text === undefined) return mixValues([text])
    return on.runText(language ?? on.library.language, toUtf8(text.text), call.code, call.scope)
  }
}

/** The fact that a text was hidden, as a list of one value; empty if the text was not hidden, or has such a fact. */
function hiddenIn(text: Value, call: Call, on: Evaluator): Value[] {
  if (text.facts.some(({ kind }) => kind === 'decode')) return []
  const operation = text.made.find(isHiding)
  return operation ? [{ ...nothing, facts: [on.record('decode', call.code, operation)] }] : []
}

/** A command that passes code to an interpreter as an argument, such as `sh -c`. */
const codeArgument =
  /^(?:\S*\/)?(?:(?:ba|z|da)?sh|python[\d.]{0,4}|node|perl|ruby|powershell|pwsh|cmd)(?:\.exe)? (?:\S+ )*?[-/](?:c|e|-eval|command|enc\w*)\s/i
const installs = /\b(?:pip3?|npm|pnpm|yarn|gem|cargo|brew|apt(?:-get)?|bun) (?:-\S+ )*(?:install|add|i)\b/

/** Maximum number of words, and of characters, of a command that are read. */
const wordsMax = 64
const lineCharactersMax = 4096

/** Starts a program: with a command line, or a list of words. */
export function runsProgram(command: Which, words?: Which): Effect {
  return (call, on) => {
    const first = findCallArgument(call, command)
    if (!first) return undefined
    const more = words === undefined ? undefined : findCallArgument(call, words)
    const list = [...(first.items ?? [first]), ...(more?.items ?? [])].slice(0, wordsMax)
    const line = list
      .map((word) => toUtf8(textOf(word).slice(0, lineCharactersMax)))
      .join(' ')
      .slice(0, lineCharactersMax)
    const isOpen = line.startsWith(unknownPart)
    const direct = { ...nothing, facts: (list[0]?.facts ?? []).filter(({ kind }) => isOpen || kind === 'decode') }
    const stored = list.flatMap((word) => on.files.get(word.text ?? word) ?? [])
    const hidden = list.flatMap((word) => hiddenIn(word, call, on))
    on.record('program-run', call.code, line, [direct, ...stored, ...hidden])
    // A command whose beginning is not known may be any command.
    if (isOpen && list.length === 1) on.record('dynamic-run', call.code, 'a command', list)
    if (codeArgument.test(line)) on.record('dynamic-run', call.code, 'a command', list.slice(1))
    if (installs.test(line)) on.record('package-install', call.code, line)
    if (list.some(({ made }) => made.length > 0)) for (const word of list) on.reveal(word, call.code)
    const isList = first.items !== undefined || more !== undefined
    const output = on.runCommand(isList ? list : first, findCallArgument(call, 'input') ?? nothing, call)
    return { ...nothing, path: 'process', facts: output }
  }
}

/** Decodes a text. Records a fact if the text is written in the code. */
export function decodes(encoding: Encoding, which: Which = 0): Effect {
  return (call, on) => {
    const given = findCallArgument(call, which)
    return given && decodeWith(encoding, given, call, on)
  }
}

/** Minimum length of an encoded text: shorter texts hide nothing. */
const encodedCharactersMin = 4

export function decodeWith(encoding: Encoding, given: Value, call: Call, on: Evaluator): Value {
  const text = given.text
  if (text === undefined || text.includes(unknownPart)) return mixValues([{ ...nothing, facts: gatherFacts(given) }])
  const decoded = decodeText(encoding, text)
  if (decoded === text || text.length < encodedCharactersMin) return toTextValue(decoded ?? text, [given])
  const fact = on.record('decode', call.code, encoding)
  const from = [{ ...given, facts: [...given.facts, fact] }]
  if (decoded === undefined) return mixValues(from)
  const value = toTextValue(decoded, from, encoding)
  if (/^[\t\n\r -~]{4,}$/.test(decoded)) on.reveal(value, call.code)
  return value
}

/** Records a fact that depends on the arguments. Returns a value that depends on the fact. */
export function collects(kind: CodeFactKind, value?: string): Effect {
  return (call, on) => ({ ...nothing, facts: [on.record(kind, call.code, value, call.args)] })
}

/** Environment variables with the path of a folder, each with its usual path. */
const folders = new Map([
  ...['HOME', 'USERPROFILE'].map((name) => [name, '~'] as const),
  ...['TEMP', 'TMP', 'TMPDIR'].map((name) => [name, '/tmp'] as const),
  ['APPDATA', '~/AppData/Roaming'],
  ['LOCALAPPDATA', '~/AppData/Local'],
])

/** The value of one environment variable. */
export function readNamedVariable(name: string, code: Code, on: Evaluator): Value {
  const folder = folders.get(name)
  if (folder !== undefined) return toTextValue(folder)
  return isSecretVariable(name) ? { ...nothing, facts: [on.record('variable-read', code, name)] } : nothing
}

/** Reads the variable that is named by the first argument. */
export const readsVariable: Effect = ({ args, code }, on) =>
  args[0]?.text === undefined ? mixValues(args) : readNamedVariable(args[0].text, code, on)

const personalFolder =
  /^~\/?(?:\*|$)|^~\/(?:documents|desktop|downloads|pictures)(?:\/|$)|^\/(?:home|users)?\/?(?:\*|$)/i

/** Lists the files of a folder. Records a fact if it is the home folder or another folder with the user's own files. */
export const listsFiles: Effect = (call, on) => {
  const path = call.self?.text === undefined ? call.args[0] : joinPath([call.self, ...call.args])
  const text = textOf(path)
  if (!personalFolder.test(text)) return path && readFileValue(path, call, on)
  return { ...nothing, facts: [on.record('data-collected', call.code, text)] }
}

export const returnsFirst: Effect = ({ args }) => args[0]

const everything = /^(?:~|\/|\/home|\/users|\/root|[a-z]:\/?|~\/(?:documents|desktop|pictures))\/?\*?$/i

/** Deletes a folder with its content. Records a fact if the folder is a root or holds all files of a user. */
export const deletesFolder: Effect = (call, on) => {
  const path = textOf(call.args[0])
  if (everything.test(path)) on.record('destruction', call.code, path)
  return nothing
}

/** Sets the mode of a file; the setuid bits give others the rights of its owner. */
export const setsMode: Effect = (call, on) => {
  const mode = call.args.findLast(({ number, text }) => number !== undefined || /^[0-7]{4}$/.test(text ?? ''))
  const bits = mode?.number ?? Number.parseInt(mode?.text ?? '0', 8)
  if ((bits & 0o6000) !== 0 && (bits & 0o111) !== 0 && bits < 0o10000)
    on.record('privilege-change', call.code, 'setuid')
  return nothing
}

import { findSecretStore } from '../known-places.ts'
import { Call, type Program, type ProgramRow } from './shell-call.ts'
import { filters } from './filters.ts'
import { network } from './network.ts'
import { runFile, runners } from './runners.ts'
import type { Shell } from './state.ts'
import { system, tellingCommands } from './system.ts'
import { dependOn, joinValues, session, unknownPart, withFacts, type Value } from './value.ts'

interface Known {
  readonly taking: ReadonlySet<string>
  readonly run: Program
}

const rows: readonly ProgramRow[] = [...filters, ...network, ...runners, ...system]
const programs: ReadonlyMap<string, Known> = new Map(
  rows.flatMap(([names, taking, run]) => {
    const known = { taking: new Set(taking.split(/\s+/)), run }
    return names.split(/\s+/).map((name) => [name, known] as const)
  }),
)
const telling = Map.groupBy(
  tellingCommands.flatMap(([names, kind, line, value]) =>
    names.split(' ').map((name) => ({ name, kind, line, value })),
  ),
  ({ name }) => name,
)

/** Follows a command into what it does. Returns its output. */
export function runProgram(name: Value, args: readonly Value[], input: Value, run: Shell): Value {
  const { text } = name
  if (text.startsWith(unknownPart)) {
    if (name.facts.length > 0) run.sink('dynamic-run', undefined, [name])
    return { ...dependOn([input, ...args]), made: [session] }
  }
  const hidden = name.facts.filter(({ kind }) => kind === 'decode' || kind === 'hidden-name')
  if (hidden.length > 0) run.sink('program-run', joinValues([name, ...args], ' ').text, [{ ...name, facts: hidden }])
  const program = text
    .slice(text.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/\.exe$/, '')
  const isSystem = !text.includes('/') || /^(?:\/|~\/\.\w)/.test(text)
  const known = programs.get(program)
  const call = new Call(program, args, input, run, known?.taking ?? new Set())
  if (isSystem && (known || telling.has(program))) return tell(call, (known?.run ?? runUnknown)(call))
  return text.includes('/') || run.files.has(text) ? runFile(name, args, input, run) : runUnknown(call)
}

/** A program without a row prints what it is given, and the secrets that it is told to open. */
function runUnknown({ args, input, run }: Call): Value {
  const opened = args.filter(({ text }) => findSecretStore(text)).map((arg) => run.files.read(arg))
  return dependOn([input, ...args, ...opened])
}

/** Records the facts that the arguments tell. What is collected is in the output, and in a file that is named. */
function tell({ program, args, line, run }: Call, output: Value): Value {
  let told = output
  for (const { kind, line: pattern, value } of telling.get(program) ?? []) {
    const found = pattern.exec(line)
    if (!found) continue
    const shown = kind === 'secret-read' ? found[0] : line
    const fact = run.fact(kind, value === '' ? undefined : (value ?? `${program} ${shown}`.trim()))
    if (/^(?:secret-read|data-collected|environment-read)$/.test(kind)) told = withFacts(told, [fact])
    const file = kind === 'data-collected' && args.findLast(({ text }) => /\.\w{2,4}$/.test(text))
    if (file) run.files.write(file, withFacts(told, [fact]))
  }
  return told
}

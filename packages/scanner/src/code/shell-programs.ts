import { findSecretStore } from './known-places.ts'
import { filters } from './shell-filters.ts'
import { interpreters, runFile } from './shell-interpreters.ts'
import { network } from './shell-network.ts'
import { packages } from './shell-packages.ts'
import type { ShellRun } from './shell-run.ts'
import { secrets } from './shell-secrets.ts'
import { system } from './shell-system.ts'
import { transfers } from './shell-transfers.ts'
import { dependOn, joinValues, session, unknown, unknownPart, type Value } from './shell-value.ts'
import { builtins } from './shell-builtins.ts'

/** A command with its words. */
export interface Call {
  readonly program: string
  readonly args: readonly Value[]
  readonly input: Value
  readonly run: ShellRun
}

/** What a program does; returns its output. */
export type Program = (call: Call) => Value

const programs: ReadonlyMap<string, Program> = new Map(
  Object.entries({
    ...builtins,
    ...filters,
    ...interpreters,
    ...network,
    ...packages,
    ...secrets,
    ...system,
    ...transfers,
  }),
)

export function runProgram(name: Value, args: readonly Value[], input: Value, run: ShellRun): Value {
  const { text } = name
  if (text.startsWith(unknownPart)) {
    if (name.facts.length > 0) run.sink('dynamic-run', undefined, [name])
    return { ...dependOn([input, ...args]), made: [session] }
  }
  const hidden = name.facts.filter(({ kind }) => kind === 'decode' || kind === 'hidden-name')
  if (hidden.length > 0) run.sink('program-run', joinValues([name, ...args], ' ').text, [{ ...name, facts: hidden }])
  const program = text.slice(text.lastIndexOf('/') + 1).toLowerCase()
  const known = programs.get(program)
  if (known && (!text.includes('/') || /^(?:\/|~\/\.\w)/.test(text))) return known({ program, args, input, run })
  if (text.includes('/') || run.files.has(text)) return runFile(name, args, input, run)
  if (readsNothing.has(program)) return unknown
  const opened = args.filter(({ text: arg }) => findSecretStore(arg)).map((arg) => run.files.read(arg))
  return dependOn([input, ...args, ...opened])
}

/** Programs that are given paths of keys without printing them. */
const readsNothing: ReadonlySet<string> = new Set(
  'ssh-keygen ssh-add ssh-copy-id mkdir rmdir touch chown stat realpath dirname'.split(' '),
)

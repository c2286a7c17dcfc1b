import type { Mirror, NetworkMode, OutboxWrite } from '@skillstead/mirror'
import { UsageError, choice, flag, text, type Arguments, type Command } from '../command.ts'
import { askingOptions } from '../mirror/options.ts'
import { withMirror } from '../mirror/with-mirror.ts'
import { toOneLine } from '../output.ts'
import { storeOptions } from '../place.ts'

interface ShownWrite extends Omit<OutboxWrite, 'createdAt' | 'endedAt' | 'problem'> {
  readonly createdAt: string
  readonly endedAt: string | null
  readonly problem: { code: string; message: string; at: string } | null
}

/** What is there, or what came of settling one of them. */
type Outbox =
  | { readonly writes: ShownWrite[]; readonly total: number }
  | {
      readonly settled: string | null
      readonly delivered: number
      readonly waiting: number
      readonly inConflict: number
    }
  | { readonly settled: string }

const verbs = ['list', 'retry', 'drop', 'rename'] as const
const writesMax = 1000

/** `skillstead mirror outbox list|retry|drop|rename`: what was done here and is to be done upstream as well. */
export const settleOutbox: Command<Outbox> = {
  summary:
    'What was done on this mirror and waits to be done upstream: list; retry [ID], one or all that wait; drop ID; rename ID NAME.',
  words: ['list|retry|drop|rename', '[ID]', '[NAME]'],
  options: {
    upstream: { value: 'NAME', help: 'only what is for this one' },
    all: { help: 'with list: also what was delivered or dropped' },
    ...askingOptions,
    ...storeOptions,
  },
  async run(given) {
    const { verb, id, newName } = readWords(given)
    return withMirror(given, async (mirror) => {
      if (verb === 'list') return list(mirror, given)
      const upstream = text(given, 'upstream')
      if (id === undefined) return { settled: null, ...(await mirror.outbox.deliver(upstream)) }
      const write = (await mirror.outbox.list({ limit: writesMax })).find((one) => one.id === id)
      if (verb === 'retry') await mirror.outbox.retry(id)
      if (verb === 'drop') await mirror.outbox.drop(id)
      if (newName !== undefined) await mirror.outbox.rename(id, newName)
      if (mirror.mode === ('offline' satisfies NetworkMode)) return { settled: id }
      // No node may be running that would send it, or what waited behind it.
      return { settled: id, ...(await mirror.outbox.deliver(write?.upstream)) }
    })
  },
  show: showOutbox,
}

function readWords({ words }: Arguments) {
  const [first, id, newName] = words
  const verb = choice(first, verbs, 'verb of the outbox')!
  const wantsId = verb === 'drop' || verb === 'rename'
  if (wantsId && id === undefined) throw new UsageError(`ID is missing: skillstead mirror outbox ${verb} ID`)
  if (verb === 'rename' && newName === undefined) {
    throw new UsageError('NAME is missing: skillstead mirror outbox rename ID NAME')
  }
  const extra = verb === 'list' ? id : verb === 'rename' ? undefined : newName
  if (extra !== undefined)
    throw new UsageError(`'${extra}' is one word too many for \`skillstead mirror outbox ${verb}\`.`)
  return { verb, id, newName }
}

async function list(mirror: Mirror, given: Arguments): Promise<Outbox> {
  const states = flag(given, 'all') ? (['pending', 'conflict', 'delivered', 'dropped'] as const) : undefined
  const writes = await mirror.outbox.list({ upstream: text(given, 'upstream'), states, limit: writesMax })
  return { writes: writes.map(toShown), total: writes.length }
}

function toShown({ createdAt, endedAt, problem, ...write }: OutboxWrite): ShownWrite {
  return {
    ...write,
    createdAt: toTime(createdAt),
    endedAt: endedAt === null ? null : toTime(endedAt),
    problem: problem && { ...problem, at: toTime(problem.at) },
  }
}

function showOutbox(outbox: Outbox): string[] {
  if ('writes' in outbox) return outbox.writes.length === 0 ? ['Nothing waits.'] : outbox.writes.flatMap(toLines)
  const settled = outbox.settled === null ? [] : [`Settled ${outbox.settled}.`]
  if (!('delivered' in outbox)) return settled
  const { delivered, waiting, inConflict } = outbox
  const conflicts = inConflict === 0 ? '' : `, ${inConflict} in conflict: mirror outbox list`
  return [...settled, `${delivered} delivered, ${waiting} waiting${conflicts}.`]
}

function toLines({
  id,
  upstream,
  kind,
  subject,
  subjectThere,
  version,
  user,
  state,
  attempts,
  problem,
  createdAt,
}: ShownWrite) {
  const what = toOneLine(version === null ? subject : `${subject}@${version}`)
  const there = subjectThere === subject ? '' : `, there ${toOneLine(subjectThere)}`
  const who = user === null ? '' : `by ${user}, `
  return [
    `${id}  ${state === 'pending' ? 'waits' : state}  ${kind} ${what} at ${upstream}${there}`,
    `  ${who}${createdAt}${attempts > 0 ? `, tried ${attempts} times` : ''}`,
    ...(problem ? [`  ${problem.code}, ${problem.at}: ${toOneLine(problem.message)}`] : []),
  ]
}

function toTime(at: number): string {
  return new Date(at).toISOString()
}

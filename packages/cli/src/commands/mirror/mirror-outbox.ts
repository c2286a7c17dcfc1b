import { toOneLine } from '@skillstead/protocol'
import type { Mirror, NetworkMode, OutboxWrite } from '@skillstead/mirror'
import { UsageError, command, flag, textOption, type Arguments } from '../../command/command.ts'
import { choice } from '../../command/values.ts'
import { askingOptions } from '../../mirror/options.ts'
import { withMirror } from '../../mirror/with-mirror.ts'
import { storeOptions } from '../../registry/place.ts'

type ShownWrite = ReturnType<typeof toPrintedWrite>

/** The list of writes, or the one write that was retried, dropped or renamed. */
type Outbox =
  | { readonly writes: ShownWrite[]; readonly total: number }
  | {
      readonly id: string | null
      /** The new state of the retried, dropped or renamed write. */
      readonly state?: OutboxWrite['state']
      readonly delivered: number
      readonly waiting: number
      readonly inConflict: number
    }
  | { readonly id: string; readonly state: OutboxWrite['state'] }

const verbs = ['list', 'retry', 'drop', 'rename'] as const
const writesMax = 1000

export const commands = {
  'mirror outbox': command({
    description:
      'Manage the writes made on this mirror that are still to be sent upstream: list; retry [ID] (default: all pending); drop ID; rename ID NAME.',
    words: ['list|retry|drop|rename', '[ID]', '[NAME]'],
    options: {
      upstream: { value: 'NAME', help: 'only writes for this upstream' },
      all: { help: 'with list: also delivered and dropped writes' },
      ...askingOptions,
      ...storeOptions,
    },
    async run(given) {
      const { verb, id, newName } = readOutboxWords(given)
      return withMirror(given, async (mirror) => {
        const upstream = textOption(given, 'upstream')
        // Refuse an unknown upstream: for a misspelled name "no pending writes" would look like good news.
        if (upstream !== undefined) await mirror.status(upstream)
        if (verb === 'list') return listOutboxWrites(mirror, upstream, flag(given, 'all'))
        if (id === undefined) return { id: null, ...(await mirror.outbox.deliver(upstream)) }
        const write = await findOpenWrite(mirror, id)
        if (verb === 'retry') await mirror.outbox.retry(id)
        if (verb === 'drop') await mirror.outbox.drop(id)
        if (newName !== undefined) await mirror.outbox.rename(id, newName)
        const ended = verb === 'drop' ? 'dropped' : 'delivered'
        // Send the write and the writes queued behind it in this process: perhaps no node is running that sends writes.
        const isSent = mirror.mode !== ('offline' satisfies NetworkMode)
        const delivery = isSent ? await mirror.outbox.deliver(write?.upstream) : undefined
        return { id, state: (await findOpenWrite(mirror, id))?.state ?? ended, ...delivery }
      })
    },
    show: showOutbox,
    hasFailed(outbox) {
      if (!('delivered' in outbox)) return false
      if (outbox.state === undefined) return outbox.waiting + outbox.inConflict > 0
      return outbox.state === 'pending' || outbox.state === 'conflict'
    },
  }),
}

/** An open write: pending or in conflict. */
async function findOpenWrite(mirror: Mirror, id: string): Promise<OutboxWrite | undefined> {
  return (await mirror.outbox.list({ limit: writesMax })).find((one) => one.id === id)
}

function readOutboxWords({ words }: Arguments) {
  const [first, id, newName] = words
  const verb = choice(first, verbs, 'verb of the outbox')!
  const wantsId = verb === 'drop' || verb === 'rename'
  if (wantsId && id === undefined) throw new UsageError(`ID is missing. Usage: skillstead mirror outbox ${verb} ID`)
  if (verb === 'rename' && newName === undefined) {
    throw new UsageError('NAME is missing. Usage: skillstead mirror outbox rename ID NAME')
  }
  const extra = verb === 'list' ? id : verb === 'rename' ? undefined : newName
  if (extra !== undefined)
    throw new UsageError(`Unexpected argument '${extra}' for \`skillstead mirror outbox ${verb}\`.`)
  return { verb, id, newName }
}

async function listOutboxWrites(mirror: Mirror, upstream: string | undefined, isAll: boolean): Promise<Outbox> {
  const states = isAll ? (['pending', 'conflict', 'delivered', 'dropped'] as const) : undefined
  const writes = await mirror.outbox.list({ upstream, states, limit: writesMax })
  const left = (await mirror.status(upstream)).map((one) => one.writesWaiting + one.writesInConflict)
  // Delivered and dropped writes are not counted.
  const total = isAll ? writes.length : left.reduce((sum, count) => sum + count, 0)
  return { writes: writes.map(toPrintedWrite), total }
}

function toPrintedWrite({ createdAt, endedAt, problem, ...write }: OutboxWrite) {
  return {
    ...write,
    createdAt: toWriteTime(createdAt),
    endedAt: endedAt === null ? null : toWriteTime(endedAt),
    problem: problem && { ...problem, at: toWriteTime(problem.at) },
  }
}

function showOutbox(outbox: Outbox): string[] {
  if ('writes' in outbox) return showWrites(outbox.writes, outbox.total)
  const lines = outbox.id === null || outbox.state === undefined ? [] : [`${became[outbox.state]}: ${outbox.id}.`]
  if (!('delivered' in outbox)) return lines
  const { delivered, waiting, inConflict } = outbox
  const conflicts = inConflict === 0 ? '' : `, ${inConflict} in conflict`
  const why = waiting + inConflict === 0 ? '' : ' Run `mirror outbox list` to see why.'
  return [...lines, `${delivered} delivered, ${waiting} waiting${conflicts}.${why}`]
}

const became = {
  delivered: 'Delivered',
  dropped: 'Dropped',
  pending: 'Pending',
  conflict: 'In conflict',
} as const

function showWrites(writes: readonly ShownWrite[], total: number): string[] {
  if (writes.length === 0) return ['There are no writes to list.']
  const hasConflict = writes.some(({ state }) => state === 'conflict')
  return [
    ...writes.flatMap(toWriteLines),
    ...(total > writes.length ? [`And ${total - writes.length} more.`] : []),
    ...(hasConflict ? ['Resolve conflicts with: mirror outbox retry ID, drop ID, or rename ID NAME.'] : []),
  ]
}

function toWriteLines({
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
    `${id}  ${state}  ${kind} ${what} at ${upstream}${there}`,
    `  ${who}${createdAt}${toTries(attempts)}`,
    ...(problem ? [`  ${problem.code}, ${problem.at}: ${toOneLine(problem.message)}`] : []),
  ]
}

function toTries(attempts: number): string {
  if (attempts === 0) return ''
  return attempts === 1 ? ', tried once' : `, tried ${attempts} times`
}

function toWriteTime(at: number): string {
  return new Date(at).toISOString()
}

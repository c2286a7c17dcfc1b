import { enqueueDelivery, toWriteLane, upstreamWriteTopic, type UpstreamWriteJob } from '../queue/upstream-write.ts'
import type { WriteTransaction } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import pLimit, { type LimitFunction } from 'p-limit'
import { createBreaker, type Breaker } from '../breaker.ts'
import { getUpstream } from '../store/upstreams.ts'
import type { Upstream } from '../types.ts'
import { openAccount, openKey, type AccountParts, type OpenAccount } from './accounts.ts'
import { WriteConflict, toProblem } from './problems.ts'
import { beginWrite, endWrite, findNext, listSubjects, markProblem, sweepOpinions, type StoredWrite } from './rows.ts'
import { sendWrite } from './send.ts'

/** Brings what waits to its upstreams. */
export interface Delivery {
  /** Takes the outbox's jobs from now on, and looks after what lies there without one. */
  start(): Promise<void>
  /** The upstream answers again: what waits for its next attempt goes now. */
  wake(upstream: string): Promise<void>
  /** Brings everything that waits to the upstreams, or to one, now; what fails goes on waiting. */
  deliverAll(upstream?: string): Promise<void>
  /** Nothing more is begun; what is under way ends, since the way to the upstreams is closed. */
  stop(): Promise<void>
}

export interface DeliveryParts extends AccountParts {
  /** The API key that the mirror itself has for an upstream. */
  readCredential(upstream: Upstream): string | undefined
  readonly onError: (error: unknown) => void
}

const secondMs = 1000
const minuteMs = 60 * secondMs
/** Before the second attempt and each further one; after the last it begins anew. A sync that succeeds cuts it short. */
const retryDelaysMs = [5 * secondMs, 15 * secondMs, minuteMs, 2 * minuteMs, ...Array<number>(12).fill(5 * minuteMs)]
/** Skills of one upstream whose attempts are brought forward at once. */
const wokenMax = 1000
/** So many skills are written to an upstream at a time. */
const skillsMax = 4

/**
 * Delivers writes in their order, skill by skill: what fails for a while holds up its own skill alone, and what only
 * somebody can settle waits there for that. Every upstream has a breaker.
 */
export function createDelivery(parts: DeliveryParts): Delivery {
  const { context, onError } = parts
  const { database, outbox, clock } = context
  const running = new Map<string, Promise<void>>()
  const breakers = new Map<string, Breaker>()
  const turns = new Map<string, LimitFunction>()
  /** Upstreams that were away when they were last written to. */
  const away = new Set<string>()
  let isStopped = false

  /** One at a time in this process; two processes at once are told apart by the upstream, by the key of the request. */
  function deliver(job: UpstreamWriteJob): Promise<void> {
    const key = `${job.upstream} ${job.subject}`
    const work = (running.get(key) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => turnsOf(job.upstream)(() => deliverSkill(job)))
      .finally(() => {
        if (running.get(key) === work) running.delete(key)
      })
    running.set(key, work)
    return work
  }

  async function deliverSkill({ upstream: name, subject }: UpstreamWriteJob): Promise<void> {
    for (;;) {
      const write = await findNext(database.read, name, subject)
      if (write?.state !== 'pending') return
      if (isStopped) throw new RegistryError('shutting_down', 'The mirror is closing.')
      const upstream = await getUpstream(database.read, name)
      try {
        await breakerOf(name).run(() => attempt(upstream, write))
      } catch (error) {
        await keepProblem(write, error)
      }
    }
  }

  async function attempt(upstream: Upstream, found: StoredWrite): Promise<void> {
    const account = await findAccount(upstream, found)
    const write = await database.writer.write((trx) => beginWrite(trx, found))
    if (!write) return
    const told = await sendWrite({ context, upstream, http: parts.httpOf(upstream), write, account })
    const at = clock.now()
    await database.writer.write((trx) => endWrite(trx, write, { note: told && { ...told, at }, at }))
    if (away.delete(upstream.name)) await wake(upstream.name)
  }

  async function findAccount(upstream: Upstream, write: StoredWrite): Promise<OpenAccount | undefined> {
    const { by } = write.payload
    if (by === 'user') {
      const account = await openAccount(parts, upstream, write.user_id!)
      if (account) return account
      const message = `The account of this user at ${upstream.name} is no longer linked. Link it again and retry, or drop the write.`
      throw new WriteConflict('unlinked', message)
    }
    const key = openKey(() => parts.readCredential(upstream))
    if (key !== undefined) return { key, username: null }
    if (by === 'guest') return undefined
    const message = `The mirror has no API key for ${upstream.name} any more. Drop the write.`
    throw new WriteConflict('unlinked', message)
  }

  /** Throws what passes, for the outbox to try again later. */
  async function keepProblem(write: StoredWrite, error: unknown): Promise<void> {
    const { isPassing, ...problem } = toProblem(error, clock.now())
    if (problem.code === 'shutting_down' && isStopped) throw error
    await database.writer.write((trx) => markProblem(trx, write, problem, isPassing ? 'pending' : 'conflict'))
    if (!isPassing) return
    away.add(write.upstream)
    throw error
  }

  function breakerOf(name: string): Breaker {
    const breaker = breakers.get(name) ?? createBreaker({ name, clock })
    breakers.set(name, breaker)
    return breaker
  }

  function turnsOf(name: string): LimitFunction {
    const found = turns.get(name) ?? pLimit(skillsMax)
    turns.set(name, found)
    return found
  }

  /** What was written while the job came to its end has another one, and what failed too often in a row begins anew. */
  async function followUp(trx: WriteTransaction, job: UpstreamWriteJob, state: 'done' | 'failed'): Promise<void> {
    const next = await findNext(trx, job.upstream, job.subject)
    if (next?.state !== 'pending') return
    const upstream = await getUpstream(trx, job.upstream)
    const dueAt = state === 'done' ? undefined : clock.now() + retryDelaysMs.at(-1)!
    await enqueueDelivery(trx, context, { upstream, subject: job.subject, ...(dueAt !== undefined && { dueAt }) })
  }

  async function wake(name: string): Promise<void> {
    breakers.delete(name)
    const lane = toWriteLane(name)
    const jobs = await outbox.list(lane, wokenMax)
    const waiting = jobs.filter(({ state, dueAt }) => state === 'pending' && dueAt > clock.now())
    for (const { id } of waiting) await database.writer.write((trx) => outbox.retry(trx, lane, id))
  }

  async function enqueueLost(): Promise<void> {
    const subjects = await listSubjects(database.read)
    for (const { upstream: name, subject } of subjects) {
      await database.writer.write(async (trx) => {
        await enqueueDelivery(trx, context, { upstream: await getUpstream(trx, name), subject })
      })
    }
  }

  return {
    async start() {
      outbox.handle(upstreamWriteTopic, {
        retryDelaysMs,
        handle: (payload) => deliver(payload as unknown as UpstreamWriteJob),
        async afterwards(trx, ended) {
          for (const { payload, state } of ended) await followUp(trx, payload as unknown as UpstreamWriteJob, state)
        },
      })
      await sweepOpinions(context)
      await enqueueLost()
    },
    wake,
    async deliverAll(name) {
      const subjects = await listSubjects(database.read, name)
      for (const { upstream } of subjects) breakers.delete(upstream)
      await Promise.all(subjects.map((job) => deliver(job).catch((error: unknown) => tell(error, onError))))
    },
    async stop() {
      isStopped = true
      await Promise.allSettled(running.values())
    },
  }
}

/** What passes is kept with its write; the rest is nobody's fault but ours. */
function tell(error: unknown, onError: (error: unknown) => void): void {
  if (!(error instanceof RegistryError)) onError(error)
}

import {
  enqueueDelivery,
  toWritePartition,
  upstreamWriteTopic,
  type UpstreamWriteJob,
} from '../queue/upstream-write.ts'
import type { WriteTransaction } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import pLimit, { type LimitFunction } from 'p-limit'
import { createBreaker, type Breaker } from '../breaker.ts'
import { getUpstream } from '../store/upstreams.ts'
import type { Upstream } from '../types.ts'
import { openAccount, openKey, type AccountParts, type OpenAccount } from './accounts.ts'
import { WriteConflict, toProblem } from './problems.ts'
import {
  beginWrite,
  endWrite,
  findNext,
  listSubjects,
  markProblem,
  deleteOldOpinions,
  type StoredWrite,
} from './rows.ts'
import { sendWrite } from './send.ts'

/** Sends pending writes to their upstreams. */
export interface Delivery {
  /** Starts to handle the outbox's jobs, and schedules jobs for pending writes that have none. */
  start(): Promise<void>
  /** Called when the upstream responds again: retries its pending writes now. */
  wake(upstream: string): Promise<void>
  /** Sends all pending writes to one upstream, or to all, now. Failed writes stay pending. */
  deliverAll(upstream?: string): Promise<void>
  /** Starts no more writes, and waits for those in progress, whose requests the caller aborts. */
  stop(): Promise<void>
}

export interface DeliveryParts extends AccountParts {
  /** The mirror's own API key for an upstream. */
  readCredential(upstream: Upstream): string | undefined
  readonly onError: (error: unknown) => void
}

const secondMs = 1000
const minuteMs = 60 * secondMs
/**
 * Delays before each further attempt. After the last one they start again from the first. A successful sync skips the
 * delay.
 */
const retryDelaysMs = [5 * secondMs, 15 * secondMs, minuteMs, 2 * minuteMs, ...Array<number>(12).fill(5 * minuteMs)]
/** Maximum number of skills of one upstream that are retried when it responds again. */
const wokenMax = 1000
/** Maximum number of skills written to one upstream concurrently. */
const skillsMax = 4

/**
 * Sends the writes of each skill in order. A temporary failure blocks only its own skill, and a conflict blocks it
 * until a user or the operator resolves it. Each upstream has a circuit breaker.
 */
export function createDelivery(parts: DeliveryParts): Delivery {
  const { context, onError } = parts
  const { database, outbox, clock } = context
  const running = new Map<string, Promise<void>>()
  const breakers = new Map<string, Breaker>()
  const limits = new Map<string, LimitFunction>()
  /** Upstreams that were unavailable at their last write. */
  const unavailable = new Set<string>()
  let isStopped = false

  /**
   * Sends the writes of a skill, one job at a time in this process. If two processes send the same write, the upstream
   * recognizes it by the idempotency key.
   */
  function deliver(job: UpstreamWriteJob): Promise<void> {
    const key = `${job.upstream} ${job.subject}`
    const work = (running.get(key) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => limitOf(job.upstream)(() => deliverSkill(job)))
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
        await storeProblem(write, error)
      }
    }
  }

  async function attempt(upstream: Upstream, found: StoredWrite): Promise<void> {
    const account = await findAccount(upstream, found)
    const write = await database.writer.write((trx) => beginWrite(trx, found))
    if (!write) return
    const note = await sendWrite({ context, upstream, http: parts.httpOf(upstream), write, account })
    const at = clock.now()
    await database.writer.write((trx) => endWrite(trx, write, { note: note && { ...note, at }, at }))
    if (unavailable.delete(upstream.name)) await wake(upstream.name)
  }

  async function findAccount(upstream: Upstream, write: StoredWrite): Promise<OpenAccount | undefined> {
    const { by } = write.payload
    if (by === 'user') {
      const account = await openAccount(parts, upstream, write.user_id!)
      if (account) return account
      const message = `The account of this user at ${upstream.name} is no longer linked. Link it again and retry the write, or drop it.`
      throw new WriteConflict('unlinked', message)
    }
    const key = openKey(() => parts.readCredential(upstream))
    if (key !== undefined) return { key, username: null }
    if (by === 'guest') return undefined
    const message = `The mirror has no API key for ${upstream.name} any more. Drop the write.`
    throw new WriteConflict('unlinked', message)
  }

  /** Stores the problem with the write. Rethrows temporary errors, so that the outbox retries the job. */
  async function storeProblem(write: StoredWrite, error: unknown): Promise<void> {
    const { isTemporary, ...problem } = toProblem(error, clock.now())
    if (problem.code === 'shutting_down' && isStopped) throw error
    await database.writer.write((trx) => markProblem(trx, write, problem, isTemporary ? 'pending' : 'conflict'))
    if (!isTemporary) return
    unavailable.add(write.upstream)
    throw error
  }

  function breakerOf(name: string): Breaker {
    const breaker = breakers.get(name) ?? createBreaker({ name, clock })
    breakers.set(name, breaker)
    return breaker
  }

  function limitOf(name: string): LimitFunction {
    const found = limits.get(name) ?? pLimit(skillsMax)
    limits.set(name, found)
    return found
  }

  /** Schedules the next job if writes arrived while this job ran, or if this job failed after its last retry. */
  async function followUp(trx: WriteTransaction, job: UpstreamWriteJob, state: 'done' | 'failed'): Promise<void> {
    const next = await findNext(trx, job.upstream, job.subject)
    if (next?.state !== 'pending') return
    const upstream = await getUpstream(trx, job.upstream)
    const dueAt = state === 'done' ? undefined : clock.now() + retryDelaysMs.at(-1)!
    await enqueueDelivery(trx, context, { upstream, subject: job.subject, ...(dueAt !== undefined && { dueAt }) })
  }

  async function wake(name: string): Promise<void> {
    breakers.delete(name)
    const partition = toWritePartition(name)
    const jobs = await outbox.list(partition, wokenMax)
    const waiting = jobs.filter(({ state, dueAt }) => state === 'pending' && dueAt > clock.now())
    for (const { id } of waiting) await database.writer.write((trx) => outbox.retry(trx, partition, id))
  }

  async function enqueueMissing(): Promise<void> {
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
      await deleteOldOpinions(context)
      await enqueueMissing()
    },
    wake,
    async deliverAll(name) {
      const subjects = await listSubjects(database.read, name)
      for (const { upstream } of subjects) breakers.delete(upstream)
      await Promise.all(subjects.map((job) => deliver(job).catch((error: unknown) => reportBug(error, onError))))
    },
    async stop() {
      isStopped = true
      await Promise.allSettled(running.values())
    },
  }
}

/** Registry errors are stored with their write; others are bugs and go to the node's log. */
function reportBug(error: unknown, onError: (error: unknown) => void): void {
  if (!(error instanceof RegistryError)) onError(error)
}

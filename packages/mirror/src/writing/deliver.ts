import {
  enqueueDelivery,
  toWritePartition,
  upstreamWriteTopic,
  type UpstreamWriteJob,
} from '../queue/upstream-write.ts'
import type { WriteTransaction } from '@skillstead/core/internal'
import { RegistryError, isRegistryError } from '@skillstead/protocol'
import pLimit, { type LimitFunction } from 'p-limit'
import { createBreaker, type Breaker } from '../breaker.ts'
import { getUpstream } from '../store/upstreams.ts'
import type { Upstream } from '../types.ts'
import { openAccount, openKey, type AccountParts, type OpenAccount } from './accounts.ts'
import { WriteConflict, toStoredProblem } from './problems.ts'
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

export interface DeliveryParts extends AccountParts {
  /** The mirror's own API key for an upstream. */
  readCredential(upstream: Upstream): string | undefined
  readonly onError: (error: unknown) => void
}

const secondMs = 1000
const minuteMs = 60 * secondMs
/**
 * Delays before the retries of a job. After the last delay, they start again from the first. A successful sync ends the
 * current delay.
 */
const retryDelaysMs = [5 * secondMs, 15 * secondMs, minuteMs, 2 * minuteMs, ...Array<number>(12).fill(5 * minuteMs)]
/** Maximum number of skills whose writes to an upstream are retried at once when the upstream responds again. */
const wokenMax = 1000
/** Maximum number of skills whose writes are sent to one upstream concurrently. */
const skillsMax = 4

/** The state of an upstream to which this process writes. */
interface Destination {
  readonly breaker: Breaker
  readonly limit: LimitFunction
  /** Whether the last write to the upstream had a temporary failure. */
  isUnavailable: boolean
}

/**
 * Sends pending writes to their upstreams. The writes of each skill are sent in order. A temporary failure blocks only
 * its own skill, and a conflict blocks the skill until a user or the operator resolves it.
 */
export class Delivery {
  readonly #parts: DeliveryParts
  readonly #running = new Map<string, Promise<void>>()
  readonly #destinations = new Map<string, Destination>()
  #isStopped = false

  constructor(parts: DeliveryParts) {
    this.#parts = parts
  }

  /** Starts to handle the outbox's jobs, and schedules a job for each skill that has pending writes but no job. */
  async start(): Promise<void> {
    const { context } = this.#parts
    context.outbox.handle(upstreamWriteTopic, {
      retryDelaysMs,
      handle: (payload) => this.#deliver(payload),
      afterwards: async (trx, ended) => {
        for (const { payload, state } of ended) await this.#followUp(trx, payload, state)
      },
    })
    await deleteOldOpinions(context)
    for (const { upstream: name, subject } of await listSubjects(context.database.read)) {
      await context.database.writer.write(async (trx) => {
        await enqueueDelivery(trx, context, { upstream: await getUpstream(trx, name), subject })
      })
    }
  }

  /** Retries the pending writes to an upstream now. Called when the upstream responds again. */
  async wake(name: string): Promise<void> {
    const { outbox, database, clock } = this.#parts.context
    this.#destinations.get(name)?.breaker.reset()
    const partition = toWritePartition(name)
    const jobs = await outbox.list(partition, wokenMax)
    const waiting = jobs.filter(({ state, dueAt }) => state === 'pending' && dueAt > clock.now())
    for (const { id } of waiting) await database.writer.write((trx) => outbox.retry(trx, partition, id))
  }

  /** Sends all pending writes to one upstream, or to all, now. Writes that fail stay pending or are in conflict. */
  async deliverAll(name?: string): Promise<void> {
    const { context, onError } = this.#parts
    const subjects = await listSubjects(context.database.read, name)
    for (const { upstream } of subjects) this.#destinations.get(upstream)?.breaker.reset()
    // Registry errors are stored with their write; all other errors are bugs and go to the node's log.
    const report = (error: unknown) => void (isRegistryError(error) || onError(error))
    await Promise.all(subjects.map((job) => this.#deliver(job).catch(report)))
  }

  /** Starts no more writes, and waits for the writes in progress. The caller aborts their requests. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.allSettled(this.#running.values())
  }

  /**
   * Sends the writes of a skill. In this process, only one job of the skill runs at a time. If two processes send the
   * same write, the upstream recognizes it by the idempotency key.
   */
  #deliver(job: UpstreamWriteJob): Promise<void> {
    const key = `${job.upstream} ${job.subject}`
    const { limit } = this.#destinationOf(job.upstream)
    const work = (this.#running.get(key) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => limit(() => this.#deliverSkill(job)))
      .finally(() => {
        if (this.#running.get(key) === work) this.#running.delete(key)
      })
    this.#running.set(key, work)
    return work
  }

  async #deliverSkill({ upstream: name, subject }: UpstreamWriteJob): Promise<void> {
    const { read } = this.#parts.context.database
    for (;;) {
      const write = await findNext(read, name, subject)
      if (write?.state !== 'pending') return
      if (this.#isStopped) throw new RegistryError('shutting_down', 'The mirror is closing.')
      const upstream = await getUpstream(read, name)
      try {
        await this.#destinationOf(name).breaker.run(() => this.#attempt(upstream, write))
      } catch (error) {
        await this.#storeProblem(write, error)
      }
    }
  }

  async #attempt(upstream: Upstream, found: StoredWrite): Promise<void> {
    const { context, httpOf } = this.#parts
    const { writer } = context.database
    const account = await findAccount(this.#parts, upstream, found)
    const write = await writer.write((trx) => beginWrite(trx, found))
    if (!write) return
    const note = await sendWrite({ context, upstream, http: httpOf(upstream), write, account })
    const at = context.clock.now()
    await writer.write((trx) => endWrite(trx, write, { note: note && { ...note, at }, at }))
    const destination = this.#destinationOf(upstream.name)
    if (!destination.isUnavailable) return
    destination.isUnavailable = false
    await this.wake(upstream.name)
  }

  /** Stores why a write failed. Throws the error again if it is temporary, so that the outbox retries the job. */
  async #storeProblem(write: StoredWrite, error: unknown): Promise<void> {
    const { database, clock } = this.#parts.context
    const { isTemporary, ...problem } = toStoredProblem(error, clock.now())
    if (problem.code === 'shutting_down' && this.#isStopped) throw error
    await database.writer.write((trx) => markProblem(trx, write, problem, isTemporary ? 'pending' : 'conflict'))
    if (!isTemporary) return
    this.#destinationOf(write.upstream).isUnavailable = true
    throw error
  }

  #destinationOf(name: string): Destination {
    let destination = this.#destinations.get(name)
    if (!destination) {
      const breaker = createBreaker({ name, clock: this.#parts.context.clock })
      this.#destinations.set(name, (destination = { breaker, limit: pLimit(skillsMax), isUnavailable: false }))
    }
    return destination
  }

  /** Schedules the next job if writes arrived while this job ran, or if this job failed after its last retry. */
  async #followUp(trx: WriteTransaction, job: UpstreamWriteJob, state: 'done' | 'failed'): Promise<void> {
    const { context } = this.#parts
    const next = await findNext(trx, job.upstream, job.subject)
    if (next?.state !== 'pending') return
    const upstream = await getUpstream(trx, job.upstream)
    const dueAt = state === 'done' ? undefined : context.clock.now() + retryDelaysMs.at(-1)!
    await enqueueDelivery(trx, context, { upstream, subject: job.subject, ...(dueAt !== undefined && { dueAt }) })
  }
}

/**
 * The account that sends a write; undefined for a write that is sent without an account. Throws {@link WriteConflict}
 * if the account is no longer linked.
 */
async function findAccount(
  parts: DeliveryParts,
  upstream: Upstream,
  write: StoredWrite,
): Promise<OpenAccount | undefined> {
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

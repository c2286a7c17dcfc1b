import { toTimestamp, type Opinion } from '@skillstead/protocol'
import type { OutgoingOptions } from '../../http/outgoing.ts'
import { findMeta, putMeta } from '../../storage/meta.ts'
import { hasRow, addRow } from '../../storage/table-rows.ts'
import { parseJson } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import type { OpinionQuestion } from '../context/ports.ts'
import {
  createOpinionService,
  type OpinionAnswer,
  type OpinionService,
  type OpinionSource,
} from '../inspecting/opinion-service.ts'
import { type RefreshContext, refreshSkill } from './refresh-skill.ts'

/** A second opinion on versions that the scan leaves in doubt. */
export interface SecondOpinionOptions {
  readonly service: OpinionService | OpinionSource
  /** Milliseconds that a publish waits for an answer. Default: 5000. */
  readonly timeoutMs?: number
  /** Maximum questions a day (UTC) of all nodes on the database, at most a tenth by one user. Default: 1000. */
  readonly dailyMax?: number
  /** Versions with a score from `least` to `most` are asked about. Default: 40 to 94. */
  readonly scores?: { readonly least: number; readonly most: number }
}

const opinionTimeoutMsDefault = 5000
const dailyMaxDefault = 1000
const scoresDefault = { least: 40, most: 94 }
const opinionMetaKey = 'second-opinion'
/** The maximum share of one user in the questions of a day, so that no user consumes the budget of others. */
const userShare = 0.1
/** After this number of failures in a row, publishes do without the second opinion for `opinionPauseMs`. */
const opinionFailuresMax = 3
const opinionPauseMs = 60_000
/** Maximum number of skills that show a new opinion immediately; other skills show it after their next change. */
const opinionSkillsMax = 50

type OpinionContext = RefreshContext & Pick<CatalogueContext, 'clock' | 'closing'>

type Asked = OpinionQuestion & { readonly userId: string }

/**
 * Asks a service about each content once, within a time limit and a budget. An answer is stored for all versions with
 * the content.
 */
export class SecondOpinion {
  readonly counts = { answered: 0, cached: 0, late: 0, failed: 0, paused: 0, over_budget: 0 }
  readonly close: () => Promise<void>
  readonly #source: OpinionSource
  readonly #options: SecondOpinionOptions
  readonly #onError: (error: unknown) => void
  /** Running questions by digest. */
  readonly #asked = new Map<string, Promise<boolean>>()
  #failures = 0
  #pausedUntil = -Infinity

  constructor(options: SecondOpinionOptions, onError: (error: unknown) => void, outgoing?: OutgoingOptions) {
    const { service } = options
    const created =
      'ask' in service ? { source: service, close: async () => {} } : createOpinionService(service, outgoing)
    this.#options = options
    this.#onError = onError
    this.#source = created.source
    this.close = async () => {
      await created.close()
      await Promise.allSettled(this.#asked.values())
    }
  }

  /** Waits until an opinion on the version is stored, or until the time limit. Never throws. */
  async consult(context: OpinionContext, question: Asked): Promise<void> {
    const { least, most } = this.#options.scores ?? scoresDefault
    const { score } = question.security
    if (score < least || score > most) return
    const timer = Promise.withResolvers<'late'>()
    const timeout = setTimeout(() => timer.resolve('late'), this.#options.timeoutMs ?? opinionTimeoutMsDefault)
    const running = this.#asked.get(question.digest) ?? this.#start(context, question)
    const isLate = (await Promise.race([running, timer.promise])) === 'late'
    clearTimeout(timeout)
    if (!isLate) return
    this.counts.late++
    this.#noteFailure(context.clock.now(), new Error('The second opinion did not arrive in time.'))
  }

  #start(context: OpinionContext, question: Asked): Promise<boolean> {
    const { digest } = question
    const running = this.#ask(context, question)
      .catch((error: unknown) => {
        this.counts.failed++
        this.#noteFailure(context.clock.now(), error)
        return false
      })
      .finally(() => this.#asked.delete(digest))
    this.#asked.set(digest, running)
    return running
  }

  /** Asks the service unless an opinion is stored. Returns whether an opinion is stored afterwards. */
  async #ask(context: OpinionContext, question: Asked): Promise<boolean> {
    const { database, clock, closing } = context
    if (await hasRow(database.read, 'opinions', { digest: question.digest })) {
      this.counts.cached++
      return true
    }
    if (clock.now() < this.#pausedUntil) {
      this.counts.paused++
      return false
    }
    if (!(await database.writer.write((trx) => this.#spend(trx, question.userId, clock.now())))) {
      this.counts.over_budget++
      return false
    }
    const answer = await this.#source.ask(question, closing)
    await database.writer.write((trx) =>
      storeOpinion(context, trx, question.digest, this.#toOpinion(answer, clock.now())),
    )
    this.#failures = 0
    this.counts.answered++
    return true
  }

  #toOpinion({ verdict, reasons }: OpinionAnswer, at: number): Opinion {
    return { verdict, reasons: [...reasons], source: this.#source.name, at: toTimestamp(at) }
  }

  /** Counts a question. Returns whether the budget of the day and the user's share of the budget allow the question. */
  async #spend(trx: WriteTransaction, userId: string, at: number): Promise<boolean> {
    const dailyMax = this.#options.dailyMax ?? dailyMaxDefault
    const day = toTimestamp(at).slice(0, 10)
    const stored = await findMeta(trx, opinionMetaKey)
    const last = stored === undefined ? undefined : parseJson<Spending>(stored)
    const spent = last?.day === day ? last : { day, users: {} }
    const own = spent.users[userId] ?? 0
    const all = Object.values(spent.users).reduce((sum, count) => sum + count, 0)
    if (all >= dailyMax || own >= Math.ceil(dailyMax * userShare)) return false
    await putMeta(
      trx,
      opinionMetaKey,
      JSON.stringify({ day, users: { ...spent.users, [userId]: own + 1 } } satisfies Spending),
    )
    return true
  }

  #noteFailure(now: number, cause: unknown): void {
    if (now < this.#pausedUntil) return
    this.#failures++
    if (this.#failures < opinionFailuresMax) return
    this.#failures = 0
    this.#pausedUntil = now + opinionPauseMs
    this.#onError(
      new Error(`The second opinion failed ${opinionFailuresMax} times in a row and pauses for a minute.`, { cause }),
    )
  }
}

/** The questions of a day, by user. */
interface Spending {
  readonly day: string
  readonly users: Readonly<Record<string, number>>
}

/** Stores the first opinion on a content, and shows it with the skills whose latest version has the content. */
async function storeOpinion(context: OpinionContext, trx: WriteTransaction, digest: string, opinion: Opinion) {
  await addRow(trx, 'opinions', { digest, opinion: JSON.stringify(opinion) })
  const shown = await trx
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .selectAll('skills')
    .where('versions.digest', '=', digest)
    .whereRef('versions.version', '=', 'skills.latest_version')
    .limit(opinionSkillsMax)
    .execute()
  for (const before of shown) {
    const change = { skillId: before.id, before, cause: { type: 'judgement' }, at: context.clock.now() } as const
    await refreshSkill(context, trx, change)
  }
}

import { RegistryError, isRegistryError } from '@skillstead/protocol'
import * as v from 'valibot'
import type { KnownReleases, Refusal, SnapshotSource } from '../types.ts'
import { Failures, fetchJson } from './fetch-answer.ts'
import { readListPage, type ListPage, type ListedSkill } from './registry-page.ts'
import { readListedSkill, requestsASkill, toApiBase, type Reading, type RegistryAccess } from './registry-reader.ts'

export interface RegistrySourceOptions extends Pick<RegistryAccess, 'http'> {
  /** The registry's URL, with or without `/api/v1`. */
  readonly location: string
  /** The API key, used if guests may read nothing at the registry. */
  readonly apiKey?: string | undefined
  /** Whether to read only skills that guests may not read, and to import them as private. */
  readonly isPrivate?: boolean
  readonly now: () => number
  /** Whether to import a listed skill. Skills that are not wanted are not requested. */
  readonly wants: (listed: ListedSkill) => boolean
}

/** The progress through the registry's list. */
interface Cursor {
  /** The next page to read. */
  readonly page: number
  /** The newest publication time on the first page when the current pass through the list began. */
  readonly newest: number
  /** Whether the newest version of a skill was unreadable in this pass. The next pass then reads the whole list. */
  readonly missed: boolean
  /** The last pass that read all skills that it had to read. `at`: when a pass last read the whole list. */
  readonly complete: { readonly at: number; readonly newest: number; readonly etag?: string | undefined } | null
}

const Whole = v.pipe(v.number(), v.integer(), v.minValue(0))
const StoredCursor = v.object({
  page: v.pipe(Whole, v.minValue(1)),
  newest: Whole,
  missed: v.boolean(),
  complete: v.nullable(v.object({ at: Whole, newest: Whole, etag: v.optional(v.string()) })),
})

const start: Cursor = { page: 1, newest: 0, missed: false, complete: null }
const pageSize = 100
const pageBytesMax = 8 * 1024 * 1024
/** Interval at which the whole list is read, to find changes without a new version, such as a deprecation. */
const wholeEveryMs = 24 * 60 * 60_000
/** Number of skills that are requested concurrently, and number of skills that are stored together. */
const parallelMax = 4
const batchMax = 8
/** Maximum number of skills in a list. A longer list is an error, because it may be endless. */
const listedMax = 500_000

/**
 * Reads the list of skills, newest first, of a registry that has only the base API. Reads a skill if its version or
 * publication time is not stored yet. Deletes nothing, because the list does not show deletions.
 */
export function createRegistrySource(options: RegistrySourceOptions): SnapshotSource {
  const { http } = options
  const base = toApiBase(options.location)
  const { origin } = new URL(base)
  let apiKey = options.isPrivate ? options.apiKey : undefined

  async function readPage(page: number, etag: string | undefined): Promise<(ListPage & { etag?: string }) | undefined> {
    const url = new URL(`${base}/skills?page=${page}&limit=${pageSize}&sort=recent`)
    const askPage = () => fetchJson(http, { url, etag, apiKey, bytesMax: pageBytesMax })
    const answer = await askPage().catch((error: unknown) => {
      const isClosed = isRegistryError(error, 'unauthorized')
      if (!isClosed || apiKey !== undefined || options.apiKey === undefined) throw error
      apiKey = options.apiKey
      return askPage()
    })
    return answer && { ...readListPage(answer.value, origin), ...(answer.etag && { etag: answer.etag }) }
  }

  return {
    async *list(stored, known) {
      const cursor = readListCursor(stored)
      const { complete } = cursor
      const isBrief = complete !== null && options.now() - complete.at < wholeEveryMs && cursor.page === 1
      const pass = new Pass(cursor)
      const failures = new Failures()
      for (let number = cursor.page; ; number++) {
        const page = await readPage(number, isBrief && number === 1 ? complete.etag : undefined)
        if (!page) return
        if (number === 1) pass.begin(page)
        if (pass.isRepeated(page, origin)) {
          // Either the list repeats its pages, or it grew by a whole page during the pass.
          if (number < page.totalPages) pass.miss()
          break
        }
        const chosen = await chooseListed(page.skills, known, options, complete?.newest ?? -1)
        const access = { base, http, apiKey, failures, ...(options.isPrivate && { isPrivate: true }) }
        yield* readListedBatches(access, chosen, pass, { number, page })
        if (number >= page.totalPages) break
        // The page reaches the skills that the last complete pass has read.
        if (
          isBrief &&
          isOrdered(page.skills) &&
          chosen.changed.length === 0 &&
          (page.skills.at(-1)?.publishedAt ?? 0) < complete.newest
        )
          break
      }
      yield { releases: [], cursor: pass.end(options.now()) }
    },
    get requests() {
      return http.requests
    },
  }
}

/** One pass through the list, which several runs may share. */
class Pass {
  readonly #complete: Cursor['complete']
  readonly #seen = new Set<string>()
  #newest: number
  #missed: boolean
  #etag: string | undefined
  #changed = 0

  constructor({ newest, missed, complete }: Cursor) {
    this.#newest = newest
    this.#missed = missed
    this.#complete = complete
  }

  begin({ skills, etag }: ListPage & { etag?: string }): void {
    this.#newest = Math.max(0, ...skills.map(({ publishedAt }) => publishedAt))
    this.#etag = etag
    this.#missed = false
  }

  /** Whether all skills of a page were on earlier pages, which shows that the list repeats its pages. */
  isRepeated({ skills, refused }: ListPage, origin: string): boolean {
    const before = this.#seen.size
    for (const { fullName } of skills) this.#seen.add(fullName)
    for (const { subject } of refused) this.#seen.add(subject)
    if (this.#seen.size > listedMax) {
      throw new RegistryError(
        'upstream_failed',
        `${origin} lists more than ${listedMax} skills. Filter with --owner or --name.`,
      )
    }
    return this.#seen.size === before
  }

  addChanged(count: number): void {
    this.#changed += count
  }

  miss(): void {
    this.#missed = true
  }

  /** Estimates the skills left and the requests for them, if as many of them changed as of the skills before. */
  estimate(open: number, { number, page }: Place): { left: number; requests: number } {
    const later = Math.max(0, page.total - this.#seen.size)
    const share = this.#seen.size === 0 ? 1 : (this.#changed + open) / this.#seen.size
    const requests = open * requestsASkill + later * share * requestsASkill + Math.max(0, page.totalPages - number)
    return { left: open + later, requests: Math.ceil(requests) }
  }

  at(page: number): Cursor {
    return { page, newest: this.#newest, missed: this.#missed, complete: this.#complete }
  }

  end(now: number): Cursor {
    // If a version was missed, the next run reads the whole list.
    if (this.#missed) return { ...start, complete: null }
    return { ...start, complete: { at: this.#wholeAt(now), newest: this.#newest, etag: this.#etag } }
  }

  #wholeAt(now: number): number {
    const brief = this.#complete && now - this.#complete.at < wholeEveryMs
    return brief ? this.#complete!.at : now
  }
}

interface Place {
  readonly number: number
  readonly page: ListPage
}

interface Chosen {
  readonly changed: readonly ListedSkill[]
  readonly refused: readonly Refusal[]
  readonly unchanged: number
}

/** Selects the skills of a page that must be read. */
async function chooseListed(
  listed: readonly ListedSkill[],
  known: KnownReleases,
  { wants, isPrivate = false }: RegistrySourceOptions,
  seenUntil: number,
): Promise<Chosen> {
  const wanted = listed.filter(wants)
  const here = await known.find(wanted.map(({ fullName }) => fullName))
  const claimed = await known.findClaimed(
    wanted.filter(({ fullName }) => !here.has(fullName)).map(({ owner }) => owner),
  )
  const refusedBefore = await known.findRefused(
    wanted.flatMap((skill) => [skill.fullName, toListedVersionSubject(skill)]),
  )
  const changed: ListedSkill[] = []
  const refused: Refusal[] = []
  let unchanged = 0
  for (const skill of wanted) {
    const there = here.get(skill.fullName)
    const version = there?.versions.get(skill.version)
    const isRedated = version?.publishedAt !== skill.publishedAt && skill.publishedAt > seenUntil
    if (isPrivate && there && !there.isPrivate) unchanged += 1
    else if (!isPrivate && !there && claimed.has(skill.owner)) refused.push(toOwned(skill))
    else if (refusedBefore.has(skill.fullName) || refusedBefore.has(toListedVersionSubject(skill))) unchanged += 1
    else if (version && !isRedated && there?.deprecated === skill.deprecated && there.isPrivate === isPrivate)
      unchanged += 1
    else changed.push(skill)
  }
  return { changed, refused, unchanged }
}

/** Reads the selected skills in batches that are stored together. */
async function* readListedBatches(
  access: RegistryAccess,
  { changed, refused, unchanged }: Chosen,
  pass: Pass,
  place: Place,
) {
  const { http, apiKey } = access
  const secondsLeft = (open: number) => {
    const { left, requests } = pass.estimate(open, place)
    return { left, secondsLeft: http.estimateSeconds(requests, apiKey !== undefined) }
  }
  yield { releases: [], refused: [...place.page.refused, ...refused], unchanged, ...at(changed.length) }
  for (let i = 0; i < changed.length; i += batchMax) {
    const batch = changed.slice(i, i + batchMax)
    const readings = await readSome(access, batch)
    pass.addChanged(batch.length)
    if (readings.includes('moved')) pass.miss()
    const releases = readings.flatMap((one) => (typeof one === 'object' && 'release' in one ? [one.release] : []))
    const missing = readings.flatMap((one) => (typeof one === 'object' && 'refused' in one ? [one.refused] : []))
    yield { releases, refused: missing, ...at(changed.length - i - batch.length) }
  }

  function at(open: number) {
    // The cursor advances to the next page only when all skills of this page are read.
    return { cursor: pass.at(open === 0 ? place.number + 1 : place.number), estimate: secondsLeft(open) }
  }
}

async function readSome(access: RegistryAccess, batch: readonly ListedSkill[]): Promise<Reading[]> {
  const readings: Reading[] = []
  for (let i = 0; i < batch.length; i += parallelMax) {
    const part = batch.slice(i, i + parallelMax)
    readings.push(...(await Promise.all(part.map((listed) => readListedSkill(access, listed)))))
  }
  return readings
}

/** Parses the stored cursor. It may be invalid, because another version of this program may have stored it. */
function readListCursor(stored: unknown): Cursor {
  const parsed = v.safeParse(StoredCursor, stored)
  return parsed.success ? parsed.output : start
}

function isOrdered(skills: readonly ListedSkill[]): boolean {
  return skills.every(({ publishedAt }, i) => i === 0 || publishedAt <= skills[i - 1]!.publishedAt)
}

function toListedVersionSubject({ fullName, version }: ListedSkill): string {
  return `${fullName}@${version}`
}

function toOwned({ fullName, owner }: ListedSkill): Refusal {
  const detail = `The namespace ${owner} belongs to a user of this node.`
  return { subject: fullName, reason: 'owned_locally', detail }
}

import { createClient } from '@skillstead/client'
import { toContentDigest } from '@skillstead/client/verify'
import { bytesOf, skillMd, textOf } from '../support/answers.ts'
import { patientOptions, type Ask } from './ask.ts'
import type { Trouble } from './trouble.ts'

export interface AuthorParts {
  readonly username: string
  readonly apiKey: string
  readonly baseUrl: string
  readonly ask: Ask
  readonly trouble: Trouble
  readonly random: () => number
  /** Whether each of the user's versions has a large file, which goes to the bucket. */
  readonly hasLargeFiles: boolean
}

/** The expected state of a version, as its author recorded it. */
export interface KnownVersion {
  readonly version: string
  readonly digest: string
  readonly text: string
  /** A word that occurs in no other version. */
  readonly word: string
  readonly largeFile: Buffer | undefined
  isYanked: boolean
}

export interface KnownSkill {
  readonly name: string
  readonly fullName: string
  readonly versions: KnownVersion[]
  isDeleted: boolean
}

/** The number of skills that an author has at a time, and the most versions per skill. */
const skillsAtOnce = 4
const versionsMax = 60
const largePath = 'large.bin'
const largeBytes = 20_000

/**
 * A user who publishes, yanks and deletes skills, one action at a time, and records the expected state. After an
 * unanswered write the author reads the state: the write must be applied in full or not at all.
 */
export function createAuthor({ username, apiKey, baseUrl, ask, trouble, random, hasLargeFiles }: AuthorParts) {
  const api = createClient({ baseUrl, apiKey, ...patientOptions, counts: false })
  const skills: KnownSkill[] = []
  const counts = {
    published: 0,
    yanked: 0,
    deleted: 0,
    refused: 0,
    unanswered: 0,
    foundAfterwards: 0,
    reads: 0,
    largeFiles: 0,
  }
  let made = 0

  const listExisting = () => skills.filter(({ isDeleted }) => !isDeleted)
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]

  async function publish(): Promise<void> {
    const skill = chooseSkill()
    made += 1
    const version = `1.${made}.0`
    const word = `${username.replaceAll('-', '')}word${made}`
    const body = `# ${skill.name}\n\n${toFiller(random)}\n`
    const text = skillMd(skill.name, { version, description: `Contains only ${word}.`, body })
    const largeFile = hasLargeFiles ? toLargeFile(random) : undefined
    const files = largeFile ? [{ path: largePath, bytes: largeFile }] : []
    const digest = toContentDigest([{ path: 'SKILL.md', bytes: Buffer.from(text) }, ...files])
    const known = { version, digest, text, word, largeFile, isYanked: false }
    const what = `publishing ${skill.fullName}@${version}`
    const outcome = await ask.write(what, () => api.publishSkill({ skillMd: text, files: files.map(toFileInput) }))
    if (outcome.kind === 'done') {
      if (outcome.value.version.digest !== digest) trouble.report(`${what}: the response has the wrong digest`)
      return record(skill, known)
    }
    counts[outcome.kind] += 1
    const found = await findVersion(skill, version)
    if (found === undefined) return
    if (outcome.kind === 'refused') trouble.report(`${what}: refused, but stored`)
    counts.foundAfterwards += 1
    record(skill, known)
    await checkVersion(skill, known)
  }

  /** Picks an existing skill or names a new one. */
  function chooseSkill(): KnownSkill {
    const open = listExisting().filter(({ versions }) => versions.length < versionsMax)
    if (open.length >= skillsAtOnce) return pick(open)!
    const name = `skill-${skills.length}-${made}`
    return { name, fullName: `${username}/${name}`, versions: [], isDeleted: false }
  }

  function record(skill: KnownSkill, version: KnownVersion): void {
    if (!skills.includes(skill)) skills.push(skill)
    skill.versions.push(version)
    counts.published += 1
  }

  async function yank(): Promise<void> {
    const skill = pick(listExisting())
    const version = pick(skill?.versions ?? [])
    if (!skill || !version) return
    const wanted = !version.isYanked
    const input = { name: skill.fullName, version: version.version }
    const what = `${wanted ? 'yanking' : 'unyanking'} ${skill.fullName}@${version.version}`
    const outcome = await ask.write(what, () => (wanted ? api.yankVersion(input) : api.unyankVersion(input)))
    const isDone = await resolveOutcome(
      what,
      outcome.kind,
      async () => (await findVersion(skill, version.version))?.yanked === wanted,
    )
    if (!isDone) return
    version.isYanked = wanted
    counts.yanked += 1
  }

  async function withdraw(): Promise<void> {
    const skill = pick(listExisting())
    if (!skill) return
    const what = `deleting ${skill.fullName}`
    const outcome = await ask.write(what, () => api.deleteSkill({ name: skill.fullName }))
    const isDone = await resolveOutcome(what, outcome.kind, async () => (await findSkill(skill)) === undefined)
    if (!isDone) return
    skill.isDeleted = true
    counts.deleted += 1
  }

  /** Returns whether the write was done: by its response or, without one, by reading the state. */
  async function resolveOutcome(
    what: string,
    kind: 'done' | 'refused' | 'unanswered',
    readState: () => Promise<boolean>,
  ) {
    if (kind === 'done') return true
    counts[kind] += 1
    const isDone = await readState()
    if (isDone && kind === 'refused') trouble.report(`${what}: refused, but done`)
    if (isDone) counts.foundAfterwards += 1
    return isDone
  }

  const findSkill = ({ fullName }: KnownSkill) =>
    ask.find(`reading ${fullName}`, () => api.getSkill({ name: fullName }))
  const findVersion = ({ fullName }: KnownSkill, version: string) =>
    ask.find(`reading ${fullName}@${version}`, () => api.getVersion({ name: fullName, version }))

  /** Checks that an acknowledged version exists with its digest, yank state and bytes. */
  async function checkVersion(skill: KnownSkill, known: KnownVersion): Promise<void> {
    const what = `${skill.fullName}@${known.version}`
    counts.reads += 1
    const found = await findVersion(skill, known.version)
    if (skill.isDeleted) return found && trouble.report(`${what} was deleted, but still exists`)
    if (!found) return trouble.report(`${what} was acknowledged, but does not exist`)
    if (found.digest !== known.digest) trouble.report(`${what} has the digest ${found.digest}, not ${known.digest}`)
    if (found.yanked !== known.isYanked) trouble.report(`${what} is ${found.yanked ? '' : 'not '}yanked`)
    const input = { name: skill.fullName, version: known.version }
    const text = await ask.read(`reading the text of ${what}`, async () => textOf(await api.getSkillMd(input)))
    if (text !== known.text) trouble.report(`${what} has different bytes than the published ones`)
    const { largeFile } = known
    if (!largeFile) return
    const readFile = async () => bytesOf(await api.getFile({ ...input, path: largePath }))
    const bytes = await ask.read(`reading the large file of ${what}`, readFile, 'files')
    if (!bytes.equals(largeFile)) trouble.report(`the large file of ${what} has other bytes`)
    counts.largeFiles += 1
  }

  /** Checks that the skill has the expected versions and latest version. */
  async function checkSkill(skill: KnownSkill): Promise<void> {
    counts.reads += 1
    const found = await findSkill(skill)
    if (skill.isDeleted) return found && trouble.report(`${skill.fullName} was deleted, but still exists`)
    if (!found) return trouble.report(`${skill.fullName} does not exist`)
    const there = found.versions.map(({ version, digest, yanked }) => `${version} ${digest} ${yanked}`)
    const known = skill.versions.map(({ version, digest, isYanked }) => `${version} ${digest} ${isYanked}`)
    compareLists(`the versions of ${skill.fullName}`, there, known)
    const latest = skill.versions.findLast(({ isYanked }) => !isYanked)
    if (latest && found.latestVersion !== latest.version)
      trouble.report(`${skill.fullName} has the latest version ${found.latestVersion}, not ${latest.version}`)
  }

  /** Checks that a search for the newest version's word finds the skill if, and only if, it is listed. */
  async function checkSearch(skill: KnownSkill): Promise<void> {
    counts.reads += 1
    const latest = skill.versions.findLast(({ isYanked }) => !isYanked)
    const word = latest?.word ?? skill.versions[0]!.word
    const { skills: found } = await ask.read(`searching ${word}`, () => api.searchSkills({ q: word }))
    const isFound = found.some(({ fullName }) => fullName === skill.fullName)
    const isThere = !skill.isDeleted && latest !== undefined
    if (isFound !== isThere) trouble.report(`a search ${isFound ? 'finds' : 'does not find'} ${skill.fullName}`)
  }

  /** Checks that the pages of the list do not overlap and are complete. */
  async function checkList(): Promise<void> {
    const there: string[] = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const answer = await ask.read('listing', () =>
        api.searchSkills({ owner: username, sort: 'recent', page, limit: 3 }),
      )
      there.push(...answer.skills.map(({ fullName }) => fullName))
      pages = answer.totalPages
    }
    const known = listExisting().filter(({ versions }) => versions.some(({ isYanked }) => !isYanked))
    compareLists(
      `the list of ${username}`,
      there,
      known.map(({ fullName }) => fullName),
    )
  }

  function compareLists(what: string, there: string[], known: string[]): void {
    const [found, wanted] = [there.toSorted().join(', '), known.toSorted().join(', ')]
    if (found !== wanted) trouble.report(`${what}: found ${found || 'nothing'}, expected ${wanted || 'nothing'}`)
  }

  const actions = [
    [0.5, publish],
    [0.6, yank],
    [0.64, withdraw],
    [
      0.8,
      async () =>
        each(pick(skills), async (skill) => each(pick(skill.versions), (known) => checkVersion(skill, known))),
    ],
    [0.9, async () => each(pick(skills), checkSkill)],
    [1, async () => each(pick(skills), checkSearch)],
  ] as const

  return {
    username,
    skills,
    counts,
    act: async () => {
      const chance = random()
      await actions.find(([below]) => chance < below)![1]()
    },
    /** Checks all skills and versions, or only the most recent ones. */
    async inspect(isWhole: boolean): Promise<void> {
      const chosen = isWhole ? skills : skills.slice(-2 * skillsAtOnce)
      for (const skill of chosen) {
        await checkSkill(skill)
        await checkSearch(skill)
        for (const known of isWhole ? skill.versions : skill.versions.slice(-2)) await checkVersion(skill, known)
      }
      await checkList()
    },
  }
}

export type Author = ReturnType<typeof createAuthor>

async function each<T>(one: T | undefined, act: (one: T) => Promise<unknown>): Promise<void> {
  if (one !== undefined) await act(one)
}

/** Returns enough words that a version fills several database pages. */
function toFiller(random: () => number): string {
  return Array.from({ length: 20 + Math.floor(random() * 400) }, () => `w${Math.floor(random() * 1e6)}`).join(' ')
}

function toLargeFile(random: () => number): Buffer {
  return Buffer.from(Array.from({ length: largeBytes }, () => Math.floor(random() * 256)))
}

function toFileInput({ path, bytes }: { path: string; bytes: Buffer }) {
  return { path, content: bytes.toString('base64'), encoding: 'base64' as const }
}

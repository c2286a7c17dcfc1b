import { createClient } from '@skillstead/client'
import { toContentDigest } from '@skillstead/client/verify'
import { skillMd, textOf } from '../support/answers.ts'
import { patient, type Ask } from './ask.ts'
import type { Trouble } from './trouble.ts'

export interface AuthorParts {
  readonly username: string
  readonly apiKey: string
  readonly baseUrl: string
  readonly ask: Ask
  readonly trouble: Trouble
  readonly random: () => number
}

/** A version as its author knows it. */
export interface KnownVersion {
  readonly version: string
  readonly digest: string
  readonly text: string
  /** A word that no other skill has. */
  readonly word: string
  isYanked: boolean
}

export interface KnownSkill {
  readonly name: string
  readonly fullName: string
  readonly versions: KnownVersion[]
  isDeleted: boolean
}

/** So many skills of an author are there at once, and a skill has so many versions at most. */
const skillsAtOnce = 4
const versionsMax = 60

/**
 * One who publishes, yanks and deletes, does one thing after the other and keeps in mind what must be there. What was
 * not answered he looks up, and it must be there whole or not at all.
 */
export function createAuthor({ username, apiKey, baseUrl, ask, trouble, random }: AuthorParts) {
  const api = createClient({ baseUrl, apiKey, ...patient, counts: false })
  const skills: KnownSkill[] = []
  const counts = { published: 0, yanked: 0, deleted: 0, refused: 0, unanswered: 0, foundAfterwards: 0, reads: 0 }
  let made = 0

  const living = () => skills.filter(({ isDeleted }) => !isDeleted)
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]

  async function publish(): Promise<void> {
    const skill = chooseSkill()
    made += 1
    const version = `1.${made}.0`
    const word = `${username.replaceAll('-', '')}word${made}`
    const body = `# ${skill.name}\n\n${toFiller(random)}\n`
    const text = skillMd(skill.name, { version, description: `Says ${word} and no more.`, body })
    const digest = toContentDigest([{ path: 'SKILL.md', bytes: Buffer.from(text) }])
    const known = { version, digest, text, word, isYanked: false }
    const what = `publishing ${skill.fullName}@${version}`
    const outcome = await ask.write(what, () => api.publishSkill({ skillMd: text }))
    if (outcome.kind === 'done') {
      if (outcome.value.version.digest !== digest) trouble.tell(`${what}: answered with the digest of something else`)
      return keep(skill, known)
    }
    counts[outcome.kind] += 1
    const found = await findVersion(skill, version)
    if (found === undefined) return
    if (outcome.kind === 'refused') trouble.tell(`${what}: refused, and there all the same`)
    counts.foundAfterwards += 1
    keep(skill, known)
    await checkVersion(skill, known)
  }

  /** One that is there, or a new one. */
  function chooseSkill(): KnownSkill {
    const open = living().filter(({ versions }) => versions.length < versionsMax)
    if (open.length >= skillsAtOnce) return pick(open)!
    const name = `skill-${skills.length}-${made}`
    return { name, fullName: `${username}/${name}`, versions: [], isDeleted: false }
  }

  function keep(skill: KnownSkill, version: KnownVersion): void {
    if (!skills.includes(skill)) skills.push(skill)
    skill.versions.push(version)
    counts.published += 1
  }

  async function yank(): Promise<void> {
    const skill = pick(living())
    const version = pick(skill?.versions ?? [])
    if (!skill || !version) return
    const wanted = !version.isYanked
    const input = { name: skill.fullName, version: version.version }
    const what = `${wanted ? 'yanking' : 'taking back'} ${skill.fullName}@${version.version}`
    const outcome = await ask.write(what, () => (wanted ? api.yankVersion(input) : api.unyankVersion(input)))
    const isDone = await settle(
      what,
      outcome.kind,
      async () => (await findVersion(skill, version.version))?.yanked === wanted,
    )
    if (!isDone) return
    version.isYanked = wanted
    counts.yanked += 1
  }

  async function withdraw(): Promise<void> {
    const skill = pick(living())
    if (!skill) return
    const what = `deleting ${skill.fullName}`
    const outcome = await ask.write(what, () => api.deleteSkill({ name: skill.fullName }))
    const isDone = await settle(what, outcome.kind, async () => (await findSkill(skill)) === undefined)
    if (!isDone) return
    skill.isDeleted = true
    counts.deleted += 1
  }

  /** Whether it happened: as was answered, or else as is seen. */
  async function settle(what: string, kind: 'done' | 'refused' | 'unanswered', look: () => Promise<boolean>) {
    if (kind === 'done') return true
    counts[kind] += 1
    const isDone = await look()
    if (isDone && kind === 'refused') trouble.tell(`${what}: refused, and done all the same`)
    if (isDone) counts.foundAfterwards += 1
    return isDone
  }

  const findSkill = ({ fullName }: KnownSkill) =>
    ask.find(`reading ${fullName}`, () => api.getSkill({ name: fullName }))
  const findVersion = ({ fullName }: KnownSkill, version: string) =>
    ask.find(`reading ${fullName}@${version}`, () => api.getVersion({ name: fullName, version }))

  /** A version that was answered is there, with its bytes. */
  async function checkVersion(skill: KnownSkill, known: KnownVersion): Promise<void> {
    const what = `${skill.fullName}@${known.version}`
    counts.reads += 1
    const found = await findVersion(skill, known.version)
    if (skill.isDeleted) return found && trouble.tell(`${what} is deleted, and is there`)
    if (!found) return trouble.tell(`${what} was answered, and is not there`)
    if (found.digest !== known.digest) trouble.tell(`${what} has the digest ${found.digest}, not ${known.digest}`)
    if (found.yanked !== known.isYanked) trouble.tell(`${what} is ${found.yanked ? '' : 'not '}yanked`)
    const input = { name: skill.fullName, version: known.version }
    const text = await ask.read(`reading the text of ${what}`, async () => textOf(await api.getSkillMd(input)))
    if (text !== known.text) trouble.tell(`${what} has other bytes than were published`)
  }

  /** The page of a skill says what its author knows. */
  async function checkSkill(skill: KnownSkill): Promise<void> {
    counts.reads += 1
    const found = await findSkill(skill)
    if (skill.isDeleted) return found && trouble.tell(`${skill.fullName} is deleted, and is there`)
    if (!found) return trouble.tell(`${skill.fullName} is not there`)
    const there = found.versions.map(({ version, digest, yanked }) => `${version} ${digest} ${yanked}`)
    const known = skill.versions.map(({ version, digest, isYanked }) => `${version} ${digest} ${isYanked}`)
    compareLists(`the versions of ${skill.fullName}`, there, known)
    const latest = skill.versions.findLast(({ isYanked }) => !isYanked)
    if (latest && found.latestVersion !== latest.version)
      trouble.tell(`${skill.fullName} has the latest version ${found.latestVersion}, not ${latest.version}`)
  }

  /** The newest version's own word finds it, as long as it is there to be found. */
  async function checkSearch(skill: KnownSkill): Promise<void> {
    counts.reads += 1
    const latest = skill.versions.findLast(({ isYanked }) => !isYanked)
    const word = latest?.word ?? skill.versions[0]!.word
    const { skills: found } = await ask.read(`searching ${word}`, () => api.searchSkills({ q: word }))
    const isFound = found.some(({ fullName }) => fullName === skill.fullName)
    const isThere = !skill.isDeleted && latest !== undefined
    if (isFound !== isThere) trouble.tell(`a search ${isFound ? 'finds' : 'does not find'} ${skill.fullName}`)
  }

  /** The pages of a list overlap nowhere and leave nothing out. */
  async function checkList(): Promise<void> {
    const there: string[] = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const answer = await ask.read('listing', () =>
        api.searchSkills({ owner: username, sort: 'recent', page, limit: 3 }),
      )
      there.push(...answer.skills.map(({ fullName }) => fullName))
      pages = answer.totalPages
    }
    const known = living().filter(({ versions }) => versions.some(({ isYanked }) => !isYanked))
    compareLists(
      `the list of ${username}`,
      there,
      known.map(({ fullName }) => fullName),
    )
  }

  function compareLists(what: string, there: string[], known: string[]): void {
    const [found, wanted] = [there.toSorted().join(', '), known.toSorted().join(', ')]
    if (found !== wanted)
      trouble.tell(`${what}: there is ${found || 'nothing'}, and there should be ${wanted || 'nothing'}`)
  }

  const acts = [
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
      await acts.find(([below]) => chance < below)![1]()
    },
    /** Looks at everything, or at a few things of each kind. */
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

/** Words enough that a version takes some pages of its own. */
function toFiller(random: () => number): string {
  return Array.from({ length: 20 + Math.floor(random() * 400) }, () => `w${Math.floor(random() * 1e6)}`).join(' ')
}

import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { normal, pick, seededRandom, type Random } from '../support/random.ts'

/** An invented skill, in the form of a line that `skillstead import` takes. */
export interface SyntheticSkill {
  readonly id: string
  readonly repo: string
  readonly path: string
  readonly name: string
  readonly license: string
  readonly skillMd: string
  readonly files: readonly []
}

/** A search for a skill by what it says, also with one letter wrong. */
export interface SyntheticQuery {
  readonly query: string
  readonly typoQuery: string
  readonly answer: { readonly id: string }
}

/** What 21,047 skills in the wild have: 5.7 kB at the median, 40 kB at the 99th percentile. */
const medianBytes = 5700
const spread = 0.84
const bytesMax = 200_000
const skillsEach = 5
const topicWords = 10
/** Names of products and of things in programs, which no dictionary has: so many, and so often. */
const inventedWords = 40_000
const inventedShare = 0.12
const topicShare = 0.4
const syllables = 'ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu bra cle dri flo gra pli sto tru kno sha'
  .split(' ')
  .toSorted()

/**
 * So many skills, the same in every run: words of this repository's documentation as often as they stand there, in runs
 * of two or three, words that are invented, and a subject of ten words that come back all over a skill.
 */
export function* makeSkills(count: number, seed = 1): Generator<SyntheticSkill> {
  const writer = createWriter(seededRandom(seed))
  const taken = new Set<string>()
  for (let i = 0; i < count; i++) {
    const skill = writer.writeSkill()
    const name = taken.has(skill.name) ? `${skill.name}-${i}` : skill.name
    taken.add(name)
    const repo = `author-${Math.floor(i / skillsEach)}/skills`
    const path = `skills/${name}/SKILL.md`
    const skillMd = `---\nname: ${name}\ndescription: ${skill.description}\nlicense: MIT\n---\n\n${skill.body}`
    yield { id: `${repo}//skills/${name}`, repo, path, name, license: 'MIT', skillMd, files: [] }
  }
}

/** Two to four neighbouring words of a skill's description. */
export function toQuery({ id, skillMd }: SyntheticSkill, random: Random): SyntheticQuery {
  const words = /^description: (.*)$/m
    .exec(skillMd)![1]!
    .toLowerCase()
    .match(/[a-z]{4,}/g)!
  const length = 2 + Math.floor(random() * 3)
  const start = Math.floor(random() * Math.max(1, words.length - length))
  const chosen = words.slice(start, start + length)
  const wrong = Math.floor(random() * chosen.length)
  const misspelt = chosen.map((word, i) => (i === wrong ? dropLetter(word, random) : word))
  return { query: chosen.join(' '), typoQuery: misspelt.join(' '), answer: { id } }
}

/** A text with so much of its words changed into others of the vocabulary. */
export function rewrite(text: string, share: number, random: Random): string {
  const { words } = vocabulary()
  return text.replace(/\b[a-z]{3,}\b/g, (word) => (random() < share ? pick(random, words) : word))
}

function dropLetter(word: string, random: Random): string {
  const at = 1 + Math.floor(random() * (word.length - 2))
  return word.slice(0, at) + word.slice(at + 1)
}

function createWriter(random: Random) {
  const { words, distinct, invented } = vocabulary()

  function writeSkill() {
    const subject = Array.from({ length: topicWords }, () => (random() < 0.6 ? inventWord() : pick(random, distinct)))
    const sentence = () => writeSentence(subject)
    const description = Array.from({ length: 1 + Math.floor(random() * 3) }, sentence).join(' ')
    const bytes = Math.min(bytesMax, medianBytes * Math.exp(spread * normal(random)))
    const parts = [`# ${capital(subject.slice(0, 3).join(' '))}`, sentence()]
    for (let length = description.length; length < bytes; length += parts.at(-1)!.length + 2)
      parts.push(writeBlock(subject))
    return { name: `${subject[0]}-${subject[1]}`, description, body: `${parts.join('\n\n')}\n` }
  }

  function writeBlock(subject: readonly string[]): string {
    const dice = random()
    if (dice < 0.18) return `## ${capital(`${pick(random, subject)} ${phrase()}`)}`
    if (dice < 0.4) return Array.from({ length: 4 }, () => `- ${writeSentence(subject)}`).join('\n')
    if (dice < 0.5)
      return `\`\`\`\n${pick(random, subject)}(${pick(random, words)}, ${Math.floor(random() * 100)})\n\`\`\``
    return Array.from({ length: 4 }, () => writeSentence(subject)).join(' ')
  }

  function writeSentence(subject: readonly string[]): string {
    const length = 5 + Math.floor(random() * 8)
    const said: string[] = []
    while (said.length < length) {
      const dice = random()
      if (dice < topicShare) said.push(pick(random, subject))
      else if (dice < topicShare + inventedShare) said.push(inventWord())
      else said.push(phrase())
    }
    return `${capital(said.join(' '))}.`
  }

  /** Two or three words that stand together somewhere: fewer than are looked at where copies are looked for. */
  function phrase(): string {
    const start = Math.floor(random() * (words.length - 3))
    return words.slice(start, start + 2 + Math.floor(random() * 2)).join(' ')
  }

  /** A few of them often and most of them hardly ever. */
  function inventWord(): string {
    return invented[Math.floor(invented.length * random() ** 3)]!
  }

  return { writeSkill }
}

interface Vocabulary {
  /** As they follow one another. */
  readonly words: readonly string[]
  readonly distinct: readonly string[]
  readonly invented: readonly string[]
}

let kept: Vocabulary | undefined

function vocabulary(): Vocabulary {
  if (kept) return kept
  const words = readWords()
  kept = { words, distinct: [...new Set(words)], invented: inventWords(seededRandom(7)) }
  return kept
}

function readWords(): string[] {
  const docs = fileURLToPath(new URL('../../docs/', import.meta.url))
  const pages = readdirSync(docs).filter((file) => file.endsWith('.md'))
  return pages.toSorted().flatMap(
    (file) =>
      readFileSync(docs + file, 'utf8')
        .toLowerCase()
        .match(/\b[a-z]{2,14}\b/g) ?? [],
  )
}

function inventWords(random: Random): string[] {
  const made = new Set<string>()
  while (made.size < inventedWords) {
    made.add(Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(random, syllables)).join(''))
  }
  return [...made]
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

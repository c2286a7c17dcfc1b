import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { localApi, type Registry, type RegistryOptions, systemCaller } from '@skillstead/core'
import { type ImportedVersion, importVersions, partsOf } from '@skillstead/core/internal'
import { parseSkillMd } from '@skillstead/skill-format'
import { measureSimilarity } from '../../packages/core/src/catalogue/sketches/similarity.ts'
import { fromRows, type Figure } from './figures.ts'
import { openRegistry } from '../support/open-registry.ts'

const copySimilarity = 0.4
/** As many as an answer holds. */
const matchesMax = 20
/** What is shorter says little, and what is translated is no copy of words. */
const bodyCharactersMin = 200
const leftOut = 'translated-en-zh'
const importedAtOnce = 64

interface Pair {
  readonly type: string
  readonly a: { readonly skillMd: string }
  readonly b: { readonly skillMd: string }
}

/** How the pairs of a type fared. */
interface Outcome {
  pairs: number
  /** By the measure itself, every word read. */
  measured: number
  /** Asked for the one the other is shown at 0.4 or more. */
  fromA: number
  fromB: number
  /** It is not, for as many as an answer holds are at least as similar. */
  crowdedOut: number
  /** Publishing the second as another user warns, of the first or of one in the corpus. */
  warned: number
}

/** Finds the labelled pairs in a registry that also has the whole corpus, and prints recall and precision. */
export async function benchPairs(title: string, location: RegistryOptions, corpusDir: string): Promise<Figure[]> {
  const registry = await openRegistry({ ...location, works: false, memorySkillsMax: 0 })
  const pairs = readLines<Pair>(join(corpusDir, 'copies-open.ndjson.gz')).filter(isCounted)
  const corpus = readLines<{ skillMd: string }>(join(corpusDir, 'open.ndjson.gz'))
  const others = corpus.length - (await importAll(registry, corpus, 'c'))
  await importAll(
    registry,
    pairs.map(({ a }) => a),
    'a',
  )
  const warned = await publishAgain(registry, pairs)
  await importAll(
    registry,
    pairs.map(({ b }) => b),
    'b',
  )
  const outcomes = await tryPairs(registry, pairs, warned)
  console.log(`\nCopies: ${pairs.length} labelled pairs among ${others} skills on ${title}`)
  console.table(outcomes)
  const summary = summarise(outcomes)
  console.table(summary)
  await registry.close()
  const part = `Copies, ${pairs.length} labelled pairs among ${others} skills, ${title}`
  return fromRows(part, summary, { column: 'recall', unit: '' })
}

/** Lines of JSON in a compressed file. */
export function readLines<T>(path: string): T[] {
  const lines = gunzipSync(readFileSync(path)).toString().trim().split('\n')
  return lines.map((line) => JSON.parse(line) as T)
}

/**
 * Publishes texts as skills `<prefix><i>/<prefix><i>`, each of another owner. Returns how many are refused because they
 * are no skills: a corpus of repositories has files that only name another file.
 */
export async function importAll(registry: Registry, items: readonly { skillMd: string }[], prefix: string) {
  let refused = 0
  for (let i = 0; i < items.length; i += importedAtOnce) {
    const some = items.slice(i, i + importedAtOnce).map(({ skillMd }, k): ImportedVersion => {
      const name = `${prefix}${i + k}`
      return { owner: name, name, skillMd }
    })
    for (const { error } of await importVersions(partsOf(registry), some, systemCaller)) {
      if (error && error.code !== 'invalid_skill') throw error
      if (error) refused += 1
    }
  }
  return refused
}

function isCounted({ type, a, b }: Pair): boolean {
  return type !== leftOut && [a, b].every(({ skillMd }) => bodyOf(skillMd).trim().length >= bodyCharactersMin)
}

function bodyOf(skillMd: string): string {
  return parseSkillMd(skillMd).body
}

/** Whether another user who publishes the second text of each pair, before it is there, is warned of any skill. */
async function publishAgain(registry: Registry, pairs: readonly Pair[]): Promise<boolean[]> {
  await localApi(registry, systemCaller).createUser({ username: 'someone' })
  const someone = localApi(registry, await registry.getCaller('someone'))
  const warned: boolean[] = []
  for (const [i, { b }] of pairs.entries()) {
    const skillMd = `---\nname: again${i}\ndescription: Again.\n---\n\n${bodyOf(b.skillMd)}`
    const { warnings } = await someone.publishSkill({ skillMd, dryRun: true })
    warned.push(warnings.some(({ code }) => code === 'resembles'))
  }
  return warned
}

async function tryPairs(registry: Registry, pairs: readonly Pair[], warned: readonly boolean[]) {
  const outcomes: Record<string, Outcome> = {}
  for (const [i, { type, a, b }] of pairs.entries()) {
    const outcome = (outcomes[type] ??= { pairs: 0, measured: 0, fromA: 0, fromB: 0, crowdedOut: 0, warned: 0 })
    const similarity = measureSimilarity(bodyOf(a.skillMd), bodyOf(b.skillMd))
    const shown = [
      await look(registry, `a${i}`, `b${i}`, similarity),
      await look(registry, `b${i}`, `a${i}`, similarity),
    ]
    outcome.pairs++
    if (similarity >= copySimilarity) outcome.measured++
    if (shown[0] === 'shown') outcome.fromA++
    if (shown[1] === 'shown') outcome.fromB++
    outcome.crowdedOut += shown.filter((how) => how === 'crowded out').length
    if (warned[i]) outcome.warned++
  }
  return outcomes
}

async function look(registry: Registry, name: string, other: string, similarity: number) {
  const { matches } = await localApi(registry).getSimilarity({ name: `${name}/${name}` })
  const match = matches.find(({ skill }) => skill.fullName === `${other}/${other}`)
  if (match) return match.similarity >= copySimilarity ? 'shown' : 'below'
  const isFull = matches.length === matchesMax && matches.at(-1)!.similarity >= similarity
  return isFull && similarity >= copySimilarity ? 'crowded out' : 'not found'
}

function summarise(outcomes: Record<string, Outcome>) {
  const sum = (isCopy: boolean, key: keyof Outcome) =>
    Object.entries(outcomes)
      .filter(([type]) => !type.startsWith('NEG') === isCopy)
      .reduce((total, [, outcome]) => total + outcome[key], 0)
  const pairs = sum(true, 'pairs')
  const shown = sum(true, 'fromA') + sum(true, 'fromB')
  const wrong = sum(false, 'fromA') + sum(false, 'fromB')
  return {
    'the measure itself': toRow(sum(true, 'measured'), sum(false, 'measured'), pairs),
    'found, where an answer has room': toRow(shown, wrong, 2 * pairs - sum(true, 'crowdedOut')),
    'found, also where it has none': toRow(shown, wrong, 2 * pairs),
  }
}

function toRow(right: number, wrong: number, of: number) {
  return { recall: round(right / of), precision: round(right / (right + wrong)) }
}

function round(figure: number): number {
  return Math.round(figure * 10_000) / 10_000
}

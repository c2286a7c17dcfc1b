import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { countMatches, putSkillText, type TextToken } from '../../packages/core/src/storage/text-search.ts'
import { describeDatabases } from '../support/harness.ts'
import { openDatabase } from '../support/open-registry.ts'
import { makePlace } from '../support/places.ts'

const none = { name: '', owner: '', keywords: '', description: '', headings: '', summary: '', category: '', body: '' }
const skills = 60
/** `every3` is in each third skill. */
const steps = [1, 2, 3, 4, 7, 13, 29, 61]

describeDatabases('the skills of each token', (_open, dialect) => {
  it.each([
    ['the rarest tokens', steps, 40],
    ['a frequent token alone', [1], 40],
    ['frequent tokens alone', [1, 2], 40],
    ['all tokens', steps, 1000],
    ['tokens of which the first fits exactly', [2, 3], 30],
  ])('are counted up to the number of skills that a search reads: %s', async (_name, searched, max) => {
    const tokens = searched.map((step): TextToken => ({ kind: 'word', word: `every${step}`, isPrefix: false }))
    const exact = searched.map((step) => Math.floor(skills / step))
    for (const isSampled of dialect === 'SQLite' ? [false] : [false, true]) {
      const { read } = await makeTexts()
      if (isSampled) await sql`analyze skill_text`.execute(read)
      // The second time from what is known of frequent tokens.
      for (let time = 0; time < 2; time++) {
        const counts = await countMatches(read, dialect === 'SQLite' ? 'sqlite' : 'postgres', tokens, max)
        expect(toRead(counts, max)).toEqual(toRead(exact, max))
        expect(counts.map((count, i) => count <= exact[i]!)).not.toContain(false)
      }
    }
  })

  async function makeTexts() {
    const place = await makePlace(dialect)
    onTestFinished(place.remove)
    const database = await openDatabase(place.location)
    onTestFinished(() => database.close())
    await database.writer.write(async (trx) => {
      for (let num = 1; num <= skills; num++) {
        const words = steps.filter((step) => num % step === 0).map((step) => `every${step}`)
        await putSkillText(trx, database.dialect, num, () => ({ ...none, description: words.join(' ') }), {
          isNew: true,
        })
      }
    })
    return database
  }
})

/** The counts of the tokens that a search reads, by the number of the token: the rarest one, and others that fit. */
function toRead(counts: readonly number[], max: number): Record<number, number> {
  const rarest = [...counts.entries()].filter(([, count]) => count > 0).toSorted(([, a], [, b]) => a - b)
  let sum = 0
  const read = rarest.filter(([, count], place) => (sum += count) <= max || place === 0)
  return Object.fromEntries(read.map(([token, count]) => [token, Math.min(count, max)]))
}

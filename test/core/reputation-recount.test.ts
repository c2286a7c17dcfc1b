import { checkRegistry } from '@skillstead/maintenance'
import { readFile } from 'node:fs/promises'
import { partsOf, findDrift, recomputeStandings } from '@skillstead/core/internal'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  badges,
  formula,
  levels,
  pointUnits,
  scoreMax,
  toComponents,
  toLevel,
  toReputationScore,
} from '../../packages/core/src/community/badges.ts'
import { descriptionCharactersMin, factNames, noFacts } from '../../packages/core/src/community/standing-facts.ts'
import { skillMd } from '../support/answers.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'
import { type Act, actKinds, makeWorld, perform } from '../support/reputation-acts.ts'

const everything = { ...noFacts, skills: 1e9, portable_skills: 1e9, described_skills: 1e9, downloads: 1e9, stars: 1e9 }
const endless = { ...everything, reviews: 1e9, review_points: 1e9 }
const allMethods = ['github', 'domain', 'manual'] as const

describe('the formula of reputation', () => {
  it('gives at most 1000 points, to an author with the maximum of every component', () => {
    const { most } = formula.verification
    const whole = formula.downloads.most + formula.stars.most + formula.reviews.most + most
    expect(whole + formula.quality.portable.most + formula.quality.described.most).toBe(scoreMax)
    expect(toReputationScore(endless, allMethods)).toBe(scoreMax)
    expect(toReputationScore(noFacts, [])).toBe(0)
  })

  it('keeps components within their limits, as integers, and the score their sum from 0 to 1000', () => {
    const anyFacts = fc.record(
      Object.fromEntries(
        factNames.map((name) => [name, name === 'review_points' ? fc.integer() : fc.nat()]),
      ) as unknown as Record<(typeof factNames)[number], fc.Arbitrary<number>>,
    )
    fc.assert(
      fc.property(anyFacts, fc.subarray([...allMethods]), (any, methods) => {
        const few = { portable_skills: Math.min(any.portable_skills, any.skills) }
        const facts = { ...any, ...few, described_skills: Math.min(any.described_skills, any.skills) }
        const parts = toComponents(facts, methods)
        const { penalties, ...gains } = parts
        for (const points of Object.values(parts)) expect(Number.isSafeInteger(points)).toBe(true)
        for (const points of Object.values(gains)) expect(points).toBeGreaterThanOrEqual(0)
        expect(Object.is(penalties, -0)).toBe(false)
        expect(penalties).toBeLessThanOrEqual(0)
        expect(penalties).toBeGreaterThanOrEqual(-formula.penalties.most)
        const sum = Object.values(parts).reduce((total, points) => total + points)
        expect(toReputationScore(facts, methods)).toBe(Math.min(scoreMax, Math.max(0, sum)))
      }),
    )
  })

  it('never lowers the score for more stars, reviews or downloads, nor raises it for penalties', () => {
    const good = ['downloads', 'stars', 'review_points'] as const
    const bad = ['flagged_skills', 'hidden_skills', 'taken_down_skills'] as const
    const some = {
      ...noFacts,
      skills: 8,
      portable_skills: 6,
      described_skills: 5,
      stars: 9,
      review_points: 9 * pointUnits,
    }
    fc.assert(
      fc.property(fc.nat(1e6), fc.nat(1e6), (less, more) => {
        for (const name of good) {
          const low = toReputationScore({ ...some, [name]: Math.min(less, more) }, [])
          expect(toReputationScore({ ...some, [name]: Math.max(less, more) }, [])).toBeGreaterThanOrEqual(low)
        }
        for (const name of bad) {
          const high = toReputationScore({ ...some, [name]: Math.min(less, more) }, [])
          expect(toReputationScore({ ...some, [name]: Math.max(less, more) }, [])).toBeLessThanOrEqual(high)
        }
      }),
    )
  })

  it('lets no number of downloads outweigh thirty stars', () => {
    const byDownloads = toReputationScore({ ...noFacts, downloads: Number.MAX_SAFE_INTEGER }, [])
    expect(toReputationScore({ ...noFacts, stars: 30 }, [])).toBeGreaterThanOrEqual(byDownloads)
    expect(toReputationScore({ ...noFacts, downloads: 10_000 }, [])).toBeLessThan(
      toReputationScore({ ...noFacts, stars: 10, reviews: 5, review_points: 20 * pointUnits }, []),
    )
  })

  it('counts bad reviews as zero points, never as a penalty', () => {
    expect(toComponents({ ...noFacts, reviews: 5, review_points: -20 * pointUnits }, []).reviews).toBe(0)
  })

  it('gives fewer points for quality if some skills are not portable or have no description', () => {
    const half = { ...noFacts, skills: 8, portable_skills: 4, described_skills: 4 }
    const all = { ...noFacts, skills: 4, portable_skills: 4, described_skills: 4 }
    expect(toComponents(half, []).quality).toBeLessThan(toComponents(all, []).quality)
  })

  it('assigns each level to scores at or above its threshold', () => {
    expect(levels.map(({ from }) => toLevel(from))).toEqual(levels.map(({ level }) => level))
    const below = levels.slice(0, -1).map(({ from }) => toLevel(from - 1))
    expect(below).toEqual(levels.slice(1).map(({ level }) => level))
    expect(levels.at(-1)!.from).toBe(0)
  })

  it('has the same numbers as docs/reputation.md', async () => {
    const text = (await readFile('docs/reputation.md', 'utf8')).replaceAll(/ +/g, ' ')
    const { downloads, stars, reviews, verification, quality, penalties } = formula
    const curves = { downloads, stars, reviews, 'quality: portable': quality.portable }
    for (const [name, { most, halfAt }] of Object.entries({ ...curves, 'quality: described': quality.described })) {
      expect(text).toContain(`| ${name} | ${most} | ${halfAt.toLocaleString('en')} `)
    }
    expect(text).toContain(`| verification | ${verification.most} |`)
    expect(text).toContain(`| penalties | -${penalties.most} |`)
    for (const [method, points] of Object.entries(verification.each)) expect(text).toContain(`\`${method}\` ${points}`)
    const { flagged_skills, hidden_skills, taken_down_skills } = penalties.each
    expect(text).toContain(`${flagged_skills} for each flagged`)
    expect(text).toContain(`${hidden_skills} for each hidden`)
    expect(text).toContain(`${taken_down_skills} for each under a takedown`)
    for (const { level, from } of levels) expect(text).toContain(`| \`${level}\` | ${from} |`)
    for (const { id, title } of badges) expect(text).toContain(`| \`${id}\` | ${title} |`)
    expect(text).toContain(`at least ${descriptionCharactersMin} characters`)
  })
})

describeDatabases('stored reputations', (open, dialect) => {
  let test: TestRegistry
  beforeAll(async () => {
    test = await open()
  })
  const noDrift = { skills: new Map(), standings: [], badges: [] }
  const drift = async () => {
    const { authors: _authors, ...drifted } = await findDrift(partsOf(test.registry).database.read)
    return drifted
  }

  it('equal a computation from scratch after every action', async () => {
    const anyAct: fc.Arbitrary<Act> = fc.record({
      kind: fc.constantFrom(...actKinds, 'publish', 'publish', 'star', 'review', 'reviewAsAgent'),
      who: fc.nat(11),
      what: fc.nat(99),
      how: fc.nat(999),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(anyAct, { minLength: 20, maxLength: 60, size: 'max' }), async (acts) => {
        // Start from correct values, so that failures come from this run and not from an earlier one.
        await partsOf(test.registry).database.writer.write((trx) => recomputeStandings(trx, test.clock.now()))
        const world = await makeWorld(test)
        for (const act of acts) {
          test.clock.advance(1000)
          await perform(world, act)
          expect(await drift(), `after ${JSON.stringify(act)}`).toEqual(noDrift)
        }
      }),
      { numRuns: dialect === 'SQLite' ? 12 : 5 },
    )
  })

  const reputationFinding = async () => (await checkRegistry(test.registry)).find(({ name }) => name === 'reputation')

  it('are repaired if wrong, and badges keep their dates', async () => {
    const dana = await test.makeUser('dana')
    await dana.api.publishSkill({ skillMd: skillMd('right') })
    const right = await test.api().getReputation({ username: 'dana' })
    test.clock.advance(1000)
    await partsOf(test.registry).database.writer.write(async (trx) => {
      await trx.updateTable('standings').set({ stars: 500, score: 999 }).where('username', '=', 'dana').execute()
      await trx.updateTable('skills').set({ credited_stars: 7 }).where('owner', '=', 'dana').execute()
      const { id } = await trx.selectFrom('users').select('id').where('username', '=', 'dana').executeTakeFirstOrThrow()
      await trx.insertInto('badges').values({ user_id: id, badge: 'starred', since: 0 }).execute()
    })
    expect(await reputationFinding()).toMatchObject({ ok: false })
    const found = await partsOf(test.registry).database.writer.write((trx) => recomputeStandings(trx, test.clock.now()))
    expect(await reputationFinding()).toMatchObject({ ok: true })
    expect([found.skills.size, found.standings.length, found.badges.length]).toEqual([1, 1, 1])
    expect(await drift()).toEqual(noDrift)
    const { computedAt, ...rest } = right
    expect(await test.api().getReputation({ username: 'dana' })).toMatchObject(rest)
    expect(Date.parse(computedAt)).toBe(test.clock.now() - 1000)
  })
})

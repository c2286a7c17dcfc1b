import { localApi, type Registry } from '@skillstead/core'
import { partsOf, withParts, type SkillRow, withWrite } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { beforeAll, expect, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'

/** A registry that runs `happen` after a call has read and before it writes. */
function betweenLookAndWrite(registry: Registry, happen: () => Promise<void>): Registry {
  const { database } = partsOf(registry)
  const write: typeof database.writer.write = async (work) => {
    await happen()
    return database.writer.write(work)
  }
  return withParts(registry, { database: { ...database, writer: withWrite(database.writer, write) } })
}

describeDatabases('a skill that becomes unavailable to the caller between the read and the write', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let reviewId: string
  const name = 'alice/tool'
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    await alice.api.publishSkill({ skillMd: skillMd('tool') })
    await alice.api.publishSkill({ skillMd: skillMd('other') })
    const review = { name, agentKey: 'codex:early', rating: 4, content: 'Good.' }
    reviewId = (await test.api().createAgentReview(review)).id
  })

  const setSkill = (change: Partial<Pick<SkillRow, 'state' | 'visibility'>>) =>
    partsOf(test.registry).database.writer.write(async (trx) => {
      await trx.updateTable('skills').set(change).where('full_name', '=', name).execute()
    })

  const actions: Record<string, (api: RegistryApi) => Promise<unknown>> = {
    starSkill: (api) => api.starSkill({ name }),
    unstarSkill: (api) => api.unstarSkill({ name }),
    reportSkill: (api) => api.reportSkill({ name, reason: 'spam' }),
    'reportCopy, of it': (api) => api.reportCopy({ name, originalSkillId: 'alice/other', evidence: 'x' }),
    'reportCopy, of another': (api) =>
      api.reportCopy({ name: 'alice/other', originalSkillId: 'alice/tool', evidence: 'x' }),
    createReview: (api) => api.createReview({ name, rating: 5, title: 'Good', body: '' }),
    createIssue: (api) => api.createIssue({ name, type: 'bug', title: 'Broken', body: '' }),
    createAgentReview: (api) => api.createAgentReview({ name, agentKey: 'codex:late', rating: 5, content: 'Good.' }),
    markAgentReviewHelpful: (api) => api.markAgentReviewHelpful({ name, id: reviewId, agentKey: 'codex:late' }),
  }
  const closings = [
    ['turned private', { visibility: 'private' }, 'not_found'],
    ['hidden', { state: 'hidden' }, 'not_found'],
    ['deleted', { state: 'withdrawn' }, 'not_found'],
    ['taken down', { state: 'taken_down' }, 'taken_down'],
  ] as const
  const cases = Object.keys(actions).flatMap((action) => closings.map((closing) => [action, ...closing] as const))

  it.each(cases)('%s has no effect if the skill was %s', async (action, _, change, code) => {
    const before = await readTraces()
    const late = betweenLookAndWrite(test.registry, () => setSkill(change))
    const api = localApi(late, await test.registry.getCaller('bob'))
    expect(await codeOf(actions[action]!(api))).toBe(code)
    await setSkill({ state: 'live', visibility: 'public' })
    expect(await readTraces()).toEqual(before)
  })

  it('allows each tested action as long as the skill is available', async () => {
    for (const [action, act] of Object.entries(actions)) expect(await act(bob.api), action).toBeDefined()
  })

  async function readTraces() {
    const { reports } = await test.admin.api.listReports()
    const { copyReports } = await test.admin.api.listCopyReports()
    const { stars } = await test.api().getSkill({ name })
    const { reviews } = await test.api().listReviews({ name })
    const { issues } = await test.api().listIssues({ name })
    const agentReviews = (await test.api().listAgentReviews({ name })).reviews
    const { total } = await test.api().listAgents()
    return { reports, copyReports, stars, reviews, issues, agentReviews, total }
  }
})

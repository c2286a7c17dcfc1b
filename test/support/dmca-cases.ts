import { localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { DmcaCase, RegistryError } from '@skillstead/protocol'
import { expect } from 'vitest'
import { skillMd } from './answers.ts'
import type { TestRegistry, TestUser } from './harness.ts'

export const dayMs = 24 * 60 * 60 * 1000

/** What a claimant states; every text of a person is one that a search for traces finds. */
export const notice = {
  claimantName: 'Clara Claimant',
  claimantEmail: 'clara@claims.example',
  workDescription: 'My book about gardens.',
  originalUrl: 'https://claims.example/book',
  organization: 'Claims & Daughters',
  goodFaith: true,
  accuracy: true,
  signature: 'C. Claimant',
} as const

/** What is sent in answer. */
export const counterNotice = {
  name: 'Otto Owner',
  email: 'otto@owner.example',
  address: '1 Quiet Road, Owntown',
  statement: 'It is my own book.',
  goodFaith: true,
  jurisdictionConsent: true,
  signature: 'O. Owner',
} as const

/** Personal data that must never appear in public data. */
export const personalTraces = [
  ...(['Clara', 'clara@', 'claims.example', 'My book', 'Daughters', 'C. Claimant'] as const),
  ...(['Otto', 'otto@', 'Quiet Road', 'my own book', 'O. Owner', 'sct_'] as const),
]

type Status = DmcaCase['status']

/** A case as its claimant sees it. */
export interface Submitted {
  readonly id: string
  readonly caseToken: string
}

/** A case about a skill, made inside the process, where no address is counted. */
export async function submitCase(test: TestRegistry, skillName: string): Promise<Submitted> {
  const { id, caseToken } = await localApi(test.registry).submitDmca({ skillName, ...notice })
  return { id, caseToken: caseToken! }
}

/** The steps to a status, as an administrator, the owner and time take them. */
const ways: Record<Status, readonly Status[]> = {
  submitted: [],
  under_review: ['under_review'],
  rejected: ['rejected'],
  removed: ['removed'],
  counter_noticed: ['removed', 'counter_noticed'],
  restored: ['removed', 'counter_noticed', 'restored'],
  upheld: ['removed', 'counter_noticed', 'upheld'],
}

/** A case about a skill in a given status. */
export async function makeCase(
  test: TestRegistry,
  skillName: string,
  owner: TestUser,
  status: Status,
): Promise<Submitted> {
  const made = await submitCase(test, skillName)
  for (const step of ways[status]) {
    if (step === 'counter_noticed') await owner.api.submitCounterNotice({ id: made.id, ...counterNotice })
    else if (step === 'restored') await runOut(test, made.id)
    else await test.admin.api.updateDmca({ id: made.id, status: step })
  }
  return made
}

/** Lets the waiting period of a counter-notice expire, and waits for the result. */
export async function runOut(test: TestRegistry, id: string): Promise<void> {
  test.clock.advance(14 * dayMs)
  await expect.poll(() => statusOf(test, id)).toBe('restored')
  // What is kept in memory follows the commit that the status tells of.
  await partsOf(test.registry).changes.catchUp()
}

export async function statusOf(test: TestRegistry, id: string): Promise<Status> {
  return (await test.api().getDmca({ id })).status
}

/** Whether a guest gets a takedown notice instead of the skill. */
export async function isHidden(test: TestRegistry, name: string): Promise<boolean> {
  const answer = await test
    .api()
    .getSkill({ name })
    .catch((error: RegistryError) => error.code)
  return answer === 'taken_down'
}

/** A public skill with a text of its own. */
export async function publish(owner: TestUser, name: string, files: { path: string; content: string }[] = []) {
  return (await owner.api.publishSkill({ skillMd: skillMd(name), files })).skill
}

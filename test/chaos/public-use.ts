import { createClient } from '@skillstead/client'
import { patientOptions, type Ask } from './ask.ts'
import type { Trouble } from './trouble.ts'

export interface PublicUseParts {
  readonly baseUrl: string
  readonly apiKey: string
  readonly username: string
  /** Skills of another user that are never deleted. */
  readonly names: readonly string[]
  readonly ask: Ask
  readonly trouble: Trouble
  readonly random: () => number
}

/** A user who stars, reviews and installs the skills of others, and signs in. */
export function createPublicUse({ baseUrl, apiKey, username, names, ask, trouble, random }: PublicUseParts) {
  const api = createClient({ baseUrl, apiKey, ...patientOptions, counts: false })
  const guest = createClient({ baseUrl, ...patientOptions })
  const known = names.map((name) => ({ name, isStarred: false, rating: 0, installs: 0, maybeInstalls: 0 }))
  const counts = { stars: 0, reviews: 0, installs: 0, sessions: 0 }

  const pick = () => known[Math.floor(random() * known.length)]!

  async function star(): Promise<void> {
    const skill = pick()
    const { name } = skill
    const wanted = !skill.isStarred
    const what = `${wanted ? 'starring' : 'unstarring'} ${name}`
    const outcome = await ask.write(what, () => (wanted ? api.starSkill({ name }) : api.unstarSkill({ name })))
    const isDone = outcome.kind === 'done' || (await readStar(name)) === wanted
    if (isDone && outcome.kind === 'refused') trouble.report(`${what}: refused, but done`)
    if (isDone) skill.isStarred = wanted
    counts.stars += 1
  }

  async function review(): Promise<void> {
    const skill = pick()
    const { name } = skill
    const rating = (skill.rating % 5) + 1
    const what = `reviewing ${name}`
    const content = { rating, title: `Worth ${rating}`, body: 'Works as described.' }
    const outcome = await ask.write(what, () => api.createReview({ name, ...content }))
    const isDone = outcome.kind === 'done' || (await readRating(name)) === rating
    if (isDone && outcome.kind === 'refused') trouble.report(`${what}: refused, but done`)
    if (isDone) skill.rating = rating
    counts.reviews += 1
  }

  async function install(): Promise<void> {
    const skill = pick()
    const outcome = await ask.write(`installing ${skill.name}`, () => guest.track({ skillName: skill.name }))
    if (outcome.kind === 'done') skill.installs += 1
    if (outcome.kind === 'unanswered') skill.maybeInstalls += 1
    counts.installs += 1
  }

  /** Checks that a new session is valid, whatever the clock of the node shows. */
  async function signIn(): Promise<void> {
    const before = trouble.history.length
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, body: '{}' }
    const answer = await fetch(`${baseUrl}/api/v1/session`, sent).catch(() => undefined)
    const cookie = answer?.headers.getSetCookie()[0]?.split(';')[0]
    if (answer?.status !== 201 || !cookie) return
    const me = await fetch(`${baseUrl}/api/v1/users/me`, { headers: { cookie, 'x-skillstead-session': '1' } }).catch(
      () => undefined,
    )
    // A fault between the two requests, such as a clock jump, can end the session.
    if (me?.status === 401 && trouble.history.length === before)
      trouble.report('a session expired as soon as it was created')
    counts.sessions += 1
  }

  const readStar = (name: string) => ask.read(`the star of ${name}`, async () => (await api.getStar({ name })).starred)
  async function readRating(name: string): Promise<number> {
    const { reviews } = await ask.read(`the reviews of ${name}`, () => api.listReviews({ name, limit: 100 }))
    return reviews.find(({ reviewer }) => reviewer.username === username)?.rating ?? 0
  }

  const actions = [star, review, install, install, install, signIn]
  return {
    known,
    counts,
    act: () => actions[Math.floor(random() * actions.length)]!(),
    async inspect(): Promise<void> {
      for (const { name, isStarred, rating } of known) {
        if ((await readStar(name)) !== isStarred)
          trouble.report(`${username}'s star of ${name} differs from the response`)
        if ((await readRating(name)) !== rating)
          trouble.report(`${username}'s review of ${name} differs from the response`)
      }
    },
  }
}

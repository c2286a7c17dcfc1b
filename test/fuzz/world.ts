import { createHash } from 'node:crypto'
import { localApi, type Registry, systemCaller } from '@skillstead/core'
import { localCall } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { skillMd } from '../support/answers.ts'
import { sampleOf } from '../support/security-samples.ts'
import type { Pool } from './pool.ts'

/** The senders of requests. The user `vault` never sends one: it owns the content that the others must not see. */
export const actors = ['guest', 'alice', 'bob', 'root'] as const
export type Actor = (typeof actors)[number]

/** The content of the registry before the first request. */
export interface World {
  keyOf(actor: Actor): string | undefined
  /** Words that occur only in private and quarantined content. */
  canaries(): readonly string[]
  /** Names that only `vault` and administrators may see. */
  hiddenNames(): readonly string[]
  /** Every issued secret, and the stored hashes of the actors' keys. */
  readonly secrets: Set<string>
  /** Restores the keys and roles that an actor removed, and the quarantined version. */
  repair(): Promise<void>
}

const privateWord = 'zirconquill'

export async function makeWorld(registry: Registry, pool: Pool): Promise<World> {
  const keys = new Map<string, string>()
  const secrets = new Set<string>()
  let held = 0

  function keep(username: string, key: string): void {
    keys.set(username, key)
    secrets.add(key)
    for (const encoding of ['hex', 'base64url'] as const) {
      secrets.add(createHash('sha256').update(key).digest(encoding))
    }
  }

  for (const username of ['root', 'alice', 'bob', 'vault']) {
    const role = username === 'root' ? 'admin' : 'user'
    const { body } = await localCall(registry, 'createUser', { username, plan: 'enterprise', role }, systemCaller)
    keep(username, (body as { key: string }).key)
    pool.add('username', username)
  }
  for (const [username, name] of [
    ['alice', 'pdf'],
    ['bob', 'charts'],
  ] as const) {
    const own = localApi(registry, await registry.getCaller(username))
    for (const version of ['1.0.0', '1.0.1'])
      await own.publishSkill({ skillMd: skillMd(name, { body: version }), version })
    pool.add('name', `${username}/${name}`)
    pool.add('path', 'SKILL.md')
  }
  const vault = localApi(registry, await registry.getCaller('vault'))
  await plantPrivate(vault)
  pool.add('name', 'vault/hidden')
  for (const slug of ['vault-pack', 'vault-open']) pool.add('slug', slug)
  await plantQuarantined()

  /** Publishes a version that stays quarantined and contains a unique word. */
  async function plantQuarantined(): Promise<void> {
    held += 1
    const text = sampleOf('dangerous', `waiting-${held}`, { more: `\number${held}vetchling\n` })
    await vault.publishSkill({ skillMd: text, version: '1.0.0', changelog: `umber${held}vetchling` })
    pool.add('name', `vault/waiting-${held}`)
  }

  async function repairActor(username: 'root' | 'alice' | 'bob'): Promise<void> {
    const role = username === 'root' ? 'admin' : 'user'
    await localApi(registry, systemCaller).updateUser({ username, plan: 'enterprise', role, disabled: false })
    if (await isAccepted(registry, keys.get(username)!)) return
    const own = localApi(registry, await registry.getCaller(username))
    const { apiKeys } = await own.listApiKeys({ limit: 100 })
    for (const { id } of apiKeys) await own.deleteApiKey({ id })
    keep(username, (await own.createApiKey({ name: 'again' })).key)
  }

  return {
    keyOf: (actor) => keys.get(actor),
    canaries: () => [privateWord, `umber${held}vetchling`],
    hiddenNames: () => ['vault/hidden', 'vault-pack', `vault/waiting-${held}`],
    secrets,
    async repair() {
      await localApi(registry, systemCaller).updateUser({ username: 'vault', plan: 'enterprise', disabled: false })
      for (const username of ['root', 'alice', 'bob'] as const) await repairActor(username)
      const { total } = await vault.listQuarantined()
      if (total === 0) await plantQuarantined()
    },
  }
}

/** Creates a private skill and a private pack with unique words. */
async function plantPrivate(vault: RegistryApi): Promise<void> {
  const word = privateWord
  await vault.publishSkill({
    skillMd: skillMd('hidden', { description: `Keeps ${word}.`, body: `# Hidden\n\n${word}\n` }),
    version: '1.0.0',
    visibility: 'private',
    category: word,
    keywords: [word],
    changelog: word,
    files: [{ path: `${word}.txt`, content: word }],
  })
  // Reference private skills from public objects: in a list of forks, and in a pack.
  await vault.forkSkill({ name: 'alice/pdf', newName: 'copied' })
  await vault.publishSkill({ name: 'vault/copied', description: word, visibility: 'private' })
  const pack = { name: word, slug: 'vault-pack', description: word, skills: ['vault/hidden'] }
  await vault.createPack({ ...pack, visibility: 'private' })
  const skills = ['alice/pdf', 'vault/hidden', 'vault/copied']
  await vault.createPack({ name: 'Open', slug: 'vault-open', description: '', skills })
}

async function isAccepted(registry: Registry, key: string): Promise<boolean> {
  return registry.authenticate(key).then(
    (caller) => caller.scopes.length === 3,
    () => false,
  )
}

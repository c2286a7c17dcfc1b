import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { localApi, systemCaller, type Registry } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { listenNode, type ListeningNode } from '@skillstead/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { createClock } from '../support/harness.ts'
import { makeProject } from '../support/skills-program.ts'
import { openRegistry } from '../support/open-registry.ts'

const dayMs = 24 * 60 * 60 * 1000

describe('the program `skills`', () => {
  const clock = createClock()
  let registry: Registry
  let node: ListeningNode
  let alice: RegistryApi
  let bob: RegistryApi
  beforeAll(async () => {
    registry = await openRegistry({ path: ':memory:', clock })
    const system = localApi(registry, systemCaller)
    for (const username of ['alice', 'bob']) await system.createUser({ username })
    alice = localApi(registry, await registry.getCaller('alice'))
    bob = localApi(registry, await registry.getCaller('bob'))
    // Two searches spend it, and both indexes of an expired link; other indexes and files do not.
    node = await listenNode(registry, { port: 0, rates: { anonymous: 4 }, discoveryPack: 'basics' })
  })
  afterAll(async () => {
    await node.close()
    await registry.close()
  })

  const downloadsOf = async (name: string) => {
    await partsOf(registry).counters.flush()
    return (await alice.getSkill({ name })).downloads
  }

  it('installs a skill with its files, and updates the skill to a new version', async () => {
    await alice.publishSkill(withFiles('first'))
    const { skills, installed, read, folder } = await makeProject(node.url)
    const added = await skills('add', `${node.url}/alice/pdf`, '-y', '-a', 'universal')
    expect(added.code, added.stdout).toBe(0)
    const paths = ['SKILL.md', 'assets/one.bin', 'références/été.md', 'scripts/fill form.sh']
    expect(await installed()).toEqual(paths.map((path) => `pdf/${path}`).toSorted())
    expect(await read('pdf/scripts/fill form.sh')).toBe('echo first\n')
    expect([...(await readFile(join(folder, '.agents/skills/pdf/assets/one.bin')))]).toEqual([0, 255, 16])
    expect(await downloadsOf('alice/pdf')).toBe(1)

    const idle = await skills('update', '-y')
    expect(idle.stdout).not.toContain('Updated')
    expect(await downloadsOf('alice/pdf')).toBe(1)

    await alice.publishSkill(withFiles('second'))
    // A download counts once for an address, skill and day.
    clock.advance(dayMs)
    const updated = await skills('update', '-y')
    expect(updated.stdout).toContain('Updated pdf')
    expect(await read('pdf/scripts/fill form.sh')).toBe('echo second\n')
    expect(await read('pdf/SKILL.md')).toContain('second')
    expect(await downloadsOf('alice/pdf')).toBe(2)
  })

  it('installs the version given in the URL, and does not update it', async () => {
    for (const body of ['One.', 'Two.']) await alice.publishSkill({ skillMd: skillMd('pinned', { body }) })
    const { skills, read } = await makeProject(node.url)
    await skills('add', `${node.url}/alice/pinned@1.0.0`, '-y', '-a', 'universal')
    expect(await read('pinned/SKILL.md')).toContain('One.')
    expect((await skills('update', '-y')).stdout).not.toContain('Updated')
    expect(await read('pinned/SKILL.md')).toContain('One.')
  })

  it('installs a pack with skills of several owners, from the URL of the pack or of a node that offers the pack', async () => {
    await alice.publishSkill({ skillMd: skillMd('one') })
    await bob.publishSkill({ ...withFiles('b'), skillMd: skillMd('two') })
    await bob.createPack({ name: 'Basics', description: '', skills: ['alice/one', 'bob/two'] })
    for (const address of [`${node.url}/packs/basics`, node.url]) {
      const { skills, installed } = await makeProject(node.url)
      const { code, stdout } = await skills('add', address, '-y', '-a', 'universal')
      expect(code, stdout).toBe(0)
      expect(await installed()).toEqual(expect.arrayContaining(['one/SKILL.md', 'two/SKILL.md']))
    }
  })

  it('installs a private skill only from its share link, and only until the link expires', async () => {
    await alice.publishSkill({ ...withFiles('hidden'), skillMd: skillMd('hidden'), visibility: 'private' })
    const { id, token } = await alice.createShare({ name: 'alice/hidden' })
    const { skills, installed, read } = await makeProject(node.url)
    const refused = await skills('add', `${node.url}/alice/hidden`, '-y', '-a', 'universal')
    expect(refused.code).toBe(1)
    expect(await installed()).toEqual([])
    const added = await skills('add', `${node.url}/t/${token}`, '-y', '-a', 'universal')
    expect(added.code, added.stdout).toBe(0)
    expect(await read('hidden/scripts/fill form.sh')).toBe('echo hidden\n')
    await alice.deleteShare({ name: 'alice/hidden', id })
    const late = await makeProject(node.url)
    expect((await late.skills('add', `${node.url}/t/${token}`, '-y', '-a', 'universal')).code).toBe(1)
    expect(await late.installed()).toEqual([])
  })

  it('finds skills, and prints commands that install them', async () => {
    await alice.publishSkill({ skillMd: skillMd('weaving', { description: 'Weaves baskets of willow.' }) })
    const { skills, installed } = await makeProject(node.url)
    const { stdout } = await skills('find', 'willow')
    const found = `${node.url}/alice/weaving@weaving`
    expect(stdout).toContain(found)
    expect((await skills('add', found, '-y', '-a', 'universal')).code).toBe(0)
    expect(await installed()).toEqual(['weaving/SKILL.md'])
    expect((await skills('find', 'nothing-of-this-name')).stdout).toContain('No skills found')
  })

  it('installs a transferred skill from its former URL', async () => {
    await alice.publishSkill({ skillMd: skillMd('moved') })
    await alice.transferSkill({ name: 'alice/moved', newOwner: 'bob' })
    await bob.acceptTransfer({ name: 'alice/moved' })
    const { skills, installed } = await makeProject(node.url)
    expect((await skills('add', `${node.url}/alice/moved`, '-y', '-a', 'universal')).code).toBe(0)
    expect(await installed()).toEqual(['moved/SKILL.md'])
  })

  it('reports an error for a URL without skills, instead of installing all skills of the node', async () => {
    const { skills, installed } = await makeProject(node.url)
    const { code, stdout } = await skills('add', `${node.url}/alice/nowhere`, '-y', '-a', 'universal')
    expect(code).toBe(1)
    expect(stdout).toContain('/alice/nowhere')
    expect(await installed()).toEqual([])
  })
})

function withFiles(text: string) {
  return {
    skillMd: skillMd('pdf', { body: `# PDF\n\n${text}\n` }),
    files: [
      { path: 'scripts/fill form.sh', content: `echo ${text}\n` },
      { path: 'références/été.md', content: 'Accents.\n' },
      { path: 'assets/one.bin', content: 'AP8Q', encoding: 'base64' as const },
    ],
  }
}

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makeFolder } from '../support/cli-harness.ts'
import { gitLibraries } from '../support/git-libraries.ts'
import { openGit } from '../support/git-program.ts'
import { sample } from '../support/long.ts'
import { openNode } from '../support/server-harness.ts'
import { type Arrived, publishWhole, readArrived, toWholeInGit } from '../support/whole-skill.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const names = ['one', 'two', 'three', 'four']
let node: Awaited<ReturnType<typeof openNode>>
beforeAll(async () => {
  node = await openNode({ rates: 'off' })
  // Several versions of several skills, so that packs have deltas of deltas.
  for (const version of ['1.0.0', '1.1.0', '1.2.0'])
    for (const name of names) await publishWhole(node.api, name, version)
  await node.api.createPack({ name: 'Some', slug: 'some', description: '', skills: ['alice/one', 'alice/three'] })
})
afterAll(() => node.close())

/** The repositories of a skill, of its owner and of a pack, with the skills in them. */
const repositories: readonly { readonly path: string; readonly skills: readonly { name: string; folder: string }[] }[] =
  [
    { path: 'alice/two.git', skills: [{ name: 'two', folder: '' }] },
    { path: 'alice.git', skills: names.map((name) => ({ name, folder: `skills/${name}` })) },
    { path: 'packs/some.git', skills: ['one', 'three'].map((name) => ({ name, folder: `skills/${name}` })) },
  ]

const hostile = ['core.autocrlf=true', 'core.eol=crlf', 'transfer.fsckObjects=true'].flatMap((one) => ['-c', one])

type Skills = (typeof repositories)[number]['skills']

/** The skills in a clone, by name. */
async function readSkills(clone: string, skills: Skills): Promise<Record<string, Arrived>> {
  const found: Record<string, Arrived> = {}
  for (const { name, folder } of skills)
    found[name] = await readArrived(join(clone, folder), folder === '' ? ['.git', '.gitattributes'] : [])
  return found
}

const toPublished = (skills: Skills) =>
  Object.fromEntries(skills.map(({ name }) => [name, toWholeInGit(name, '1.2.0')]))

describe.each(repositories)('published bytes and modes arrive from $path', ({ path, skills }) => {
  it.each([
    ['a full clone', []],
    ['a shallow clone', ['--depth', '1']],
    ['a partial clone, which is a full one here', ['--filter=blob:none']],
    ['a full clone with other line ends', hostile],
    ['a shallow clone with other line ends', ['--depth', '1', ...hostile]],
  ] as const)('with git: %s', async (_, options) => {
    const git = await openGit()
    await git.run('clone', '-q', ...options, `${node.node.url}/git/${path}`, 'clone')
    expect(await readSkills(join(git.folder, 'clone'), skills)).toEqual(toPublished(skills))
  })
})

describe.each(sample(gitLibraries, 3))('$name', ({ name: library, missing, isShallow, open }) => {
  const skipped = missing === undefined ? '' : ` (skipped: ${missing})`
  it.skipIf(missing !== undefined)(`receives the published bytes and modes${skipped}`, async ({ skip }) => {
    const clone = await open()
    if (!clone) return skip(`${library} cannot be installed here`)
    for (const { path, skills } of repositories) {
      for (const depth of [undefined, ...(isShallow ? [1] : [])]) {
        const folder = join(await makeFolder(), 'clone')
        await clone(`${node.node.url}/git/${path}`, folder, depth)
        expect(await readSkills(folder, skills), `${path} ${depth}`).toEqual(toPublished(skills))
      }
    }
  })
})

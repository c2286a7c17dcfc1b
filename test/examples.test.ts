import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeFolder, runFile, skillsteadJson, startServer } from './cli-harness.ts'

const example = (name: string) => fileURLToPath(new URL(`../examples/${name}`, import.meta.url))

describe('the examples', () => {
  it('embed a registry in a program', async () => {
    const { code, stdout, stderr } = await runFile(example('embed.ts'), [])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe('published alice/tea@1.0.0\nfound alice/tea\nread 82 bytes of SKILL.md\n')
  })

  it('publish to a node and search it', async () => {
    const data = join(await makeFolder(), 'data')
    const { key } = await skillsteadJson<{ key: string }>(['users', 'create', 'bob', '--data', data])
    const server = await startServer(['serve', '--port', '0', '--data', data])
    const { code, stdout } = await runFile(example('publish-and-search.ts'), [server.url, key])
    expect(code).toBe(0)
    expect(stdout).toBe('published bob/standup-notes@1.0.0 as bob\n1 found, first bob/standup-notes\n')
    await server.stop()
  })

  it('are skills that every strict reader takes', async () => {
    const data = join(await makeFolder(), 'data')
    const { published } = await skillsteadJson<{ published: string[] }>(['examples', '--data', data])
    expect(published).toHaveLength(10)
    for (const name of published) {
      const { frontmatter, versions, category } = await skillsteadJson<{
        frontmatter: object
        versions: object[]
        category: string
      }>(['show', name, '--data', data])
      expect(frontmatter).toMatchObject({ license: 'MIT' })
      expect(versions).toHaveLength(1)
      expect(category).not.toBe('')
    }
    const folder = example('skills/tidy-csv')
    await skillsteadJson(['users', 'create', 'eve', '--data', data])
    const { portable, warnings } = await skillsteadJson<{ portable: boolean; warnings: object[] }>([
      'publish',
      folder,
      '--owner',
      'eve',
      '--data',
      data,
    ])
    expect({ portable, warnings }).toEqual({ portable: true, warnings: [] })
  })
})

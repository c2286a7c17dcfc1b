import { readFileSync } from 'node:fs'
import { createClient } from '@skillstead/client'
import { isStrictlyReadable } from '@skillstead/skill-format'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder, skillstead, skillsteadJson, startServer } from '../support/cli-harness.ts'

describe('a SKILL.md that installers can read', () => {
  it.each([
    ['a name and a description', 'name: pdf\ndescription: Reads.'],
    [
      'more than is asked for',
      'name: Any Name!\ndescription: >\n  Reads\n  it.\nmetadata: { version: 1, tags: [a, b] }',
    ],
    ['an alias', 'x: &x Reads.\nname: pdf\ndescription: *x'],
  ])('has %s', (_, frontmatter) => {
    expect(isStrictlyReadable(document(frontmatter))).toBe(true)
    expect(isStrictlyReadable(`\uFEFF${document(frontmatter).replaceAll('\n', '\r\n')}`)).toBe(true)
  })

  it.each([
    ['without a name', 'description: Reads.'],
    ['whose name is a number', 'name: 7\ndescription: Reads.'],
    ['whose description is a list', 'name: pdf\ndescription: [Reads]'],
    ['with a second colon in a line', 'name: pdf\ndescription: Reads: everything'],
    ['with a key twice', 'name: pdf\nname: pdf\ndescription: Reads.'],
    ['with a key twice further in', 'name: pdf\ndescription: Reads.\nmetadata:\n  a: 1\n  a: 1'],
    ['with an alias of nothing', 'name: pdf\ndescription: *nothing'],
    ['that is a list', '- name: pdf\n- description: Reads.'],
    ['with brackets without end', `name: pdf\ndescription: Reads.\nx: ${'['.repeat(5000)}`],
    ['with aliases without end', `${toBomb()}\nname: pdf\ndescription: Reads.`],
  ])('is not a file %s', (_, frontmatter) => {
    expect(isStrictlyReadable(document(frontmatter))).toBe(false)
  })

  it.each(['', '---', 'Text.', '\n---\nname: a\ndescription: b\n---\n', '---\nname: a\ndescription: b\n'])(
    'never has the text %j',
    (text) => expect(isStrictlyReadable(text)).toBe(false),
  )

  it('is recognised among random and malformed texts without an exception', () => {
    const line = fc.oneof(
      fc.constantFrom('---', 'name: a', 'description: b', '- - -', '&a [*a]', '{', '"'),
      fc.string(),
    )
    fc.assert(fc.property(fc.array(line), (lines) => typeof isStrictlyReadable(lines.join('\n')) === 'boolean'))
    const lines = readFileSync(new URL('../fixtures/malformed.ndjson', import.meta.url), 'utf8')
      .trim()
      .split('\n')
    const cases = lines.map((text) => JSON.parse(text) as { case: string; skillMd: string })
    const read = cases.filter((one) => isStrictlyReadable(one.skillMd))
    expect(read.map((one) => one.case)).toContain('UTF-8 BOM before ---')
    expect(read.map((one) => one.case)).not.toContain('duplicate keys')
  })
})

describe('`serve --discovery-pack`', () => {
  it('serves a pack at the root of the node, and refuses an invalid slug', async () => {
    const place = ['--data', await makeFolder()]
    const { key } = await skillsteadJson<{ key: string }>(['users', 'create', 'alice', ...place])
    const server = await startServer(['serve', '--port', '0', ...place, '--discovery-pack', 'basics'])
    const ask = () => fetch(`${server.url}/.well-known/agent-skills/index.json`)
    expect((await ask()).status).toBe(404)
    const alice = createClient({ baseUrl: server.url, apiKey: key })
    await alice.publishSkill({ skillMd: skillMd('pdf') })
    await alice.createPack({ name: 'Basics', description: '', skills: ['pdf'] })
    expect(await (await ask()).json()).toMatchObject({ skills: [{ name: 'pdf', url: 'alice/pdf-1.0.0.md' }] })
    await server.stop()
    const wrong = await skillstead(['serve', '--port', '0', ...place, '--discovery-pack', 'Not a slug'])
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain("'Not a slug' is not a pack slug")
  })
})

function document(frontmatter: string): string {
  return `---\n${frontmatter}\n---\nText.\n`
}

/** Nested aliases that expand to powers of ten. */
function toBomb(): string {
  const lines = Array.from({ length: 9 }, (_, i) => {
    const below = i === 0 ? 'x' : `*a${i - 1}`
    return `a${i}: &a${i} [${Array.from({ length: 10 }, () => below).join(', ')}]`
  })
  return lines.join('\n')
}

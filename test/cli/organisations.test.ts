import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder, skillstead, skillsteadJson, startServer, type Running } from '../support/cli-harness.ts'

describe('an organisation on the command line', { timeout: 120_000 }, () => {
  let server: Running
  let data: string
  const keys: Record<string, string> = {}
  beforeAll(async () => {
    data = await makeFolder()
    for (const name of ['root', 'alice', 'bob'])
      keys[name] = (await skillsteadJson<{ key: string }>(['users', 'create', name, '--data', data])).key
    server = await startServer(['serve', '--port', '0', '--data', data])
  })
  afterAll(() => server.stop())

  /** Runs a command line as a user; prints the status before an error. */
  async function run(user: string, line: string): Promise<string> {
    const { code, stdout, stderr } = await skillstead([...line.split(' '), '--url', server.url, '--key', keys[user]!])
    return code === 0 ? stdout : `${code} ${stderr}`
  }

  it('is made, joined, used and left', async () => {
    expect(await run('alice', 'org create acme --display-name Acme')).toBe(
      'Created acme. Publish for it with `skillstead publish PATH --organisation acme`.\n',
    )
    expect(await run('alice', 'org invite acme bob publisher')).toBe(
      'Invited bob as publisher. The user joins with `skillstead org accept`.\n',
    )
    expect(await run('bob', 'org accept')).toBe('acme  publisher\n1 to accept.\n')
    expect(await run('bob', 'org accept acme')).toBe('You are a member of acme now: publisher.\n')
    expect(await run('alice', 'org members acme')).toBe('alice  owner  accepted\nbob  publisher  accepted\n2 of 2.\n')
    const folder = await makeFolder()
    await writeFile(join(folder, 'SKILL.md'), skillMd('tool'))
    expect(await run('bob', `publish ${folder} --organisation acme`)).toContain('Published acme/tool@1.0.0.')
    expect(await run('bob', 'visibility acme/tool private')).toContain('this needs owner or admin')
    expect(await run('alice', 'visibility acme/tool internal --organisation acme')).toBe(
      'acme/tool is internal to the members of acme.\n',
    )
    expect(await run('alice', 'org team acme tools --members bob --skills tool=admin')).toBe(
      'tools\n  members: bob\n  skills: tool=admin\n',
    )
    expect(await run('bob', 'visibility acme/tool public')).toBe('acme/tool is public.\n')
    expect(await run('bob', 'org teams acme')).toBe('tools\n  members: bob\n  skills: tool=admin\n1 of 1.\n')
    expect(await run('alice', 'org team acme tools --delete')).toBe('Deleted the team tools.\n')
    expect(await run('bob', 'org list')).toBe('acme  publisher  members: 2, teams: 0, skills: 1\n1 of 1.\n')
    expect(await run('alice', 'org invite acme bob reader')).toBe('bob has the role reader now.\n')
    expect(await run('bob', 'org remove acme bob')).toBe('bob is no member of acme any more.\n')
    expect(await run('bob', 'org show acme')).toBe('acme  Acme\n  members: 1, teams: 0, skills: 1\n  your role: none\n')
    expect(await run('alice', 'org delete acme')).toMatch(/^2 .*--yes/)
    expect(await run('alice', 'org delete acme --yes')).toMatch(/^1 .*acme has 1 skills/)
    expect(await run('alice', 'org team acme tools --skills tool=king')).toMatch(/^2 .*'king' is no role of a team/)
  })

  it('is declined, and is made by the operator for a user', async () => {
    const [created] = [await skillsteadJson(['org', 'create', 'given', '--owner', 'alice', '--data', data])]
    expect(created).toMatchObject({ name: 'given', role: null })
    await run('alice', 'org invite given bob reader')
    expect(await run('bob', 'org accept given --decline')).toBe('Declined given.\n')
    expect(await run('bob', 'org accept')).toBe('0 to accept.\n')
    expect(await run('root', 'org list --all')).toContain('given  no member')
    expect(await run('bob', 'org create given')).toMatch(/^1 .*already taken/)
  })
})

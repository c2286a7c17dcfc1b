import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder, skillstead, skillsteadJson, startServer, type Running } from '../support/cli-harness.ts'

const run = async (...args: string[]) => {
  const { code, stdout, stderr } = await skillstead(args)
  return code === 0 ? stdout : `${code} ${stderr}`
}
const codeOf = async (...args: string[]) => (await skillstead(args)).code

describe('commands for the owner of a skill', { timeout: 120_000 }, () => {
  let data: string
  let server: Running
  let alice: string[]
  let bob: string[]
  beforeAll(async () => {
    data = await makeFolder()
    const keys: Record<string, string> = {}
    for (const name of ['root', 'alice', 'bob'])
      keys[name] = (await skillsteadJson<{ key: string }>(['users', 'create', name, '--data', data])).key
    server = await startServer(['serve', '--port', '0', '--data', data])
    const as = (name: string) => ['--url', server.url, '--key', keys[name]!]
    ;[alice, bob] = [as('alice'), as('bob')]
  })
  afterAll(() => server.stop())

  async function publish(name: string, visibility = 'private') {
    const folder = await makeFolder()
    await writeFile(join(folder, 'SKILL.md'), skillMd(name))
    await skillsteadJson(['publish', folder, '--visibility', visibility, ...alice])
    return `alice/${name}`
  }
  it('`share` creates a link that reads a private skill, lists links and revokes a link', async () => {
    const name = await publish('shared')
    const made = await skillsteadJson<{ id: string; url: string; expiresAt: string }>([
      'share',
      name,
      '--expires-in-days',
      '2',
      ...alice,
    ])
    const index = `${made.url}/.well-known/agent-skills/index.json`
    expect((await fetch(index)).status).toBe(200)
    expect(Math.round((Date.parse(made.expiresAt) - Date.now()) / 86_400_000)).toBe(2)
    expect(await run('share', name, ...alice)).toMatch(
      /^Link to alice\/shared, .*\n\S+\/t\/ssl_[\w-]+\nInstall with: npx skills add /,
    )
    const atTheMachine = await run('share', name, '--data', data, '--user', 'alice')
    expect(atTheMachine).toMatch(/^Link to alice\/shared, .*\nNODE_URL\/t\/ssl_[\w-]+\nWrite the address of the node /)
    expect(await run('share', name, '--list', ...alice)).toContain(`${made.id}  expires ${made.expiresAt}\n`)
    expect(await run('share', name, '--revoke', made.id, ...alice)).toBe(
      `The link ${made.id} of ${name} no longer works.\n`,
    )
    expect((await fetch(index)).status).toBe(404)
    expect(await codeOf('share', name, '--list', '--revoke', made.id, ...alice)).toBe(2)
    expect(await codeOf('share', name, '--expires-in-days', '0', ...alice)).toBe(1)
    expect(await codeOf('share', name, ...bob)).toBe(1)
  })

  it('`accept` accepts or declines an invitation to collaborate, and `invite --remove` ends the collaboration', async () => {
    const name = await publish('common')
    expect(await run('invite', name, ...alice)).toBe('alice/common has no collaborators.\n')
    expect(await run('invite', name, 'bob', '--role', 'write', ...alice)).toBe('bob  write  invited\n')
    expect(await codeOf('show', name, ...bob)).toBe(1)
    expect(await run('accept', ...bob)).toBe('alice/common  invitation of alice: write\n1 to accept.\n')
    expect(await run('accept', name, ...bob)).toBe('You are now a writer of alice/common.\n')
    expect(await codeOf('show', name, ...bob)).toBe(0)
    expect(await run('invite', name, ...alice)).toBe('bob  write  accepted\n')
    expect(await run('invite', name, 'bob', '--remove', ...alice)).toBe('bob no longer collaborates on alice/common.\n')
    expect(await codeOf('show', name, ...bob)).toBe(1)
    await skillsteadJson(['invite', name, 'bob', ...alice])
    expect(await run('accept', name, '--decline', ...bob)).toBe('Declined alice/common.\n')
    expect(await run('accept', ...bob)).toBe('0 to accept.\n')
    expect(await codeOf('accept', name, ...bob)).toBe(1)
    expect(await codeOf('accept', '--decline', ...bob)).toBe(2)
    expect(await codeOf('invite', name, 'bob', '--role', 'admin', ...alice)).toBe(2)
    expect(await codeOf('invite', name, '--remove', ...alice)).toBe(2)
    expect(await codeOf('invite', name, 'stranger', ...alice)).toBe(1)
  })

  it('`transfer` offers a skill, which `accept` takes over; --cancel and --decline keep the owner', async () => {
    const name = await publish('moving', 'public')
    const offer = `Offered ${name} to bob, who accepts it with \`skillstead accept ${name}\`.\n`
    expect(await run('transfer', name, 'bob', ...alice)).toBe(offer)
    expect(await run('accept', ...alice)).toBe('0 to accept.\n')
    expect(await run('transfer', name, '--cancel', ...alice)).toBe('alice/moving stays yours.\n')
    expect(await run('accept', ...bob)).toBe('0 to accept.\n')
    await skillsteadJson(['transfer', name, 'bob', ...alice])
    expect(await run('accept', name, '--decline', ...bob)).toBe('Declined alice/moving.\n')
    await skillsteadJson(['transfer', name, 'bob', ...alice])
    expect(await run('accept', ...bob)).toBe('alice/moving  transfer: you become its owner\n1 to accept.\n')
    // A short name is enough, as for an invitation.
    expect(await run('accept', 'moving', ...bob)).toBe('You are now the owner of bob/moving.\n')
    expect(await codeOf('transfer', 'bob/moving', ...bob)).toBe(2)
    expect(await codeOf('transfer', 'bob/moving', 'alice', '--cancel', ...bob)).toBe(2)
  })

  it('`visibility` and `describe` change a skill without a new version', async () => {
    const name = await publish('plain')
    expect(await codeOf('show', name, ...bob)).toBe(1)
    expect(await run('visibility', name, 'internal', ...alice)).toBe('alice/plain is internal.\n')
    expect(await codeOf('show', name, ...bob)).toBe(0)
    expect(await codeOf('visibility', name, 'secret', ...alice)).toBe(2)
    expect(await codeOf('visibility', name, 'public', ...bob)).toBe(1)
    const options = ['--license', 'MIT', '--keywords', 'one,two', '--display-name', 'Plain text']
    expect(await run('describe', name, 'Writes plain text.', ...options, ...alice)).toBe(
      'alice/plain  Writes plain text.\n',
    )
    expect(await skillsteadJson(['show', name, ...alice])).toMatchObject({
      latestVersion: '1.0.0',
      description: 'Writes plain text.',
      displayName: 'Plain text',
      license: 'MIT',
      keywords: ['one', 'two'],
      visibility: 'internal',
    })
    expect(await codeOf('describe', name, 'Else.', ...bob)).toBe(1)
    expect(await codeOf('describe', name, 'Writes', 'more.', ...alice)).toBe(2)
  })

  it('`delete` needs --yes, and deletes the skill for all users', async () => {
    const name = await publish('gone', 'public')
    expect(await run('delete', name, ...alice)).toMatch(/^2 .*cannot be undone\. Pass --yes/)
    expect(await codeOf('delete', name, '--yes', ...bob)).toBe(1)
    expect(await run('delete', name, '--yes', ...alice)).toBe('Deleted alice/gone. Its name stays reserved.\n')
    expect(await codeOf('show', name, ...alice)).toBe(1)
  })

  it('`downloads` shows the days on which a skill was downloaded', async () => {
    const name = await publish('read', 'public')
    expect(await run('downloads', name, '--days', '7', ...bob)).toBe('0 downloads in 7 days.\n')
    await fetch(`${server.url}/api/v1/skills/alice%2Fread/skill.md`)
    // Counts are written together, a moment later.
    await expect
      .poll(() => run('downloads', name, ...bob), { timeout: 20_000 })
      .toMatch(/^\d{4}-\d\d-\d\d {2}1 download, 0 installs\n1 download in 30 days\.\n$/)
    const total = '1 download in 30 days.\n'
    const byVersion = await run('downloads', name, '--by', 'version', ...alice)
    expect(byVersion).toMatch(/\n1\.0\.0 {2}1 download, 0 installs\n/)
    const byClient = await run('downloads', name, '--by', 'client', ...alice)
    expect(byClient).toMatch(/\n[a-z]+ {2}1 download, 0 installs\n/)
    for (const text of [byVersion, byClient]) expect(text.endsWith(total)).toBe(true)
    expect(await codeOf('downloads', name, '--by', 'client', ...bob)).toBe(1)
    expect(await codeOf('downloads', name, '--by', 'day', ...alice)).toBe(2)
    expect(await codeOf('downloads', name, '--days', '0', ...bob)).toBe(1)
    expect(await codeOf('downloads', 'alice/nothing', ...bob)).toBe(1)
  })
})

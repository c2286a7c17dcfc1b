import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder, skillstead, skillsteadJson, startServer, type Running } from '../support/cli-harness.ts'

/** Creates a key for the caller that the options name. */
async function createKey(name: string, as: string[], more: string[] = []) {
  const { stdout } = await skillstead(['keys', 'create', name, '--json', ...more, ...as])
  return JSON.parse(stdout) as { id: string; key: string; expiresAt: string | null }
}

describe('commands about users and their skills', () => {
  let server: Running
  let data: string
  let admin: string[]
  let bob: string[]
  beforeAll(async () => {
    data = await makeFolder()
    const { key } = await skillsteadJson<{ key: string }>(['users', 'create', 'ada', '--data', data])
    server = await startServer(['serve', '--port', '0', '--data', data])
    admin = ['--url', server.url, '--key', key]
    bob = [
      '--url',
      server.url,
      '--key',
      (await skillsteadJson<{ key: string }>(['users', 'create', 'bob', ...admin])).key,
    ]
    const folder = await makeFolder()
    for (const text of [skillMd('pdf-tools'), `${skillMd('pdf-tools')}More.\n`]) {
      await writeFile(join(folder, 'SKILL.md'), text)
      await skillsteadJson(['publish', folder, ...bob])
    }
  })
  afterAll(() => server.stop())

  it('`whoami` shows the user, the node, and the plan of new users, which is team by default', async () => {
    expect(await skillstead(['whoami', ...bob])).toEqual({
      code: 0,
      stdout: `bob, user on the team plan, at ${server.url}\n`,
      stderr: '',
    })
    const onFiles = await skillstead(['whoami', '--user', 'ada', '--data', data])
    expect(onFiles.stdout).toBe(`ada, administrator on the enterprise plan, at ${data}\n`)
  })

  it('`sessions` lists and ends the sessions of the user, and for administrators the sessions of other users', async () => {
    for (const key of [admin[3]!, bob[3]!, bob[3]!]) {
      const headers = { authorization: `Bearer ${key}`, 'x-skillstead-session': '1' }
      expect((await fetch(`${server.url}/api/v1/session`, { method: 'POST', headers })).status).toBe(201)
    }
    const listed = await skillstead(['sessions', 'list', ...bob])
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(/^\w+ {2}first key .*\n.*\n2 of 2\.\n$/)])
    const [id] = listed.stdout.split(' ')
    expect((await skillstead(['sessions', 'end', id!, ...bob])).stdout).toBe(`Ended ${id}.\n`)
    const again = await skillstead(['sessions', 'end', id!, ...bob])
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('no session with this id')])
    const other = await skillstead(['sessions', 'list', 'ada', ...bob])
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('Only administrators')])
    const ofBob = await skillsteadJson<{ sessions: { id: string }[] }>(['sessions', 'list', 'bob', ...admin])
    expect(ofBob.sessions).toHaveLength(1)
    await skillstead(['sessions', 'end', ofBob.sessions[0]!.id, ...admin])
    expect((await skillstead(['sessions', 'list', '--user', 'bob', '--data', data])).stdout).toBe('0 of 0.\n')
    expect((await skillstead(['sessions', 'list', 'no-such-user', ...admin])).code).toBe(1)
  })

  it('new users may use webhooks at once, unless --default-plan says otherwise', async () => {
    expect((await skillstead(['webhooks', 'list', ...bob])).code).toBe(0)
    expect(await skillsteadJson(['users', 'create', 'carl', '--data', data])).toMatchObject({ user: { plan: 'team' } })
    const free = await startServer(['serve', '--port', '0', '--data', data, '--default-plan', 'free'])
    try {
      const node = ['--url', free.url, '--key']
      const made = await skillsteadJson<{ key: string; user: object }>(['users', 'create', 'dora', ...node, admin[3]!])
      expect(made.user).toMatchObject({ plan: 'free' })
      const { code, stderr } = await skillstead(['webhooks', 'list', ...node, made.key])
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/free.*set-plan.*--default-plan/) })
    } finally {
      await free.stop()
    }
  })

  it('`serve` refuses a default plan for new users that does not exist', async () => {
    const { code, stderr } = await skillstead(['serve', '--data', data, '--default-plan', 'gold'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("'gold' is not a valid value of --default-plan. Use one of free"),
    })
  })

  it.each([[['whoami']], [['keys', 'list']], [['star', 'bob/pdf-tools']]])(
    '%j run without an API key explains how to log in',
    async (args) => {
      const { code, stderr } = await skillstead([...args, '--url', server.url])
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `You are not logged in to ${server.url}. Run \`skillstead login --url ${server.url}\`, or pass --key.\n`,
      })
    },
  )

  it('`users key`, `disable` and `enable` let an administrator help a user who lost an API key', async () => {
    const { code, stdout } = await skillstead(['users', 'key', 'bob', '--scopes', 'read', ...admin])
    expect(code).toBe(0)
    const key = /^An API key for bob, shown only once:\n(ssk_\w+)\n$/.exec(stdout)![1]!
    const asBob = ['whoami', '--url', server.url, '--key', key]
    expect((await skillstead(asBob)).stdout).toContain('bob, user')
    expect((await skillstead(['users', 'key', 'ada', ...bob])).stderr).toContain('Only administrators may do this.')
    expect((await skillstead(['users', 'disable', 'bob', ...admin])).stdout).toContain('bob is disabled.')
    expect((await skillstead(asBob)).code).toBe(1)
    expect((await skillstead(['users', 'enable', 'bob', ...admin])).stdout).toBe('bob can sign in again.\n')
    expect((await skillstead(asBob)).code).toBe(0)
  })

  const withKey = (key: string) => ['--url', server.url, '--key', key]

  it('`keys revoke` names the valid keys created with the revoked key, and --with-made revokes these keys', async () => {
    const isValid = async ({ key }: { key: string }) => (await skillstead(['whoami', ...withKey(key)])).code === 0
    const allScopes = ['--scopes', 'read,publish,manage']
    const first = await createKey('first', bob, ['--expires-in-days', '2', ...allScopes])
    const second = await createKey('second', withKey(first.key), allScopes)
    const third = await createKey('third', withKey(second.key), ['--expires-in-days', '30', ...allScopes])
    expect([second.expiresAt, third.expiresAt]).toEqual([first.expiresAt, first.expiresAt])
    expect((await skillstead(['keys', 'create', 'fourth', ...withKey(third.key)])).stdout).toContain(
      `It expires at ${first.expiresAt}.\n`,
    )
    expect((await skillstead(['keys', 'list', ...bob])).stdout).toContain(
      `expires ${first.expiresAt}  made by ${second.id}\n`,
    )
    const alone = await skillstead(['keys', 'revoke', second.id, ...bob])
    expect(alone.stdout).toMatch(
      new RegExp(
        `^Revoked ${second.id}\\. Without --with-made, the key or share link that it made still works\\.\n${third.id}  ssk_`,
      ),
    )
    expect([await isValid(second), await isValid(third)]).toEqual([false, true])
    const all = await skillstead(['keys', 'revoke', first.id, '--with-made', ...bob])
    expect(all.stdout).toBe(`Revoked ${first.id}, the key or share link that it made, and what those made.\n`)
    expect([await isValid(first), await isValid(third)]).toEqual([false, false])
  })

  it('`keys create` makes a key that reads and publishes for 90 days, unless other scopes and days are passed', async () => {
    const { stdout } = await skillstead(['keys', 'create', 'laptop', ...bob])
    const [, key, expiry] =
      /^Key 'laptop' \(read, publish\), shown only once:\n(ssk_\w+)\nIt expires at (\S+)\.\n$/.exec(stdout)!
    expect(Math.round((Date.parse(expiry!) - Date.now()) / 86_400_000)).toBe(90)
    expect((await skillstead(['whoami', ...withKey(key!)])).code).toBe(0)
    expect((await skillstead(['keys', 'list', ...withKey(key!)])).stderr).toContain('manage')
    expect((await skillstead(['keys', 'create', 'more', ...withKey(key!)])).code).toBe(1)
    const other = await createKey('other', bob, ['--scopes', 'read', '--expires-in-days', '5'])
    expect(other).toMatchObject({ scopes: ['read'] })
    expect(Math.round((Date.parse(other.expiresAt!) - Date.now()) / 86_400_000)).toBe(5)
    expect(await createKey('one', bob, ['--limited-to', 'bob/pdf'])).toMatchObject({ limitedTo: 'bob/pdf' })
    for (const wrong of [
      ['--scopes', 'write'],
      ['--limited-to', ''],
      ['--limited-to', 'bob/'],
      ['--expires-in-days', '0'],
    ])
      expect((await skillstead(['keys', 'create', 'wrong', ...wrong, ...bob])).code).not.toBe(0)
  })

  it('`keys revoke` takes a name or an id, and refuses the name of several keys with their ids', async () => {
    const [one, two, named] = [
      await createKey('twin', bob),
      await createKey('twin', bob),
      await createKey('only one', bob),
    ] as const
    const refused = await skillstead(['keys', 'revoke', 'twin', ...bob])
    expect(refused.code).toBe(1)
    for (const { id } of [one, two]) expect(refused.stderr).toContain(id)
    expect((await skillstead(['keys', 'revoke', 'only one', ...bob])).stdout).toContain(`Revoked ${named.id}.`)
    expect((await skillstead(['keys', 'revoke', one.id, ...bob])).stdout).toContain(`Revoked ${one.id}.`)
    expect((await skillstead(['keys', 'revoke', 'twin', ...bob])).stdout).toContain(`Revoked ${two.id}.`)
    const unknown = await skillstead(['keys', 'revoke', 'twin', ...bob])
    expect(unknown.code).toBe(1)
    expect(unknown.stderr).toBe("You have no API key with the name or id 'twin'. List them: skillstead keys list.\n")
    const impostor = await createKey(named.id, bob)
    expect((await skillstead(['keys', 'revoke', impostor.id, ...bob])).stdout).toContain(`Revoked ${impostor.id}.`)
  })

  it('`yank`, `unyank` and `deprecate` change what other users see of a skill', async () => {
    const shown = async () => (await skillstead(['show', 'bob/pdf-tools', '--url', server.url])).stdout
    expect((await skillstead(['yank', 'pdf-tools@1.0.1', ...bob])).stdout).toContain('Yanked pdf-tools@1.0.1.')
    expect(await shown()).toMatch(/version +1\.0\.0\n/)
    expect(await shown()).toContain('1.0.1 (yanked)')
    expect((await skillstead(['unyank', 'bob/pdf-tools@1.0.1', ...bob])).code).toBe(0)
    expect(await shown()).toMatch(/version +1\.0\.1\n/)
    const marked = await skillstead(['deprecate', 'pdf-tools', 'Use', 'pdf-kit', 'instead.', ...bob])
    expect(marked.stdout).toBe('bob/pdf-tools is deprecated: Use pdf-kit instead.\n')
    expect(await shown()).toMatch(/deprecated +Use pdf-kit instead\./)
    expect((await skillstead(['search', 'pdf', 'tools', '--url', server.url])).stdout).toContain('  deprecated\n')
    expect((await skillstead(['deprecate', 'pdf-tools', '--undo', ...bob])).stdout).toContain('no longer deprecated')
    expect(await shown()).not.toContain('pdf-kit')
    expect((await skillstead(['yank', 'pdf-tools', ...bob])).stderr).toContain('Use the form NAME@1.2.3')
    expect((await skillstead(['yank', 'bob/pdf-tools@1.0.1', ...admin])).code, 'of another owner').toBe(1)
  })
})

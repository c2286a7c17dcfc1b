import { existsSync } from 'node:fs'
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { partsOf } from '@skillstead/core/internal'
import { describe, expect, it } from 'vitest'
import {
  makeFolder,
  skillstead,
  skillsteadJson,
  skillsteadProcess,
  startServer,
  startServerProcess,
} from '../support/cli-harness.ts'
import { openRegistry } from '../support/open-registry.ts'

const skillMd = (name: string) => `---\nname: ${name}\ndescription: Does what ${name} says.\n---\n# ${name}\n\nDo it.\n`

interface Search {
  skills: { fullName: string }[]
  total: number
}

async function makeRegistry() {
  const data = join(await makeFolder(), 'data')
  const { key } = await skillsteadJson<{ key: string }>(['users', 'create', 'alice', '--data', data])
  return { data, key }
}

describe('the command line program', () => {
  it('lists its commands and their options', async () => {
    const help = await skillstead([])
    expect(help.code).toBe(0)
    for (const name of ['serve', 'import', 'publish', 'search', 'keys', 'create, list, revoke', 'set-plan', 'doctor'])
      expect(help.stdout).toContain(name)
    const search = await skillstead(['search', '--help'])
    expect(search.stdout).toMatch(/--limit <N>\s+the number of skills to show/)
  })

  it.each([
    [['frobnicate'], "Unknown command 'frobnicate'. Run `skillstead help`"],
    [['search', 'pdf', '--nope'], "Unknown option '--nope'"],
    [['show'], 'NAME is missing'],
    [['show', 'a', 'b', '--data', '.'], 'Too many arguments'],
    [['search', 'pdf'], 'The registry is missing'],
    [['serve', '--port', 'high', '--data', 'x'], "'high' is not a port"],
    [['serve', '--rate-limits', 'gold=1', '--data', 'x'], "'gold=1' is not a rate"],
    [['serve', '--gateways', 'mcp,gopher', '--data', 'x'], "'gopher' is not a gateway"],
    [['users', 'create', 'bob', '--plan', 'gold', '--data', 'x'], "'gold' is not a valid value of --plan"],
  ])('%j is a usage error in one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await skillstead(args, { cwd: await makeFolder() })
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(sentence)
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  it('reports a failure in one sentence, or with --json in one line of JSON', async () => {
    const cwd = await makeFolder()
    const people = await skillsteadProcess(['show', 'x', '--data', 'nowhere'], { cwd })
    expect(people).toEqual({
      code: 1,
      stdout: '',
      stderr: 'There is no registry in nowhere. Pass the folder of a registry with --data.\n',
    })
    const { data } = await makeRegistry()
    const programs = await skillsteadProcess(['show', 'x', '--data', data, '--json'])
    expect(programs.stdout).toBe('')
    expect(JSON.parse(programs.stderr)).toEqual({
      error: { code: 'not_found', detail: "There is no skill 'x' that you may see." },
    })
  })

  it('creates users and prints only the user and the API key', async () => {
    const data = join(await makeFolder(), 'data')
    const first = await skillsteadJson<{ user: { username: string; role: string; plan: string }; key: string }>([
      'users',
      'create',
      'alice',
      '--data',
      data,
    ])
    expect(Object.keys(first)).toEqual(['user', 'key'])
    expect(first.user).toMatchObject({ username: 'alice', role: 'admin', plan: 'enterprise' })
    expect(first.key).toMatch(/^ssk_[0-9A-Za-z]{38}$/)
    const second = await skillsteadJson<{ user: object }>(['users', 'create', 'bob', '--plan', 'pro', '--data', data])
    expect(second.user).toMatchObject({ username: 'bob', role: 'user', plan: 'pro' })
    await skillsteadJson(['users', 'set-plan', 'bob', 'team', '--data', data])
    const { users } = await skillsteadJson<{ users: object[] }>(['users', 'list', '--data', data])
    expect(users).toMatchObject([{ username: 'alice' }, { username: 'bob', plan: 'team' }])
    expect((await stat(data)).mode & 0o077).toBe(0)
  })

  it('publishes a folder, refuses to publish it again, and then finds and shows the skill', async () => {
    const { data } = await makeRegistry()
    const folder = await makeFolder()
    await mkdir(join(folder, 'scripts'))
    await writeFile(join(folder, 'SKILL.md'), skillMd('tidy-up'))
    await writeFile(join(folder, 'scripts', 'run.sh'), 'echo tidy\n')
    await symlink('/etc/passwd', join(folder, 'stolen'))
    const dry = await skillsteadJson<{ created: boolean }>([
      'publish',
      folder,
      '--owner',
      'alice',
      '--dry-run',
      '--data',
      data,
    ])
    expect(dry.created).toBe(true)
    const first = await skillstead(['publish', folder, '--owner', 'alice', '--data', data])
    const leftOut = '  omitted stolen: The link leads out of the skill.\n'
    expect(first.stdout).toBe(`Published alice/tidy-up@1.0.0.\n${leftOut}`)
    const again = await skillstead(['publish', folder, '--owner', 'alice', '--data', data])
    expect(again.stdout).toContain('nothing was published')
    const shown = await skillstead(['show', 'alice/tidy-up', '--data', data])
    expect(shown.stdout).toContain('SKILL.md, scripts/run.sh')
    expect(shown.stdout).not.toContain('stolen')
    const { skills } = await skillsteadJson<Search>(['search', 'tidy', '--data', data])
    expect(skills.map(({ fullName }) => fullName)).toEqual(['alice/tidy-up'])
    for (const [need, input] of [
      ['-', 'Tidy up the folder.\n'],
      ['tidy up', ''],
    ] as const) {
      const found = await skillstead(['search', '--need', need, '--data', data], { input })
      expect(found.stdout).toMatch(/^alice\/tidy-up@1.0.0 /)
    }
    const findIn = async (client: string) => skillstead(['search', 'tidy', '--client', client, '--data', data])
    const hooked = await makeFolder()
    await writeFile(join(hooked, 'SKILL.md'), skillMd('tidy-desk').replace('---\n', '---\nhooks: none\n'))
    await skillstead(['publish', hooked, '--owner', 'alice', '--data', data])
    expect((await findIn('goose')).stdout).toContain('2 found.')
    expect((await findIn('agentskills')).stdout).toMatch(/^alice\/tidy-up@1.0.0 [^]*\n1 found\.\n$/)
    expect((await findIn('emacs')).stderr).toContain('Use one of agentskills, claude-code,')
    const both = await skillstead(['search', 'tidy', '--need', 'tidy', '--data', data])
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('Pass either QUERY or --need TEXT.')])
    const empty = await skillstead(['search', '--need', '-', '--data', data], { input: '\n' })
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('The text of --need is empty.')])
    const long = await skillstead(['search', '--need', '-', '--data', data], { input: 'tidy '.repeat(401) })
    expect([long.code, long.stderr]).toEqual([1, expect.stringContaining('q must have at most 2000 characters')])
  })

  it('creates, lists and revokes API keys', async () => {
    const { data } = await makeRegistry()
    const made = await skillsteadJson<{ id: string; key: string }>([
      'keys',
      'create',
      'ci',
      '--scopes',
      'read',
      '--user',
      'alice',
      '--data',
      data,
    ])
    const listed = await skillstead(['keys', 'list', '--user', 'alice', '--data', data])
    expect(listed.stdout).toContain(made.id)
    expect(listed.stdout).not.toContain(made.key)
    await skillsteadJson(['keys', 'revoke', made.id, '--user', 'alice', '--data', data])
    const { apiKeys } = await skillsteadJson<{ apiKeys: { id: string }[] }>([
      'keys',
      'list',
      '--user',
      'alice',
      '--data',
      data,
    ])
    expect(apiKeys.map(({ id }) => id)).not.toContain(made.id)
  })

  it('reports with `doctor` whether a registry is healthy or damaged', async () => {
    const { data } = await makeRegistry()
    const { findings } = await skillsteadJson<{ findings: { name: string; ok: boolean }[] }>(['doctor', '--data', data])
    const names = ['node', 'database', 'disk', 'blobs', 'search', 'log', 'scans', 'reputation', 'keys', 'outbox']
    expect(findings.map(({ name }) => name)).toEqual(names)
    await writeFile(join(data, 'skillstead.db'), 'this is no database, whatever its name says'.repeat(100))
    const broken = await skillstead(['doctor', '--data', data])
    expect(broken.code).toBe(1)
    expect(broken.stderr).not.toMatch(/\n\s+at /)
  })

  it('repairs wrong reputations with `doctor --repair` and records the repair in the audit log', async () => {
    const { data } = await makeRegistry()
    const registry = await openRegistry({ path: join(data, 'skillstead.db') })
    await partsOf(registry).database.writer.write(async (trx) => {
      const { id } = await trx.selectFrom('users').select('id').executeTakeFirstOrThrow()
      await trx.insertInto('badges').values({ user_id: id, badge: 'starred', since: 0 }).execute()
    })
    await registry.close()
    const found = await skillstead(['doctor', '--data', data])
    expect(found.code).toBe(1)
    expect(found.stderr).toContain('doctor --repair')
    expect((await skillstead(['doctor', '--data', data])).code, 'without the word it only looks').toBe(1)
    expect(await skillstead(['doctor', '--repair', '--data', data])).toMatchObject({ code: 0 })
    expect(await skillstead(['doctor', '--data', data])).toMatchObject({ code: 0 })
    const repaired = await openRegistry({ path: join(data, 'skillstead.db') })
    const actions = await partsOf(repaired).database.read.selectFrom('audit').select('action').execute()
    await repaired.close()
    expect(actions.filter(({ action }) => action === 'reputation.recompute')).toHaveLength(1)
  })
})

describe('skillstead serve', () => {
  it('lets commands publish and search over HTTP, publishes no example skills, and shuts down gracefully', async () => {
    const { data, key } = await makeRegistry()
    const server = await startServerProcess(['serve', '--port', '0', '--data', data])
    const { total } = await skillsteadJson<Search>(['search', '', '--url', server.url])
    expect(total).toBe(0)
    const folder = await makeFolder()
    await writeFile(join(folder, 'SKILL.md'), skillMd('over-http'))
    const environment = { env: { SKILLSTEAD_KEY: key } }
    await skillsteadJson(['publish', folder, '--url', server.url], environment)
    const { skills } = await skillsteadJson<Search>(['search', 'http', '--url', server.url])
    expect(skills.map(({ fullName }) => fullName)).toEqual(['alice/over-http'])
    // An absolute path is sent as a path within the project, or as the name of the file.
    const files = [join(process.cwd(), 'a.ts'), join(folder, 'b.tf'), '../c.go', './d.py'].join(',')
    const context = ['--files', files, '--languages', 'Go, C#', '--installed', 'alice/over-http']
    const inContext = await skillsteadJson<Search>(['search', 'http', ...context, '--url', server.url])
    expect(inContext.skills).toEqual(skills)
    const languages = Array.from({ length: 21 }, (_, i) => `l${i}`).join(',')
    const long = await skillstead(['search', 'http', '--languages', languages, '--url', server.url])
    expect([long.code, long.stderr]).toEqual([
      1,
      expect.stringContaining('context.languages must have at most 20 items'),
    ])
    const refused = await skillstead(['publish', folder, '--url', server.url, '--key', 'ssk_wrong'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('This API key is not valid')
    expect(await server.stop()).toBe(0)
    expect(server.said()).not.toContain(key)
  })

  it('reports that the port is already in use', async () => {
    const { data } = await makeRegistry()
    const server = await startServer(['serve', '--port', '0', '--data', data])
    const port = new URL(server.url).port
    const second = await skillstead(['serve', '--port', port, '--data', data])
    expect(second.code).toBe(1)
    expect(second.stderr).toBe(`Port ${port} is already in use. Stop the other process or pass --port.\n`)
    expect(second.stdout).toBe('')
    await server.stop()
  })
})

describe('the helper that runs a command in a test', () => {
  it('stops a hanging command at its time limit, so that later commands still run', async () => {
    const { data } = await makeRegistry()
    const cwd = await makeFolder()
    const serve = ['serve', '--port', '0', '--data', data]
    const hanging = skillstead(serve, { cwd, timeoutMs: 10 })
    const next = skillstead(['--version'], { cwd })
    await expect(hanging).rejects.toThrow(`\`skillstead ${serve.join(' ')}\` did not end within 0.01 s.`)
    expect(await next).toMatchObject({ code: 0 })
  })
})

describe('skillstead start', () => {
  it('creates an administrator and publishes the example skills, but only on the first start', async () => {
    const cwd = await makeFolder()
    const first = await startServerProcess(['start', '--port', '0'], cwd)
    const { total } = await skillsteadJson<Search>(['search', '', '--url', first.url])
    expect(total).toBe(10)
    await first.stop()
    expect(first.said()).toContain('Published 10 example skills.')
    const keyFile = join(cwd, '.skillstead', 'admin-key')
    expect((await stat(keyFile)).mode & 0o077).toBe(0)
    const key = (await readFile(keyFile, 'utf8')).trim()
    expect(first.said()).toContain(`The dashboard is at ${first.url}/`)
    expect(first.said(), 'the first start shows the key').toContain(key)
    expect(first.said()).not.toContain('There are no users yet')

    const second = await startServerProcess(['start', '--port', '0'], cwd)
    const again = await skillsteadJson<Search>(['search', '', '--url', second.url])
    expect(again.total).toBe(10)
    const { users } = await skillsteadJson<{ users: { username: string }[] }>([
      'users',
      'list',
      '--url',
      second.url,
      '--key',
      key,
    ])
    expect(users.map(({ username }) => username)).toEqual(['operator', 'skillstead'])
    await second.stop()
    expect(second.said()).not.toContain('example skills')
    expect(second.said(), 'and no later one').not.toContain(key)
    expect(second.said()).toContain("Sign in there as 'operator' with the key in .skillstead/admin-key.")
    expect(existsSync(keyFile)).toBe(true)
  })

  it('creates an administrator but publishes no example skills if the registry has imported authors', async () => {
    const cwd = await makeFolder()
    await mkdir(join(cwd, 'skill'))
    await writeFile(join(cwd, 'skill', 'SKILL.md'), skillMd('theirs'))
    await skillsteadJson(['import', 'skill', '--owner', 'dora', '--data', '.skillstead'], { cwd })
    const server = await startServerProcess(['start', '--port', '0'], cwd)
    const key = (await readFile(join(cwd, '.skillstead', 'admin-key'), 'utf8')).trim()
    const { users } = await skillsteadJson<{ users: object[] }>(['users', 'list', '--url', server.url, '--key', key])
    expect(users).toMatchObject([
      { username: 'dora', claimed: false },
      { username: 'operator', role: 'admin' },
    ])
    const { total } = await skillsteadJson<Search>(['search', '', '--url', server.url])
    expect(total).toBe(1)
    await server.stop()
  })
})

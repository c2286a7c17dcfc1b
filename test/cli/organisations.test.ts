import { mkdir, writeFile } from 'node:fs/promises'
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

  it('is created, joined, used and left', async () => {
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
    expect(await run('alice', 'org delete acme --yes')).toMatch(/^1 .*acme still has skills \(1\)/)
    expect(await run('alice', 'org team acme tools --skills tool=king')).toMatch(/^2 .*'king' is no role of a team/)
  })

  it('can be created by the operator for a user, and an invitation to it can be declined', async () => {
    const [created] = [await skillsteadJson(['org', 'create', 'given', '--owner', 'alice', '--data', data])]
    expect(created).toMatchObject({ name: 'given', role: null })
    await run('alice', 'org invite given bob reader')
    expect(await run('bob', 'org accept given --decline')).toBe('Declined given.\n')
    expect(await run('bob', 'org accept')).toBe('0 to accept.\n')
    expect(await run('root', 'org list --all')).toContain('given  no member')
    expect(await run('bob', 'org create given')).toMatch(/^1 .*already taken/)
  })

  it('owns packs, including the pack of a plugin that is published for it', async () => {
    await run('alice', 'org create packers')
    await run('alice', 'org invite packers bob reader')
    await run('bob', 'org accept packers')
    expect(await run('bob', 'pack create starter --organisation packers')).toMatch(
      /^1 .*ask an owner or admin of packers for the role publisher/,
    )
    await run('alice', 'org invite packers bob publisher')
    expect(await run('bob', 'pack create starter --organisation packers')).toContain('Created the pack starter')
    expect(await run('alice', 'pack list')).toContain('starter  0 skills, by packers')
    expect(await run('bob', 'pack delete starter')).toMatch(/^1 .*this needs owner or admin/)
    expect(await run('alice', 'pack delete starter')).toContain('Deleted the pack starter')
    const plugin = await makeFolder()
    await mkdir(join(plugin, 'skills', 'plugged'), { recursive: true })
    const $schema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
    const manifest = { $schema, name: 'kit', version: '1.0.0', description: 'A kit.' }
    await writeFile(join(plugin, 'plugin.json'), JSON.stringify(manifest))
    await writeFile(join(plugin, 'skills', 'plugged', 'SKILL.md'), skillMd('plugged'))
    expect(await run('bob', `publish ${plugin} --organisation packers`)).toContain('kit')
    expect(await run('bob', 'pack show kit')).toContain('public, by packers, 1 skill')
    expect(await run('alice', `publish ${plugin} --organisation packers`)).not.toContain('refused')
  })

  it('can set a policy for new versions and require their approval', async () => {
    await run('alice', 'org create rules')
    await run('alice', 'org invite rules bob publisher')
    await run('bob', 'org accept rules')
    const folder = await makeFolder()
    await writeFile(join(folder, 'SKILL.md'), skillMd('ruled'))
    const policy = join(await makeFolder(), 'policy.json')
    await writeFile(policy, '{"approvals":{"count":1},"namePattern":"r*"}')
    expect(await run('bob', 'policy show rules')).toBe('rules demands nothing of new versions.\n')
    expect(await run('bob', `policy set rules ${policy}`)).toMatch(/^1 .*needs the role owner or admin/)
    const shown = 'demands of new versions:\n  approvals: {"count":1,"when":"always"}\n  namePattern: "r*"\n'
    expect(await run('alice', `policy set rules ${policy}`)).toBe(`rules ${shown}`)
    expect(await run('bob', `publish ${folder} --organisation rules`)).toContain(
      'waits for the approval of its reviewers',
    )
    const [line] = (await run('alice', 'quarantine list')).split('\n')
    expect(line).toContain('rules/ruled@1.0.0')
    expect(line).toContain('  no known sign of harm, 100 of 100, 0 findings')
    expect(line).toContain('0 of 1 approvals')
    const id = line!.split(' ')[0]!
    expect(await run('alice', `quarantine diff ${id}`)).toContain('+name: ruled')
    expect(await run('alice', `quarantine comment ${id} Why? --path SKILL.md --line 2`)).toBe(`Commented on ${id}.\n`)
    expect(await run('alice', `quarantine review ${id} changes_requested`)).toBe(
      'rules/ruled@1.0.0 has 0 of 1 approvals; changes are requested.\n',
    )
    expect(await run('bob', `quarantine show ${id}`)).toContain('alice on SKILL.md:2: Why?')
    expect(await run('bob', `quarantine review ${id} approved`)).toMatch(/^1 .*You submitted this version/)
    expect(await run('alice', `quarantine review ${id} approved`)).toBe('rules/ruled@1.0.0 is published.\n')
    await writeFile(policy, '{"licenses":["MIT"]}')
    expect(await run('alice', `policy test rules --policy ${policy}`)).toBe(
      'rules/ruled@1.0.0\n  The licence is missing; accepted are MIT.\n1 of 1 would be refused.\n',
    )
    expect(await run('alice', 'policy test rules')).toBe('0 of 1 would be refused.\n')
    await run('alice', `policy set rules/ruled ${policy}`)
    expect(await run('alice', 'policy show rules/ruled')).toContain('licenses: ["MIT"]')
    await writeFile(policy, '{"licenses":')
    expect(await run('alice', `policy set rules ${policy}`)).toMatch(/^1 .*policy\.json is not JSON/)
  })
})

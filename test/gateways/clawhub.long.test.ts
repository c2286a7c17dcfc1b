import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it, vi } from 'vitest'
import { makeFolder } from '../support/cli-harness.ts'
import { toPageHeaders } from '../support/clawhub-acts.ts'
import { installProgram, type NpmProgram } from '../support/npm-program.ts'
import { startNode, type Fixture } from '../support/server-harness.ts'

vi.setConfig({ testTimeout: 240_000 })

let program: NpmProgram

beforeAll(async () => {
  program = await installProgram('clawhub@0.23.3', 'clawhub')
}, 300_000)

/** A user of the program with a home and a project, whose site is a node. */
async function makeUser({ node }: Fixture) {
  const [home, project] = [await makeFolder(), await makeFolder()]
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), CLAWHUB_SITE: node.url, CLAWHUB_WORKDIR: project }
  const run = async (args: readonly string[], onText?: (printed: string) => void) => {
    const { code, stdout, stderr } = await program.run(args, { cwd: project, env, onText })
    return { code, text: `${stdout}${stderr}` }
  }
  return {
    project,
    clawhub: (...args: string[]) => run(args),
    /** Signs in; `onText` gets what the program has printed so far. */
    login: (onText: (printed: string) => void) => run(['login'], onText),
    read: (path: string) => readFile(join(project, path), 'utf8'),
  }
}

const toSkillMd = (name: string, text: string) =>
  `---\nname: ${name}\ndescription: Sorts tea leaves\n---\n# Tea\n\n${text}\n`

async function writeSkill(folder: string, name: string, text: string): Promise<string> {
  await mkdir(join(folder, 'scripts'), { recursive: true })
  await writeFile(join(folder, 'SKILL.md'), toSkillMd(name, text))
  await writeFile(join(folder, 'scripts/sort.bin'), new Uint8Array([0, 255, 1, 254]))
  return folder
}

it('clawhub searches, shows and installs skills without a key', async () => {
  const fixture = await startNode()
  const { clawhub, read } = await makeUser(fixture)
  expect(await clawhub('search', 'pdf')).toMatchObject({ code: 0, text: expect.stringMatching(/pdf v1\.0\.0 +@alice/) })
  expect((await clawhub('search', 'pd', '--prefix')).text).toContain('pdf  v1.0.0')
  expect((await clawhub('search', 'nothing', '--exact')).code).toBe(0)
  expect((await clawhub('explore')).text).toContain('pdf  v1.0.0')
  expect((await clawhub('explore', '--sort', 'downloads', '--json')).text).toContain('"slug": "pdf"')
  const shown = await clawhub('inspect', '@alice/pdf', '--files', '--versions')
  expect(shown).toMatchObject({ code: 0, text: expect.stringContaining('@alice') })
  expect(shown.text).toContain('SKILL.md')
  expect((await clawhub('inspect', 'pdf', '--file', 'SKILL.md')).text).toContain('# PDF')
  expect(await clawhub('install', 'pdf')).toMatchObject({ code: 0, text: expect.stringContaining('Installed pdf') })
  expect(await read('skills/pdf/SKILL.md')).toContain('# PDF')
  expect((await clawhub('list')).text).toContain('pdf  1.0.0')
  expect(await clawhub('install', '@alice/absent')).toMatchObject({
    code: 1,
    text: expect.stringContaining("There is no skill 'alice/absent' that you may see."),
  })
  expect((await clawhub('skill', 'verify', 'pdf')).text).toContain('"decision": "pass"')
})

it('clawhub publishes and updates skills with a key', async () => {
  const fixture = await startNode()
  const { clawhub, project, read } = await makeUser(fixture)
  expect(await clawhub('login', '--token', fixture.key)).toMatchObject({
    code: 0,
    text: expect.stringContaining('Logged in as @alice'),
  })
  expect((await clawhub('whoami')).text).toContain('alice')

  const folder = await writeSkill(join(project, 'work/tea-sorter'), 'tea-sorter', 'First.')
  expect((await clawhub('publish', folder)).text).toContain('Published tea-sorter@1.0.0')
  expect((await clawhub('publish', folder)).text).toContain('tea-sorter@1.0.0 is already published')
  expect((await clawhub('install', '@alice/tea-sorter')).code).toBe(0)
  expect(await readFile(join(project, 'skills/@alice/tea-sorter/scripts/sort.bin'))).toEqual(
    Buffer.from([0, 255, 1, 254]),
  )

  await writeSkill(folder, 'tea-sorter', 'Second.')
  expect((await clawhub('publish', folder, '--changelog', 'More tea')).text).toContain('Published tea-sorter@1.0.1')
  expect((await clawhub('update', '--all')).text).toContain('v1.0.1')
  expect(await read('skills/@alice/tea-sorter/SKILL.md')).toContain('Second.')
  expect((await clawhub('update', '--all')).text).toContain('up to date')
  expect((await clawhub('inspect', 'tea-sorter', '--versions')).text).toContain('More tea')
})

it('clawhub stars, deletes and restores skills with a key', async () => {
  const fixture = await startNode()
  const { clawhub } = await makeUser(fixture)
  await clawhub('login', '--token', fixture.key)
  for (const version of ['1.0.0', '1.0.1'])
    await fixture.api.publishSkill({ skillMd: toSkillMd('tea-sorter', version), version })
  expect((await clawhub('star', 'tea-sorter', '--yes')).text).toContain('OK. Starred tea-sorter')
  expect((await clawhub('star', 'tea-sorter', '--yes')).text).toContain('already starred')
  expect((await clawhub('unstar', '@alice/tea-sorter', '--yes')).code).toBe(0)

  expect((await clawhub('delete', 'tea-sorter', '--version', '1.0.1', '--yes')).code).toBe(0)
  expect((await fixture.api.getSkill({ name: 'tea-sorter' })).latestVersion).toBe('1.0.0')
  expect((await clawhub('undelete', 'tea-sorter', '--version', '1.0.1', '--yes')).code).toBe(0)
  expect((await clawhub('delete', '@alice/tea-sorter', '--yes')).text).toContain('OK. Deleted @alice/tea-sorter')
  expect((await fixture.api.getSkill({ name: 'tea-sorter' })).latestVersion).toBe('')
  expect(await clawhub('install', 'tea-sorter')).toMatchObject({
    code: 1,
    text: expect.stringContaining('no version to install'),
  })
  expect((await clawhub('undelete', 'tea-sorter', '--yes')).text).toContain('OK. Undeleted tea-sorter')
  expect((await fixture.api.getSkill({ name: 'tea-sorter' })).latestVersion).toBe('1.0.1')
})

it('clawhub transfers and reports skills, and shows which functions this registry lacks', async () => {
  const fixture = await startNode()
  const [alice, bob] = [await makeUser(fixture), await makeUser(fixture)]
  await alice.clawhub('login', '--token', fixture.key)
  await bob.clawhub('login', '--token', await fixture.createUser('bob'))
  expect((await alice.clawhub('transfer', 'request', 'pdf', '@bob', '--yes')).text).toContain('Transfer requested')
  expect((await bob.clawhub('transfer', 'list')).text).toContain('pdf -> @alice')
  expect((await bob.clawhub('transfer', 'accept', 'pdf', '--yes')).text).toContain('Transfer accepted')
  expect((await fixture.api.getSkill({ name: 'bob/pdf' })).author.username).toBe('bob')
  const renamed = await bob.clawhub('skill', 'rename', 'pdf', 'other', '--yes')
  expect(renamed).toMatchObject({ code: 1, text: expect.stringContaining('The name of a skill does not change here.') })
  expect(await bob.clawhub('whoami')).toMatchObject({ code: 0, text: expect.stringContaining('bob') })
})

it('clawhub signs in with a code that the user confirms on the dashboard', async () => {
  const fixture = await startNode({ requireKey: true })
  const { clawhub, login } = await makeUser(fixture)
  const headers = await toPageHeaders(fixture, fixture.key)
  let confirmed: Promise<Response> | undefined
  const done = await login((printed) => {
    const userCode = /enter code: (\S+)/.exec(printed)?.[1]
    if (!userCode || confirmed) return
    const body = JSON.stringify({ userCode, allow: true })
    confirmed = fetch(`${fixture.node.url}/api/cli/device/decide`, { method: 'POST', headers, body })
  })
  expect(await (await confirmed)?.json()).toEqual({ allowed: true })
  expect(done).toMatchObject({ code: 0, text: expect.stringContaining('Logged in as @alice') })
  expect((await clawhub('search', 'pdf')).text).toContain('pdf v1.0.0')
})

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { makeFolder } from '../support/cli-harness.ts'
import { installProgram, type NpmProgram } from '../support/npm-program.ts'
import { openNode } from '../support/server-harness.ts'
import { openTlsProxy, type TlsProxy } from '../support/tls-proxy.ts'

vi.setConfig({ testTimeout: 240_000 })

const toSkillMd = (name: string, body = 'Reads.') =>
  `---\nname: ${name}\ndescription: What ${name} does\n---\n${body}\n`
const files = [{ path: 'scripts/run.sh', content: 'echo hi\n' }]

let node: Awaited<ReturnType<typeof openNode>>
let https: TlsProxy
let git: string
let token: string
beforeAll(async () => {
  node = await openNode()
  git = `${node.node.url}/git`
  https = await openTlsProxy(node.node.port)
  for (const body of ['One.', 'Two.']) await node.api.publishSkill({ skillMd: toSkillMd('tool', body), files })
  await node.api.publishSkill({ skillMd: toSkillMd('secret'), visibility: 'private' })
  await node.api.createPack({ name: 'Basics', description: '', skills: ['alice/tool', 'alice/pdf'] })
  token = (await node.api.createShare({ name: 'alice/secret' })).token!
})
afterAll(async () => {
  await https.close()
  await node.close()
})

/** A user of a program with a home and a project. With a key, git sends it to the node. */
async function makeUser(program: NpmProgram, { key, env = {} }: { key?: string; env?: Record<string, string> } = {}) {
  const [home, project] = [await makeFolder(), await makeFolder()]
  const headers = [node.node.url, https.url].map(
    (url) => `[http "${url}/"]\n  extraHeader = Authorization: Bearer ${key}\n`,
  )
  if (key !== undefined) await writeFile(join(home, '.gitconfig'), headers.join(''))
  const clean = {
    DISABLE_TELEMETRY: '1',
    DO_NOT_TRACK: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  }
  return {
    home,
    project,
    read: (path: string) => readFile(join(project, path), 'utf8'),
    /** The paths of all files in the project, sorted. */
    async list() {
      const entries = await readdir(project, { recursive: true, withFileTypes: true })
      const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
      return paths.map((path) => path.slice(project.length + 1)).toSorted()
    },
    /** All text of the project's files. */
    async readAll() {
      const texts = (await this.list()).map((path) => readFile(join(project, path), 'latin1'))
      return (await Promise.all(texts)).join('')
    },
    async run(...args: string[]) {
      const { code, stdout, stderr } = await program.run(args, { cwd: project, env: { HOME: home, ...clean, ...env } })
      return { code, stdout, text: stdout + stderr }
    },
  }
}

/** Asserts that a command ends well. */
async function succeed(running: Promise<{ code: number; text: string; stdout: string }>) {
  const { code, text, stdout } = await running
  expect(code, text).toBe(0)
  return { text, stdout }
}

it('the npm program `skills` installs from the repositories of skills, packs and owners', async () => {
  const skills = await installProgram('skills@1.7.4', 'skills')
  const user = await makeUser(skills)
  const add = (...args: string[]) => user.run('add', ...args, '-y', '-a', 'universal')
  await succeed(add(`${git}/alice/tool.git#v1.0.0`))
  expect(await user.read('.agents/skills/tool/SKILL.md')).toBe(toSkillMd('tool', 'One.'))
  await succeed(add(`${git}/alice/tool.git`))
  expect(await user.read('.agents/skills/tool/SKILL.md')).toBe(toSkillMd('tool', 'Two.'))
  expect(await user.read('.agents/skills/tool/scripts/run.sh')).toBe('echo hi\n')
  const ofPack = await makeUser(skills)
  await succeed(ofPack.run('add', `${git}/packs/basics.git`, '-y', '-a', 'universal'))
  expect(await readdir(join(ofPack.project, '.agents/skills'))).toEqual(['pdf', 'tool'])
  const ofOwner = await makeUser(skills)
  await succeed(ofOwner.run('add', `${git}/alice.git`, '--skill', 'pdf', '-y', '-a', 'universal'))
  expect(await readdir(join(ofOwner.project, '.agents/skills'))).toEqual(['pdf'])

  const refused = await add(`${git}/alice/secret.git`)
  expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('Authentication failed') })
  const owner = await makeUser(skills, { key: node.key })
  await succeed(owner.run('add', `${git}/alice/secret.git`, '-y', '-a', 'universal'))
  expect(await owner.read('.agents/skills/secret/SKILL.md')).toBe(toSkillMd('secret'))
  expect(await owner.readAll()).not.toContain(node.key)
})

it('openskills installs from the repositories of skills and packs, and updates an installed skill', async () => {
  const openskills = await installProgram('openskills@1.5.0', 'openskills')
  const user = await makeUser(openskills)
  await node.api.publishSkill({ skillMd: toSkillMd('moving', 'One.'), files })
  for (const path of ['packs/basics.git', 'alice/moving.git'])
    await succeed(user.run('install', `${git}/${path}`, '-y'))
  expect((await user.run('list')).text).toContain('3 project, 0 global')
  expect(await user.read('.claude/skills/moving/scripts/run.sh')).toBe('echo hi\n')
  expect((await succeed(user.run('read', 'tool'))).text).toContain('Two.')
  await node.api.publishSkill({ skillMd: toSkillMd('moving', 'Two.'), files })
  await succeed(user.run('update', 'moving'))
  expect(await user.read('.claude/skills/moving/SKILL.md')).toBe(toSkillMd('moving', 'Two.'))

  const refused = await user.run('install', `${git}/alice/secret.git`, '-y')
  expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('Failed to clone repository') })
  const owner = await makeUser(openskills, { key: node.key })
  await succeed(owner.run('install', `${git}/alice/secret.git`, '-y'))
  expect(await owner.read('.claude/skills/secret/SKILL.md')).toBe(toSkillMd('secret'))
  expect(await owner.readAll()).not.toContain(node.key)
})

it('dotagents installs from repositories and discovery indexes, but only over HTTPS', async () => {
  const dotagents = await installProgram('@sentry/dotagents@1.19.0', 'dotagents')
  const makeProject = async (key?: string) => {
    const user = await makeUser(dotagents, { ...(key !== undefined && { key }), env: https.env })
    // `dotagents init` would clone a skill from GitHub.
    await writeFile(join(user.project, 'agents.toml'), 'version = 1\nagents = ["claude"]\n')
    // It looks for its own updates once a day.
    await mkdir(join(user.home, '.dotagents'))
    const checked = JSON.stringify({ lastCheck: Date.now(), latestVersion: '1.19.0' })
    await writeFile(join(user.home, '.dotagents/update-check.json'), checked)
    return user
  }
  const user = await makeProject()
  await succeed(user.run('add', `git:${https.url}/git/alice/tool.git`, '--ref', 'v1.0.0'))
  expect(await user.read('.agents/skills/tool/SKILL.md')).toBe(toSkillMd('tool', 'One.'))
  await succeed(user.run('add', `git:${https.url}/git/packs/basics.git`, 'pdf'))
  await succeed(user.run('add', `${https.url}/t/${token}`))
  expect(await user.read('.claude/skills/secret/SKILL.md')).toBe(toSkillMd('secret'))
  const { text } = await succeed(user.run('install'))
  expect(text).toContain('Installed 3 skill(s)')
  expect(await user.read('.agents/skills/tool/scripts/run.sh')).toBe('echo hi\n')
  expect(await readdir(join(user.project, '.agents/skills'))).toEqual(['pdf', 'secret', 'tool'])

  const byIndex = await makeProject()
  await succeed(byIndex.run('add', `${https.url}/alice/tool`))
  expect(await byIndex.read('.agents/skills/tool/SKILL.md')).toBe(toSkillMd('tool', 'Two.'))

  const secret = `git:${https.url}/git/alice/secret.git`
  const refused = await byIndex.run('add', secret)
  expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('Failed to clone') })
  const owner = await makeProject(node.key)
  await succeed(owner.run('add', secret))
  expect(await owner.read('.agents/skills/secret/SKILL.md')).toBe(toSkillMd('secret'))
  expect(await owner.readAll()).not.toContain(node.key)
  const plain = await owner.run('add', `git:${git}/alice/tool.git`)
  expect(plain).toMatchObject({ code: 1, text: expect.stringContaining('with https/git/ssh protocol') })
})

it('the MCP Inspector lists tools, reads pages of resources, and verifies all skills', async () => {
  const inspector = await installProgram('@modelcontextprotocol/inspector@2.12.0', 'mcp-inspector')
  const user = await makeUser(inspector)
  // Three pages of 100.
  const names = Array.from({ length: 205 }, (_, i) => `page-${i}`)
  for (const name of names) await node.api.publishSkill({ skillMd: toSkillMd(name) })
  for (const era of ['legacy', 'modern']) {
    const call = (...args: string[]) =>
      user.run('--cli', '--server-url', `${node.node.url}/mcp`, '--protocol-era', era, '--format', 'json', ...args)
    const ask = async (...args: string[]) => JSON.parse((await succeed(call(...args))).stdout) as { result: never }
    // `--strict` fails for schemas that some hosts refuse.
    const { tools } = (await ask('--method', 'tools/list', '--strict')).result as { tools: { name: string }[] }
    expect(tools.map(({ name }) => name)).toEqual(['search_skills', 'load_skill', 'list_packs', 'report_review'])
    const found = await ask('--method', 'tools/call', '--tool-name', 'load_skill', '--tool-arg', 'name=alice/tool')
    expect(JSON.stringify(found)).toContain('Two.')

    const { resources } = (await ask('--method', 'resources/list')).result as { resources: { title: string }[] }
    const titles = new Set(resources.map(({ title }) => title))
    expect(titles.size).toBe(resources.length)
    expect(names.filter((name) => !titles.has(`alice/${name}`))).toEqual([])
    expect(titles).not.toContain('alice/secret')
    const read = await ask('--method', 'resources/read', '--uri', 'skill://alice/tool/scripts/run.sh')
    expect(read.result).toMatchObject({ contents: [{ text: 'echo hi\n' }] })

    // One line for each skill, whose digests and conformance it has checked.
    const { stdout, text } = await succeed(call('--method', 'skills/list', '--verify', '--require-digests'))
    const reports = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { ok: boolean; outcome: string })
    expect(reports.filter(({ ok, outcome }) => !ok || outcome !== 'verified')).toEqual([])
    expect(reports).toHaveLength(resources.length)
    expect(text).toContain('no conformance errors')

    const secret = ['--method', 'skills/get', '--uri', 'skill://alice/secret/SKILL.md', '--verify']
    expect(await call(...secret)).toMatchObject({ code: 1, text: expect.stringContaining('No skill is served at') })
    await succeed(call(...secret, '--header', `Authorization: Bearer ${node.key}`))
  }
})

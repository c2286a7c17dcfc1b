import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { toChildEnvironment } from '../support/child-environment.ts'
import { makeFolder } from '../support/cli-harness.ts'
import { installProgram, npm, type NpmProgram } from '../support/npm-program.ts'
import { openNode } from '../support/server-harness.ts'

vi.setConfig({ testTimeout: 240_000 })

const toSkillMd = (name: string, body = 'Reads.') =>
  `---\nname: ${name}\ndescription: What ${name} does\n---\n${body}\n`
const evil = JSON.stringify({ name: 'evil', version: '9.9.9', scripts: { install: 'exit 7', postinstall: 'exit 8' } })

/** Base64 content that a scan treats as an image, and scans quickly. */
const image = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(7_500_000)]).toString('base64')

let node: Awaited<ReturnType<typeof openNode>>
beforeAll(async () => {
  node = await openNode()
  const files = [
    { path: 'package.json', content: evil },
    { path: 'binding.gyp', content: 'not a project' },
    { path: 'scripts/run.sh', content: 'echo hi\n' },
  ]
  await node.api.publishSkill({ skillMd: toSkillMd('tool'), version: '1.0.0', files })
  await node.api.publishSkill({ skillMd: toSkillMd('tool', 'Reads more.'), version: '1.1.0', files })
  await node.api.publishSkill({ skillMd: toSkillMd('secret'), version: '1.0.0', visibility: 'private' })
  await node.api.publishSkill({ skillMd: toSkillMd('old'), version: '1.0.0', deprecated: true })
  await node.api.publishSkill({ name: 'old', deprecationMessage: 'Use tool instead.' })
})
afterAll(() => node.close())

/** A project whose packages of `@alice` come from the node, with a home of its own. */
async function makeProject({ key, dependencies = {} }: { key?: string; dependencies?: Record<string, string> } = {}) {
  const [home, folder] = [await makeFolder(), await makeFolder()]
  const registry = `${node.node.url}/npm/`
  const token = key === undefined ? '' : `${registry.slice('http:'.length)}:_authToken=${key}\n`
  await mkdir(join(home, '.claude'))
  await mkdir(join(folder, '.claude'))
  await writeFile(join(folder, '.npmrc'), `@alice:registry=${registry}\n${token}`)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'project', version: '1.0.0', dependencies }))
  const env = { HOME: home, npm_config_update_notifier: 'false', npm_config_fund: 'false', DISABLE_TELEMETRY: '1' }
  return {
    folder,
    registry,
    env,
    read: (path: string) => readFile(join(folder, path), 'utf8'),
    async run(program: NpmProgram, ...args: string[]) {
      const { code, stdout, stderr } = await program.run(args, { cwd: folder, env })
      return { code, stdout, text: stdout + stderr }
    },
  }
}

describe('npm', () => {
  it('shows, installs, updates and restores packages, and runs no scripts of the packages', async () => {
    const { run, read } = await makeProject()
    const shown = JSON.parse((await run(npm, 'view', '@alice/tool', '--json')).stdout) as Record<string, unknown>
    expect(shown).toMatchObject({ name: '@alice/tool', version: '1.1.0', versions: ['1.0.0', '1.1.0'] })
    const installed = await run(npm, 'install', '@alice/tool@1.0.0', '--foreground-scripts')
    expect(installed.code, installed.text).toBe(0)
    expect(await read('node_modules/@alice/tool/SKILL.md')).toBe(toSkillMd('tool'))
    expect(await read('node_modules/@alice/tool/scripts/run.sh')).toBe('echo hi\n')
    expect(JSON.parse(await read('node_modules/@alice/tool/package.json'))).not.toHaveProperty('scripts')
    const lock = JSON.parse(await read('package-lock.json')) as { packages: Record<string, { integrity: string }> }
    expect(lock.packages['node_modules/@alice/tool']).toMatchObject({
      version: '1.0.0',
      resolved: `${node.node.url}/npm/@alice/tool/-/tool-1.0.0.tgz`,
      integrity: expect.stringMatching(/^sha512-/),
    })
    expect((await run(npm, 'outdated')).text).toContain('1.1.0')
    expect((await run(npm, 'ci')).code).toBe(0)
    expect((await run(npm, 'update')).code).toBe(0)
    expect(await read('node_modules/@alice/tool/SKILL.md')).toBe(toSkillMd('tool', 'Reads more.'))
  })

  it('warns of deprecated packages', async () => {
    const { run } = await makeProject()
    expect((await run(npm, 'install', '@alice/old')).text).toContain('Use tool instead.')
  })

  it('installs private packages only with a token', async () => {
    const without = await makeProject()
    const refused = await without.run(npm, 'install', '@alice/secret')
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('E404') })
    const { run, read } = await makeProject({ key: node.key })
    expect((await run(npm, 'install', '@alice/secret')).code).toBe(0)
    expect(await read('node_modules/@alice/secret/SKILL.md')).toBe(toSkillMd('secret'))
    const wrong = await makeProject({ key: 'ssk_wrong' })
    expect((await wrong.run(npm, 'install', '@alice/tool')).text).toContain('E401')
  })

  it('searches, pings and shows its user, and cannot publish or sign in', async () => {
    const { run, registry } = await makeProject({ key: node.key })
    const own = ['--registry', registry]
    expect((await run(npm, 'search', 'tool', ...own)).text).toContain('@alice/tool')
    expect((await run(npm, 'ping', ...own)).code).toBe(0)
    expect((await run(npm, 'whoami', ...own)).stdout.trim()).toBe('alice')
    expect((await run(npm, 'dist-tag', 'ls', '@alice/tool')).stdout).toContain('latest: 1.1.0')
    const published = await run(npm, 'publish', ...own)
    expect(published).toMatchObject({ code: 1, text: expect.stringContaining('Publish with `skillstead publish`.') })
    const login = await run(npm, 'login', ...own)
    expect(login).toMatchObject({ code: 1, text: expect.stringContaining('Create an API key') })
  })
})

it('pnpm adds public and private packages, and restores them from its lock file', async () => {
  const pnpm = await installProgram('pnpm@12.21.0', 'pnpm')
  const { run, read } = await makeProject({ key: node.key })
  const added = await run(pnpm, 'add', '@alice/tool', '@alice/secret')
  expect(added.code, added.text).toBe(0)
  expect(await read('node_modules/@alice/tool/SKILL.md')).toBe(toSkillMd('tool', 'Reads more.'))
  expect(await read('pnpm-lock.yaml')).toMatch(/'@alice\/secret@1\.0\.0':\n\s+resolution: \{integrity: sha512-/)
  expect((await run(pnpm, 'install', '--frozen-lockfile')).code).toBe(0)
})

/** Programs that refuse fresh versions, with their setting for a scope that may be fresh. */
describe.each([
  {
    specifier: 'pnpm@11.28.11',
    bin: 'pnpm',
    refused: { 'pnpm-workspace.yaml': 'minimumReleaseAge: 1440\n' },
    allowed: { 'pnpm-workspace.yaml': 'minimumReleaseAge: 1440\nminimumReleaseAgeExclude: ["@alice/*"]\n' },
    args: ['add', '@alice/tool'],
    message: 'ERR_PNPM_NO_MATURE_MATCHING_VERSION',
  },
  {
    specifier: '@yarnpkg/cli-dist@4.18.1',
    bin: 'yarn',
    refused: { 'yarn.lock': '', '.yarnrc.yml': 'SCOPE' },
    allowed: { 'yarn.lock': '', '.yarnrc.yml': 'SCOPE    npmMinimalAgeGate: 0m\n' },
    args: ['add', '@alice/tool'],
    message: 'is quarantined',
  },
  {
    specifier: 'bun@1.4.5',
    bin: 'bun',
    refused: { 'bunfig.toml': '[install]\nminimumReleaseAge = 86400\n' },
    allowed: { 'bunfig.toml': '[install]\nminimumReleaseAge = 86400\nminimumReleaseAgeExcludes = ["@alice/tool"]\n' },
    args: ['add', '@alice/tool'],
    message: 'blocked by minimum-release-age',
  },
  {
    specifier: 'deno@2.9.6',
    bin: 'deno',
    refused: { 'deno.json': '{ "nodeModulesDir": "auto" }' },
    allowed: {
      'deno.json':
        '{ "nodeModulesDir": "auto", "minimumDependencyAge": { "age": "P1D", "exclude": ["npm:@alice/*"] } }',
    },
    args: ['add', 'npm:@alice/tool'],
    message: 'minimum dependency age',
  },
])('$specifier', ({ specifier, bin, refused, allowed, args, message }) => {
  it('refuses a newly published version, by default or by a setting, unless the scope of the package is exempt', async (context) => {
    const program = await installProgram(specifier, bin, { runsScripts: true }).catch(() => undefined)
    if (!program) return context.skip(`${specifier} cannot be installed here`)
    const scope = `enableTelemetry: false\nnodeLinker: node-modules\nunsafeHttpWhitelist: ["127.0.0.1", "localhost"]\nnpmScopes:\n  alice:\n    npmRegistryServer: ${node.node.url}/npm\n`
    for (const [files, isRefused] of [
      [refused, true],
      [allowed, false],
    ] as const) {
      const { folder, run, read } = await makeProject()
      for (const [path, text] of Object.entries(files))
        await writeFile(join(folder, path), text.replace('SCOPE', scope))
      const { code, text } = await run(program, ...args)
      const installed = await read('node_modules/@alice/tool/SKILL.md').catch(() => '')
      expect(code === 0, text).toBe(!isRefused)
      expect(text.includes(message), text).toBe(isRefused)
      expect(installed).toBe(isRefused ? '' : toSkillMd('tool', 'Reads more.'))
    }
  })
})

it('skillpm installs a package and links it for the agents', async () => {
  const skillpm = await installProgram('skillpm@1.0.0', 'skillpm')
  // It calls the program `skills`, which npm finds in the project.
  const skills = await realpath(join(import.meta.dirname, '../node_modules/skills'))
  const { run, read, env } = await makeProject({ dependencies: { skills: `file:${skills}` } })
  Object.assign(env, { npm_config_ignore_scripts: 'true' })
  const installed = await run(skillpm, 'install', '@alice/tool')
  expect(installed.text).toContain('Linked @alice/tool')
  expect(await read('.agents/skills/tool/SKILL.md')).toBe(toSkillMd('tool', 'Reads more.'))
  expect(JSON.parse((await run(skillpm, 'list', '--json')).stdout)).toMatchObject([
    { name: '@alice/tool', version: '1.1.0', description: 'What tool does' },
  ])
})

it('skillkit installs the skills of an owner from the discovery index of version 0.1', async () => {
  const skillkit = await installProgram('skillkit@1.24.0', 'skillkit')
  const { run, read } = await makeProject()
  const added = await run(skillkit, 'add', `${node.node.url}/alice/old`, '--all', '--yes')
  expect(added.code, added.text).toBe(0)
  expect(await read('.claude/skills/old/SKILL.md')).toBe(toSkillMd('old'))
})

it('playbooks installs the skills of an owner from the discovery index of version 0.1', async () => {
  const { path } = await installProgram('playbooks@0.1.20', 'playbooks')
  const { folder, env, read } = await makeProject()
  // It works in a terminal alone, which `script` of util-linux provides, and ends in a menu.
  const command = `${path} add skill ${node.node.url}/alice -y -a claude-code`
  const own = toChildEnvironment({ ...env, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) })
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: folder, env: own })
  const ended = new Promise((resolve) => child.once('close', resolve).once('error', resolve))
  try {
    const installed = () => readdir(join(folder, '.agents/skills')).catch(() => [])
    await expect.poll(installed).toEqual(['old', 'pdf', 'tool'])
    await expect.poll(() => read('.agents/skills/tool/scripts/run.sh').catch(() => '')).toBe('echo hi\n')
    expect(await read('.agents/skills/tool/SKILL.md')).toBe(toSkillMd('tool', 'Reads more.'))
  } finally {
    child.kill()
    await ended
  }
})

it('an npm package with many large versions lists hashes of only the highest versions', async () => {
  for (let minor = 0; minor < 11; minor += 1) {
    const files = ['a.png', 'b.png'].map((path) => ({ path, content: image, encoding: 'base64' as const }))
    await node.api.publishSkill({ skillMd: toSkillMd('large', `Number ${minor}.`), version: `1.${minor}.0`, files })
  }
  const response = await fetch(`${node.node.url}/npm/@alice/large`)
  const { versions } = (await response.json()) as { versions: Record<string, { dist: { integrity?: string } }> }
  const hashed = Object.keys(versions).filter((version) => versions[version]!.dist.integrity !== undefined)
  // 128 MiB hold 8.9 versions of 15 MB.
  expect([Object.keys(versions).length, hashed.length]).toEqual([11, 9])
  expect(hashed).toContain('1.10.0')
  const { run } = await makeProject()
  const installed = await run(npm, 'install', '@alice/large@1.0.0')
  expect(installed.code, installed.text).toBe(0)
})

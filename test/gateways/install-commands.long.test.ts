import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listInstallers, type Installed } from '../../packages/dashboard/src/pages/skill/install-ways.ts'
import { toChildEnvironment } from '../support/child-environment.ts'
import { makeFolder, type Finished } from '../support/cli-harness.ts'
import { openNode } from '../support/server-harness.ts'

/** The programs of the commands that come from the npm registry. */
const programs = ['skills@1.7.4', 'clawhub@0.23.3']
const body = '# Tea\n\nWarm the pot.\n'
const toSkillMd = (name: string) => `---\nname: ${name}\ndescription: Makes ${name}.\n---\n${body}`

let node: Awaited<ReturnType<typeof openNode>>
let bin: string
let token: string

/** Runs a text of the install page in an empty project of a user without settings. */
async function runText(text: string): Promise<Finished & { project: string }> {
  const [project, home] = [await makeFolder(), await makeFolder()]
  await writeFile(join(project, 'package.json'), '{ "name": "project", "private": true }\n')
  const path = [bin, dirname(process.execPath), process.env['PATH']].join(delimiter)
  const env = toChildEnvironment({
    PATH: path,
    HOME: home,
    NO_COLOR: '1',
    CI: '1',
    DISABLE_TELEMETRY: '1',
    SKILLSTEAD_KEY: node.key,
    npm_config_cache: join(home, 'npm'),
  })
  return new Promise((resolve) => {
    const child = execFile('bash', ['-euc', text], { cwd: project, env, timeout: 200_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr, project }),
    )
    child.stdin!.end()
  })
}

beforeAll(async () => {
  node = await openNode()
  const files = [{ path: 'steps.md', content: 'One.\n' }]
  await node.api.publishSkill({ skillMd: toSkillMd('tea'), version: '1.0.0', files })
  await node.api.publishSkill({ skillMd: toSkillMd('tea'), version: '1.1.0', files })
  await node.api.publishSkill({ skillMd: toSkillMd('notes'), version: '1.0.0', files, visibility: 'private' })
  token = (await node.api.createShare({ name: 'notes' })).token!
  const folder = await makeFolder()
  const installed = await new Promise<string>((resolve) => {
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder, ...programs]
    execFile('npm', args, { timeout: 240_000 }, (error, _, stderr) => resolve(error ? stderr : ''))
  })
  if (installed !== '') throw new Error(`npm could not install the programs: ${installed}`)
  bin = join(folder, 'node_modules', '.bin')
  const cli = join(import.meta.dirname, '../../packages/cli/src/main.ts')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'skillstead'), `#!/bin/sh\nexec node --conditions=source ${cli} "$@"\n`)
  // The real npx looks for the program of this version in the project; here it is on the path.
  await writeFile(join(bin, 'npx'), '#!/bin/sh\nprogram=$1; shift\nexec "$program" "$@" --yes\n')
  for (const name of ['skillstead', 'npx']) await chmod(join(bin, name), 0o755)
}, 300_000)
afterAll(() => node.close())

/** Where the commands put SKILL.md, by installer. */
const places: Record<string, (name: string) => string> = {
  any: (name) => `.agents/skills/${name}`,
  'claude-code': (name) => `.claude/skills/${name}`,
  codex: (name) => `.agents/skills/${name}`,
  cursor: (name) => `.agents/skills/${name}`,
  copilot: (name) => `.agents/skills/${name}`,
  gemini: (name) => `.agents/skills/${name}`,
  openclaw: (name) => `skills/${name}`,
  clawhub: (name) => `skills/@alice/${name}`,
  skills: (name) => `.agents/skills/${name}`,
  git: (name) => `.agents/skills/${name}`,
  npm: (name) => `node_modules/@alice/${name}`,
  zip: (name) => `.agents/skills/${name}`,
}

/** `marketplaces.long.test.ts` has these large programs, and runs their commands. */
const elsewhere = /^claude |^codex /

describe.each([
  ['a public skill', 'tea', false],
  ['a private skill', 'notes', false],
  ['a private skill with a share link', 'notes', true],
])('the install page of %s', (_, short, isShared) => {
  const isPublic = short === 'tea'
  const toInstalled = (origin: string): Installed => {
    const shareToken = isShared ? token : undefined
    return { origin, name: `alice/${short}`, version: '1.0.0', isPublic, isDangerous: false, shareToken }
  }
  const installers = listInstallers(toInstalled('http://localhost'))

  it.each(installers.filter(({ id }) => id in places).map(({ id }) => id))(
    'shows commands for %s that install the version',
    async (id) => {
      const { ways } = listInstallers(toInstalled(node.node.url)).find((one) => one.id === id)!
      for (const { text } of ways.filter((way) => !elsewhere.test(way.text))) {
        const { code, stdout, stderr, project } = await runText(text)
        expect({ code, stdout, stderr }, text).toMatchObject({ code: 0 })
        const folder = join(project, places[/ clawhub /.test(text) ? 'clawhub' : id]!(short))
        expect(await readFile(join(folder, 'SKILL.md'), 'utf8'), text).toBe(toSkillMd(short))
        expect(await readFile(join(folder, 'steps.md'), 'utf8'), text).toBe('One.\n')
      }
    },
    400_000,
  )

  it('shows example code that loads the skill', async () => {
    const { text } = listInstallers(toInstalled(node.node.url)).find(({ id }) => id === 'program')!.ways[0]!
    const folder = join(import.meta.dirname, '..')
    const code = `${text}\nconsole.log(skill.metadata.version, skill.fullContent ?? skill.summary)`
    const args = ['--conditions=source', '--input-type=module', '--eval', code]
    const printed = await new Promise((resolve) => {
      const env = toChildEnvironment({ PATH: process.env['PATH']!, SKILLSTEAD_KEY: node.key })
      execFile(process.execPath, args, { cwd: folder, env }, (error, stdout, stderr) =>
        resolve(error ? stderr : stdout),
      )
    })
    expect(printed).toContain('1.0.0')
    expect(printed).toContain('Warm the pot.')
  })
})

it('the install page names only ways to install that a test runs', () => {
  const all = listInstallers({ origin: 'x', name: 'a/b', version: '1.0.0', isPublic: true, isDangerous: false })
  const untested = all.filter(({ id }) => !(id in places) && id !== 'program')
  expect(untested.flatMap(({ ways }) => ways).filter(({ text }) => !elsewhere.test(text))).toEqual([])
})

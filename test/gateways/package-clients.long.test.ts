import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, type TestContext, vi } from 'vitest'
import { makeFolder } from '../support/cli-harness.ts'
import { sample } from '../support/long.ts'
import { installProgram, npm, type NpmProgram } from '../support/npm-program.ts'
import { openNode } from '../support/server-harness.ts'
import { describeSkopeo, runSkopeo } from '../support/skopeo.ts'
import { type Arrived, publishWhole, readArrived, toWhole, toWholeInGit, withoutModes } from '../support/whole-skill.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let node: Awaited<ReturnType<typeof openNode>>
beforeAll(async () => {
  node = await openNode({ rates: 'off' })
  await publishWhole(node.api, 'whole')
})
afterAll(() => node.close())

/** A user of a program with a home and a project. */
interface User {
  readonly home: string
  readonly project: string
  run(...args: string[]): Promise<void>
}

/** Installs a program for a user; skips the test by name where it cannot be had. */
async function makeUser(context: TestContext, specifier: string, bin: string): Promise<User> {
  const program: NpmProgram | undefined =
    specifier === 'npm' ? npm : await installProgram(specifier, bin, { runsScripts: true }).catch(() => undefined)
  if (!program) return context.skip(`${specifier} cannot be installed here`)
  const [home, project] = [await makeFolder(), await makeFolder()]
  const env = {
    HOME: home,
    CODEX_HOME: home,
    CLAWHUB_SITE: node.node.url,
    CLAWHUB_WORKDIR: project,
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    npm_config_update_notifier: 'false',
    YARN_ENABLE_TELEMETRY: '0',
  }
  return {
    home,
    project,
    async run(...args) {
      const { code, stdout, stderr } = await program.run(args, { cwd: project, env })
      expect(code, `${args.join(' ')}: ${stdout}${stderr}`).toBe(0)
    },
  }
}

const yarnSettings = () =>
  [
    'nodeLinker: node-modules',
    'unsafeHttpWhitelist: ["127.0.0.1", "localhost"]',
    'npmScopes:',
    '  alice:',
    '    npmMinimalAgeGate: 0m',
    `    npmRegistryServer: ${node.node.url}/npm`,
  ].join('\n')

/** npm takes a `.gitignore` for an `.npmignore`, and drops it where a package has both. */
const asNpm = (all: Arrived) => Object.fromEntries(Object.entries(all).filter(([path]) => path !== '.gitignore'))

interface Manager {
  readonly specifier: string
  readonly bin: string
  readonly args: readonly string[]
  readonly settings?: () => Record<string, string>
  readonly arrives?: (published: Arrived) => Arrived
}

const managers: readonly Manager[] = [
  { specifier: 'npm', bin: 'npm', args: ['install', '@alice/whole'], arrives: asNpm },
  { specifier: 'pnpm@11.28.11', bin: 'pnpm', args: ['add', '@alice/whole'] },
  { specifier: 'pnpm@12.21.0', bin: 'pnpm', args: ['add', '@alice/whole'] },
  { specifier: 'yarn@1.22.22', bin: 'yarn', args: ['add', '@alice/whole'] },
  {
    specifier: '@yarnpkg/cli-dist@4.18.1',
    bin: 'yarn',
    args: ['add', '@alice/whole'],
    settings: () => ({ 'yarn.lock': '', '.yarnrc.yml': yarnSettings() }),
  },
  { specifier: 'bun@1.4.5', bin: 'bun', args: ['add', '@alice/whole'] },
  {
    specifier: 'deno@2.9.6',
    bin: 'deno',
    args: ['add', '--min-dep-age=0', 'npm:@alice/whole'],
    settings: () => ({ 'deno.json': '{ "nodeModulesDir": "auto" }' }),
  },
]

it.for(sample(managers, 3))(
  'a package manager installs the published bytes and file modes: $specifier',
  async ({ specifier, bin, args, settings, arrives = (all) => all }, context) => {
    const user = await makeUser(context, specifier, bin)
    const files = {
      '.npmrc': `@alice:registry=${node.node.url}/npm/\n`,
      'package.json': '{ "name": "project", "version": "1.0.0" }',
      ...settings?.(),
    }
    for (const [path, text] of Object.entries(files)) await writeFile(join(user.project, path), text)
    await user.run(...args)
    const found = await readArrived(join(user.project, 'node_modules/@alice/whole'), ['package.json'])
    expect(found).toEqual(arrives(toWhole('whole')))
  },
)

interface Installer {
  readonly source: string
  readonly specifier: string
  readonly bin: string
  /** Commands with addresses of the node. */
  readonly commands: readonly (readonly string[])[]
  readonly place: (user: User) => string
  readonly arrived: () => Arrived
  /** What the program adds, or copies with the repository. */
  readonly more?: readonly string[]
}

const universal = ['-y', '-a', 'universal']
const installers: readonly Installer[] = [
  {
    source: 'its API, without modes',
    specifier: 'clawhub@0.23.3',
    bin: 'clawhub',
    commands: [['install', '@alice/whole']],
    place: ({ project }) => join(project, 'skills/@alice/whole'),
    arrived: () => withoutModes(toWhole('whole')),
    more: ['.clawhub'],
  },
  {
    source: 'an index, without modes',
    specifier: 'skills@1.7.4',
    bin: 'skills',
    commands: [['add', 'NODE/alice/whole', ...universal]],
    place: ({ project }) => join(project, '.agents/skills/whole'),
    arrived: () => withoutModes(toWhole('whole')),
  },
  {
    source: 'the repository of an owner',
    specifier: 'skills@1.7.4',
    bin: 'skills',
    commands: [['add', 'NODE/git/alice.git', '--skill', 'whole', ...universal]],
    place: ({ project }) => join(project, '.agents/skills/whole'),
    arrived: () => toWholeInGit('whole'),
  },
  {
    source: 'the repository of a skill',
    specifier: 'skills@1.7.4',
    bin: 'skills',
    commands: [['add', 'NODE/git/alice/whole.git', ...universal]],
    place: ({ project }) => join(project, '.agents/skills/whole'),
    arrived: () => toWholeInGit('whole'),
    more: ['.gitattributes'],
  },
  {
    source: 'the repository of a skill',
    specifier: 'openskills@1.5.0',
    bin: 'openskills',
    commands: [['install', 'NODE/git/alice/whole.git', '-y']],
    place: ({ project }) => join(project, '.claude/skills/whole'),
    arrived: () => toWholeInGit('whole'),
    more: ['.git', '.gitattributes', '.openskills.json'],
  },
  {
    // The skill has a folder `bin`, so that it is in the plugin of all skills only.
    source: 'the plugin of an owner',
    specifier: '@anthropic-ai/claude-code@2.1.330',
    bin: 'claude',
    commands: [
      ['plugin', 'marketplace', 'add', 'NODE/git/alice.git'],
      ['plugin', 'install', 'alice@alice'],
    ],
    place: ({ home }) => join(home, '.claude/plugins/cache'),
    arrived: () => toWholeInGit('whole'),
  },
  {
    source: 'the plugin of a skill',
    specifier: '@openai/codex@0.169.0',
    bin: 'codex',
    commands: [
      ['plugin', 'marketplace', 'add', 'NODE/git/alice.git'],
      ['plugin', 'add', 'whole@alice'],
    ],
    place: ({ home }) => join(home, 'plugins/cache'),
    arrived: () => toWholeInGit('whole'),
  },
]

/** The folder of the skill at or below a folder. */
async function findWhole(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const places = entries.filter(({ name }) => name === 'SKILL.md').map(({ parentPath }) => parentPath)
  const found = places.find((place) => existsSync(join(place, 'assets/all.bin')))
  expect(found, `a folder of the skill below ${folder}`).toBeDefined()
  return found!
}

it.for(sample(installers, 3))(
  'an installer installs the published bytes: $specifier from $source',
  async ({ specifier, bin, commands, place, arrived, more }, context) => {
    const user = await makeUser(context, specifier, bin)
    for (const command of commands) await user.run(...command.map((word) => word.replace('NODE', node.node.url)))
    expect(await readArrived(await findWhole(place(user)), more)).toEqual(arrived())
  },
)

describeSkopeo('Skopeo', () => {
  it('copies a layer that tar unpacks to the published bytes and file modes', async () => {
    const folder = await makeFolder()
    const reference = `${node.node.url.replace('http://', 'docker://')}/alice/whole:1.0.0`
    const copied = await runSkopeo(folder, ['copy', '--src-tls-verify=false', reference, 'dir:copy'])
    expect(copied, copied.stderr).toMatchObject({ code: 0 })
    const manifest = await readFile(join(folder, 'copy/manifest.json'), 'utf8')
    const [layer] = (JSON.parse(manifest) as { layers: [{ digest: string }] }).layers
    execFileSync('tar', ['-xzf', join('copy', layer.digest.slice('sha256:'.length))], { cwd: folder })
    expect(await readArrived(join(folder, 'whole'))).toEqual(toWhole('whole'))
  })
})

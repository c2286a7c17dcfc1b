import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@skillstead/client'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { writeUnscoped } from '../../packages/cli/packing/release/pack-all.ts'
import { skillMd } from '../support/answers.ts'
import {
  findOldNode,
  folders,
  install,
  listFiles,
  nodes,
  packAll,
  readExamples,
  readManifest,
} from '../support/packages.ts'

const run = promisify(execFile)
const tsc = join(import.meta.dirname, '../node_modules/typescript/bin/tsc')
const compilerOptions = {
  target: 'es2024',
  // h3's own types need the newest.
  lib: ['esnext', 'dom'],
  types: ['node'],
  strict: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  noEmit: true,
}
const resolutions = [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'preserve', moduleResolution: 'bundler' },
]

let scratch: string
let consumer: string
let tarballs: string[]

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'skillstead-packages-'))
  consumer = join(scratch, 'consumer')
  tarballs = await packAll(scratch)
  await install(tarballs, consumer)
  await cp(join(import.meta.dirname, '../fixtures/consumer/main.ts'), join(consumer, 'main.ts'))
  await writeFile(join(consumer, 'entries.ts'), await importEverything())
  await Promise.all(
    resolutions.map((resolution) => {
      const options = { compilerOptions: { ...compilerOptions, ...resolution } }
      return writeFile(join(consumer, `${resolution.moduleResolution}.json`), JSON.stringify(options))
    }),
  )
}, 300_000)
afterAll(() => rm(scratch, { recursive: true, force: true }))

const installed = async (folder: string) => {
  const { name } = await readManifest(join(import.meta.dirname, '../../packages', folder))
  return join(consumer, 'node_modules', name)
}

/** Adds the folders of a package and of what it depends on, and returns them. */
async function listInstalled(folder: string, found = new Set<string>()): Promise<ReadonlySet<string>> {
  if (found.has(folder)) return found
  found.add(folder)
  const { dependencies = {} } = await readManifest(folder)
  for (const name of Object.keys(dependencies)) {
    const manifest = findPackageJSON(name, pathToFileURL(join(folder, 'index.js')))!
    await listInstalled(await realpath(dirname(manifest)), found)
  }
  return found
}

async function measure(folder: string): Promise<number> {
  const sizes = (await listFiles(folder)).map(async (path) => (await stat(join(folder, path))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** The compiler errors of a program that uses the packages; '' for none. */
function compile(node: string, resolution: string, options: readonly string[]): Promise<string> {
  const args = [tsc, '-p', join(consumer, `${resolution}.json`), ...options]
  return run(node, args).then(
    ({ stdout }) => stdout,
    ({ stdout, message }: { stdout?: string; message: string }) => stdout || message,
  )
}

/** How many types the compiler makes of generic ones for a program of one file. */
async function countTypes(program: string, code: string): Promise<number> {
  await writeFile(join(consumer, `${program}.ts`), code)
  const settings = { extends: './nodenext.json', files: [`${program}.ts`] }
  await writeFile(join(consumer, `${program}.json`), JSON.stringify(settings))
  const output = await compile(process.execPath, program, ['--skipLibCheck', 'false', '--extendedDiagnostics'])
  return Number(/^Instantiations: +(\d+)$/m.exec(output)?.[1])
}

/** A program that imports every entry point of the packed packages, and prints those without exports. */
async function importEverything(): Promise<string> {
  const manifests = await Promise.all(folders.map(async (folder) => readManifest(await installed(folder))))
  const entries = manifests.flatMap(({ name, exports = {} }) =>
    Object.keys(exports)
      .filter((key) => key !== './threads/*')
      .map((key) => name + key.slice(1)),
  )
  const imports = entries.map((entry, index) => `import * as entry${index} from '${entry}'\n`)
  const rows = entries.map((entry, index) => `  '${entry}': entry${index},\n`)
  return `${imports.join('')}
const entries: Record<string, object> = {\n${rows.join('')}}
console.log(JSON.stringify(Object.keys(entries).filter((entry) => Object.keys(entries[entry] ?? {}).length > 0)))
`
}

/** The environment of a machine with this Node. */
const envOf = (node: string) => ({ ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` })

/** A node that the installed command serves from an empty folder, and the code to set it up with. */
async function serveInstalled(env: NodeJS.ProcessEnv, folder: string): Promise<{ url: string; setupCode: string }> {
  await mkdir(folder)
  const command = join(consumer, 'node_modules/.bin/skillstead')
  const child = spawn(command, ['serve', '--data', 'data', '--port', '0', '--json'], { cwd: folder, env })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer | number | null]
  return JSON.parse(String(line)) as { url: string; setupCode: string }
}

async function setUp({ url, setupCode }: { url: string; setupCode: string }): Promise<{ key: string }> {
  return createClient({ baseUrl: url }).setUp({ username: 'alice', code: setupCode })
}

describe.each(folders)('the packed package of %s', (folder) => {
  it('has no publint warnings', async () => {
    const tarball = await readFile(tarballs[folders.indexOf(folder)]!)
    const { messages, pkg } = await publint({
      pack: { tarball: new Uint8Array(tarball).buffer },
      strict: true,
    })
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
  })

  it('depends on versions instead of the workspace, and refers to no source files', async () => {
    const manifest = await readManifest(await installed(folder))
    const workspace = await readManifest(join(import.meta.dirname, '../../packages', folder))
    const ours = Object.entries(manifest.dependencies ?? {}).filter(([name]) => name.startsWith('@skillstead/'))
    expect(ours.map(([, range]) => range)).toEqual(ours.map(() => workspace.version))
    expect(JSON.stringify(manifest)).not.toMatch(/workspace:|"source"|"scripts"|\/src\//)
    const { './threads/*': threads, ...entries } = manifest.exports ?? {}
    expect(threads).toEqual(folder === 'core' ? { default: './dist/threads/*' } : undefined)
    for (const conditions of Object.values(entries)) expect(Object.keys(conditions)).toEqual(['types', 'default'])
  })

  it('contains its code, its types, the licence and a README that names its entry points, and no development files', async () => {
    const files = await listFiles(await installed(folder))
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']))
    const others = files.filter((path) => !/^dist\/.*\.(?:js|d\.ts)$|^(?:examples\/skills|dashboard)\//.test(path))
    expect(others.filter((path) => path !== 'licenses.md').toSorted()).toEqual(['LICENSE', 'README.md', 'package.json'])

    const { name, exports = {} } = await readManifest(await installed(folder))
    const entries = Object.values(exports).flatMap((conditions) => Object.values(conditions))
    const named = entries.filter((path) => !path.includes('*')).map((path) => path.slice(2))
    expect(files).toEqual(expect.arrayContaining(named))
    const readme = await readFile(join(await installed(folder), 'README.md'), 'utf8')
    expect(Object.keys(exports).filter((key) => !readme.includes(name + key.slice(1)))).toEqual([])
  })
})

it('the packages with the database require the same Node version as the command', async () => {
  const check = await readFile(join(await installed('core'), 'dist/kernel/check-node.js'), 'utf8')
  const [, version] = /needs Node ([\d.]+) or later/.exec(check)!
  for (const folder of ['core', 'server', 'mirror', 'cli']) {
    expect((await readManifest(await installed(folder))).engines).toEqual({ node: `>=${version}` })
  }
})

const old = await findOldNode()
describe.skipIf(!old)(`under Node ${old?.version ?? 'below 22, of which this machine has none'}`, () => {
  it('the command reports the required version in one sentence, and loads no other code', async () => {
    const main = join(await installed('cli'), 'dist/main.js')
    const refusal = await run(old!.path, [main, 'serve']).catch((error: object) => error)
    const stderr = `Skillstead needs Node 22.14 or later; this is Node ${old!.version}.\n`
    expect(refusal).toMatchObject({ code: 1, stdout: '', stderr })
  })

  it.each(['@skillstead/core', '@skillstead/core/internal'])(
    'an import of %s throws an error that states the required version',
    async (entry) => {
      const program = `await import('${entry}').catch((error) => console.log(error.message))`
      const { stdout } = await run(old!.path, ['--input-type=module', '--eval', program], { cwd: consumer })
      expect(stdout).toBe(`Skillstead needs Node 22.14 or later; this is Node ${old!.version}.\n`)
    },
  )
})

describe('the packed packages together', { timeout: 120_000 }, () => {
  it('contain their workers, the dashboard and the example skills', async () => {
    const core = await listFiles(await installed('core'))
    const sources = await Promise.all(
      ['core', 'scanner'].map((folder) => listFiles(join(import.meta.dirname, '../../packages', folder, 'src'))),
    )
    const workers = sources.flat().filter((path) => path.endsWith('-worker.ts'))
    expect(workers.length).toBeGreaterThan(4)
    expect(core).toEqual(expect.arrayContaining(workers.map((path) => `dist/threads/${basename(path, '.ts')}.js`)))
    const cli = await listFiles(await installed('cli'))
    expect(cli.filter((path) => path.endsWith('/SKILL.md')).length).toBeGreaterThan(8)
    expect(cli).toEqual(expect.arrayContaining(['dashboard/index.html', 'dashboard/licenses.md']))
    const main = await readFile(join(await installed('cli'), 'dist/main.js'), 'utf8')
    expect(main.startsWith('#!/usr/bin/env node\n')).toBe(true)
  })

  it('contain few modules, and the licenses of the packages that are bundled', async () => {
    // Each command is a module that is loaded on use.
    const commands = await listFiles(join(import.meta.dirname, '../../packages/cli/src/commands'))
    for (const folder of folders) {
      const files = await listFiles(await installed(folder))
      const modulesMax = folder === 'cli' ? commands.length + 80 : 25
      expect(files.filter((path) => /^dist\/[^/]*\.js$/.test(path)).length).toBeLessThan(modulesMax)
    }
    const licenses = await readFile(join(await installed('core'), 'licenses.md'), 'utf8')
    expect(licenses).toMatch(/^## kysely .* \(MIT\)\n\n +The MIT License/m)
  })

  it('contain a package without a scope, which only runs the command of the same version', async () => {
    const folder = join(consumer, 'node_modules/skillstead')
    await mkdir(folder)
    await writeUnscoped(folder)
    const { name, version, dependencies } = await readManifest(folder)
    expect([name, dependencies]).toEqual(['skillstead', { '@skillstead/cli': version }])
    const { messages, pkg } = await publint({ pkgDir: folder, strict: true, pack: false })
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
    const main = join(folder, 'main.js')
    expect(await run(main, ['--version'], { env: envOf(nodes[0]!.path) })).toEqual({
      stdout: `${version}\n`,
      stderr: '',
    })
    const failed = await run(main, ['fly'], { env: envOf(nodes[0]!.path) }).catch((error: object) => error)
    expect(failed).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining("Unknown command 'fly'") })
  })

  it.each([
    ['core', 10, 40],
    ['cli', 60, 55],
  ] as const)('%s installs at most %i packages and %i MB', async (folder, packagesMax, megabytesMax) => {
    const found = await listInstalled(await realpath(await installed(folder)))
    expect(found.size).toBeLessThanOrEqual(packagesMax)
    const sizes = await Promise.all([...found].map(measure))
    expect(sizes.reduce((sum, size) => sum + size, 0) / 1e6).toBeLessThanOrEqual(megabytesMax)
  })

  it('have READMEs whose programs compile, and valid type declarations', async () => {
    for (const folder of folders) {
      for (const [index, code] of (await readExamples(folder)).entries()) {
        await writeFile(join(consumer, `readme-${folder}-${index}.ts`), code)
      }
    }
    expect(await compile(process.execPath, 'nodenext', ['--skipLibCheck', 'false'])).toBe('')
  })

  it.each(['protocol', 'client', 'core'])('add few types to check to a program that imports %s', async (name) => {
    const imported = await countTypes(
      `imports-${name}`,
      `import * as all from '@skillstead/${name}'\nconsole.log(all)\n`,
    )
    // Without the types of Node. Those of the libraries for schemas or databases alone would be as many again.
    expect(imported - (await countTypes('imports-nothing', 'export {}\n'))).toBeLessThan(260_000)
  })

  for (const { major, path } of nodes) {
    const there = existsSync(path)
    describe.skipIf(!there)(`under Node ${major}${there ? '' : ', which is not installed'}`, () => {
      it.each(resolutions)('type check with moduleResolution $moduleResolution', async ({ moduleResolution }) => {
        expect(await compile(path, moduleResolution, ['--skipLibCheck'])).toBe('')
      })

      it('export every entry point, run a registry, and start the command line', async () => {
        expect((await run(path, ['--version'])).stdout).toMatch(`v${major}.`)
        const given = JSON.parse((await run(path, ['entries.ts'], { cwd: consumer })).stdout) as string[]
        expect(given).toEqual(expect.arrayContaining(['@skillstead/client/verify', '@skillstead/skill-format']))
        const program = await run(path, ['main.ts'], { cwd: consumer })
        expect(program.stdout).toBe('the consumer is content\n')

        const main = join(await installed('cli'), 'dist/main.js')
        const data = join(scratch, `data-${major}`)
        const { stdout } = await run(path, [main, 'examples', '--data', data, '--json'])
        expect(stdout).toContain('skillstead/release-checklist')
      })

      it('serve a node with `npx skillstead` that shows the dashboard, and publish and find a skill', async () => {
        const env = envOf(path)
        const { version } = await readManifest(join(import.meta.dirname, '../../packages/cli'))
        const asked = await run('npx', ['--no', '--', 'skillstead', '--version'], { cwd: consumer, env })
        expect(asked.stdout).toBe(`${version}\n`)

        const node = await serveInstalled(env, join(scratch, `served-${major}`))
        expect(await (await fetch(node.url)).text()).toContain('/assets/')
        const { key } = await setUp(node)
        const files = [{ path: 'notes.md', content: 'Steep it.\n'.repeat(1000) }]
        await createClient({ baseUrl: node.url, apiKey: key }).publishSkill({ skillMd: skillMd('tea'), files })
        const { skills } = await createClient({ baseUrl: node.url }).searchSkills({ q: 'tea' })
        expect(skills).toMatchObject([{ fullName: 'alice/tea', securityScore: 100 }])
      })
    })
  }
})

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { youngFlag } from '../../packages/cli/src/engine-flags.ts'
import { toChildEnvironment } from '../support/child-environment.ts'
import { makeFolder, type Finished } from '../support/cli-harness.ts'

const root = join(import.meta.dirname, '../..')
const message = /^Installing the packages of /m

interface Clone {
  readonly folder: string
  /** Runs the launcher, which is a link in the caller's `bin` to a link to the clone's file. */
  run(args: readonly string[]): Promise<Finished>
  /** How many times the launcher installed. */
  countInstalls(): Promise<number>
}

/** A clone with the launcher and the sources of the command line, a caller's folder, and an `npx` without a network. */
async function makeClone({
  install = 'true',
  variables = {},
}: { install?: string; variables?: Record<string, string> } = {}): Promise<Clone> {
  const top = await makeFolder()
  const [folder, caller, bin] = ['a clone', 'caller', 'bin'].map((name) => join(top, name)) as [string, string, string]
  await Promise.all([mkdir(join(folder, 'packages/cli/clone'), { recursive: true }), mkdir(caller), mkdir(bin)])
  for (const path of [
    'skillstead',
    'packages/cli/clone/install-serving.js',
    'packages/cli/clone/main.js',
    'packages/cli/clone/program.js',
    'packages/cli/package.json',
  ])
    await copyFile(join(root, path), join(folder, path))
  await symlink(join(root, 'packages/cli/src'), join(folder, 'packages/cli/src'))
  for (const name of ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'])
    await writeFile(join(folder, name), '{ "type": "module" }\n')
  const link = `mkdir -p node_modules/.bin && ln -sf '${process.execPath}' node_modules/.bin/node`
  const npx = `#!/bin/sh\necho "$@" >>'${top}/installs'\necho 'Noise.'\n${install} && ${link}\n`
  await writeFile(join(bin, 'npx'), npx, { mode: 0o755 })
  await symlink(join(folder, 'skillstead'), join(bin, 'linked'))
  await symlink('linked', join(bin, 'skillstead'))
  await mkdir(join(caller, 'my skill'))
  await writeFile(join(caller, 'my skill/SKILL.md'), '---\nname: my-skill\ndescription: Sorts notes.\n---\n# Notes\n')
  const env = toChildEnvironment({ ...variables, PATH: [bin, process.env['PATH']].join(delimiter) })
  return {
    folder,
    run: (args) =>
      new Promise((resolve) => {
        execFile(join(bin, 'skillstead'), args, { cwd: caller, env }, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        )
      }),
    countInstalls: async () =>
      (await readFile(join(top, 'installs'), 'utf8').catch(() => '')).split('\n').filter(Boolean).length,
  }
}

describe.skipIf(process.platform === 'win32')('the launcher of a clone', () => {
  it('runs in the working directory of the caller, also through links, and passes on arguments and exit codes', async () => {
    const { run } = await makeClone()
    const found = await run(['scan', 'my skill', '--json'])
    expect(found).toMatchObject({ code: 0, stderr: expect.stringMatching(message) })
    expect(JSON.parse(found.stdout)).toMatchObject({ verdict: 'safe' })
    const missing = await run(['scan', 'no such skill'])
    expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('no such skill') })
  })

  it('installs again only when the lockfile or a manifest changed', async () => {
    const { folder, run, countInstalls } = await makeClone()
    const version = { code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) }
    expect(await run(['--version'])).toMatchObject({ ...version, stderr: expect.stringMatching(message) })
    expect(await run(['--version'])).toMatchObject({ ...version, stderr: '' })
    expect(await countInstalls()).toBe(1)
    const inputs = ['pnpm-lock.yaml', 'packages/cli/package.json'].map((name) => join(folder, name))
    const later = new Date(Date.now() + 60_000)
    for (const [index, path] of inputs.entries()) {
      await writeFile(path, `${await readFile(path, 'utf8')}\n`)
      await utimes(path, later, later)
      expect(await run(['--version'])).toMatchObject({ ...version, stderr: expect.stringMatching(message) })
      expect(await countInstalls()).toBe(2 + index)
    }
    // This simulates a checkout that writes the same bytes again.
    await utimes(inputs[0]!, later, later)
    expect(await run(['--version'])).toMatchObject({ ...version, stderr: '' })
    expect(await countInstalls()).toBe(3)
  })

  it('notices a changed lockfile even if the clock was ahead during the last install', async () => {
    const { folder, run, countInstalls } = await makeClone()
    const stamp = join(folder, 'node_modules/.skillstead-installed')
    await run(['--version'])
    // As if the lockfile was written while the clock was an hour ahead.
    const ahead = new Date(Date.now() + 3_600_000)
    await utimes(stamp, ahead, ahead)
    await writeFile(join(folder, 'pnpm-lock.yaml'), '{}\n')
    expect(await run(['--version'])).toMatchObject({ code: 0, stderr: expect.stringMatching(message) })
    expect(await run(['--version'])).toMatchObject({ code: 0, stderr: '' })
    expect(await countInstalls()).toBe(2)
    // The time of the install itself, which a wrong clock gives, does not count.
    expect((await stat(stamp)).mtimeMs).toBeCloseTo((await stat(join(folder, 'pnpm-lock.yaml'))).mtimeMs, -1)
  })

  it('exits if the install fails, and repeats the install the next time', async () => {
    const { run, countInstalls } = await makeClone({ install: 'false' })
    for (const count of [1, 2]) {
      const failed = await run(['--version'])
      expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('could not be installed') })
      expect(await countInstalls()).toBe(count)
    }
  })

  it('tries once more if an install is silent for too long, and then exits with advice', async () => {
    const variables = { npm_config_fetch_timeout: '700' }
    const stop = 'if [ ! -e stalled ]; then touch stalled; sleep 600; fi'
    const recovered = await makeClone({ install: stop, variables })
    const { code, stderr } = await recovered.run(['--version'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('Nothing arrived for 2.1 s: trying once more')])
    expect(await recovered.countInstalls()).toBe(2)
    const stuck = await makeClone({ install: 'sleep 600', variables })
    const failed = await stuck.run(['--version'])
    expect(failed).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^The packages could not be .*HTTPS_PROXY/m),
    })
    expect(await stuck.countInstalls()).toBe(2)
  })

  it('checks packages against the Node version that the project pins, not the Node of the machine', async () => {
    const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      devDependencies: { node: string }
    }
    const settings = await readFile(join(root, 'pnpm-workspace.yaml'), 'utf8')
    expect(settings.split('\n')).toContain(`nodeVersion: ${devDependencies.node}`)
  })

  it('gives advice while a download stalls, and exits when npm gives up', { timeout: 120_000 }, async () => {
    const registry = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(registry, 'listening')
    onTestFinished(() => {
      registry.closeAllConnections()
      registry.close()
    })
    const { port } = registry.address() as AddressInfo
    const variables = {
      npm_config_registry: `http://127.0.0.1:${port}`,
      npm_config_cache: await makeFolder(),
      npm_config_fetch_timeout: '15000',
      npm_config_fetch_retries: '0',
    }
    const { run } = await makeClone({ install: 'npm view node', variables })
    const { code, stderr } = await run(['--version'])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^Still waiting for packages, or for Node itself, .* set HTTPS_PROXY, .* npm_config_registry\.$/m,
    )
    expect(stderr).toMatch(/^The packages could not be installed\. .* set HTTPS_PROXY/m)
  })
})

it('a clone is built again after each change of a source, even if the clock was ahead at an earlier change', async () => {
  const folder = await makeFolder()
  const [program, older] = [join(folder, 'packages/cli/clone/program.js'), join(folder, 'packages/cli/src/older.ts')]
  await Promise.all([program, older].map((path) => mkdir(dirname(path), { recursive: true })))
  await copyFile(join(root, 'packages/cli/clone/program.js'), program)
  await writeFile(older, 'export const first = 1\n')
  await writeFile(join(dirname(older), 'ahead.ts'), '')
  // The time of an inode cannot be set.
  const script = `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { lstatSync } = fs
    fs.lstatSync = (path, options) => {
      const found = lstatSync(path, options)
      return path.endsWith('ahead.ts') ? Object.assign(found, { ctimeMs: Date.now() + 3_600_000 }) : found
    }
    syncBuiltinESMExports()
    const { toBuild } = await import(${JSON.stringify(pathToFileURL(program).href)})
    const build = toBuild()
    fs.writeFileSync(${JSON.stringify(older)}, 'export const other = 2\\n')
    console.log(JSON.stringify([build, toBuild()]))`
  const options = { env: toChildEnvironment() }
  const child = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], options)
  const [before, after] = JSON.parse(child.stdout) as [string, string]
  expect(after).not.toBe(before)
})

it('scripts that install Node do not call `node` afterwards, because the shell caches its old path', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: object }
  const after = Object.values(scripts).filter((script: string) => script.includes('install-serving.js &&'))
  expect(after.length).toBeGreaterThan(0)
  expect(after.filter((script: string) => / && node /.test(script))).toEqual([])
})

it('starts of a clone keep the young generation of V8 from shrinking, which would slow down nodes', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: object }
  const starts = [await readFile(join(root, 'skillstead'), 'utf8'), ...Object.values(scripts)]
    .flatMap((text: string) => text.split('\n'))
    .filter((line) => line.includes('cli/clone/main.js'))
  expect(starts).toHaveLength(3)
  for (const line of starts) expect(line).toContain(` ${youngFlag} `)
})

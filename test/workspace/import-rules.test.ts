import { existsSync, globSync, readFileSync, readdirSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gatewayNames } from '@skillstead/gateways'
import { findFileCycles, findFolderCycles } from '../support/folder-cycles.ts'
import { tables } from '../../packages/core/src/storage/tables.ts'

interface Import {
  /** Below `packages`, as in `core/src/index.ts`. */
  readonly file: string
  /** The package of the file. */
  readonly from: string
  readonly specifier: string
  /** The package that is imported, without a path in it; '' for a file of the same package. */
  readonly name: string
}

const root = join(import.meta.dirname, '../../packages')

/** The packages that each package may import. */
const allowed: Record<string, readonly string[]> = {
  protocol: [],
  'skill-format': ['protocol'],
  client: ['protocol', 'skill-format'],
  scanner: ['protocol', 'skill-format', 'client'],
  core: ['protocol', 'skill-format', 'scanner'],
  mirror: ['protocol', 'skill-format', 'scanner', 'client', 'core'],
  maintenance: ['protocol', 'skill-format', 'core'],
  gateways: ['protocol', 'skill-format', 'core'],
  identity: ['protocol', 'core', 'gateways'],
  server: ['protocol', 'skill-format', 'client', 'core', 'gateways'],
  cli: [
    'protocol',
    'skill-format',
    'scanner',
    'client',
    'core',
    'mirror',
    'maintenance',
    'gateways',
    'identity',
    'server',
  ],
  dashboard: ['protocol', 'client'],
}

/** The folders of core, lowest first: a folder imports only lower ones. The files next to them connect the folders. */
const rooms = [
  'kernel',
  'http',
  'storage',
  'log',
  'outbox',
  'visibility',
  'search',
  'accounts',
  'catalogue',
  'webhooks',
  'community',
  'governance',
  'operator',
  'embedding',
]
const rootFiles = ['index.ts', 'internal.ts', 'local-api.ts', 'open-skills.ts', 'operations.ts', 'registry.ts']

const packages = readdirSync(root).filter((name) => existsSync(join(root, name, 'src')))
const imports = packages.flatMap((name) => readFolder(join(root, name, 'src'), name))

function readFolder(folder: string, from: string): Import[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) => readImports(join(folder, path), from))
}

function readImports(path: string, from: string): Import[] {
  const text = readFileSync(path, 'utf8')
  const pattern =
    /^\s*(?:import|export)\b[^'"]*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'",\s]+)['"]/gm
  return [...text.matchAll(pattern)].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3]!
    return { file: relative(root, path), from, specifier, name: toPackage(specifier) }
  })
}

/** The imports of the tests among themselves, by paths below `test`. */
function listTestImports(): [from: string, to: string][] {
  const folder = join(root, '../test')
  const paths = globSync('**/*.ts', { cwd: folder, exclude: ['**/node_modules', 'fixtures'] })
  return paths.flatMap((path) =>
    readImports(join(folder, path), 'test')
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }): [string, string] => [path, join(path, '..', specifier)]),
  )
}

function toPackage(specifier: string): string {
  if (specifier.startsWith('.')) return ''
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!
}

const filesWith = (passes: (found: Import) => boolean) => [...new Set(imports.filter(passes).map(({ file }) => file))]
const isBuiltin = ({ specifier }: Import) => specifier.startsWith('node:') || builtinModules.includes(specifier)

/** The imports within a package, by paths below its `src`. */
function listWithin(name: string): [from: string, to: string][] {
  const source = join(name, 'src')
  return imports
    .filter(({ from, specifier }) => from === name && specifier.startsWith('.'))
    .map(({ file, specifier }) => [relative(source, file), relative(source, join(file, '..', specifier))])
}

function listFiles(name: string): string[] {
  const paths = readdirSync(join(root, name, 'src'), { recursive: true, encoding: 'utf8' })
  return paths.filter((path) => path.endsWith('.ts')).map((path) => `${name}/src/${path}`)
}

/** The protocol that a file of the gateways belongs to: a folder or a single file. */
const protocolOf = (path: string) => path.split(/[/.]/)[0]!

/** The name of a table that a statement or a helper writes. */
const writePattern =
  /\b(?:insertInto|updateTable|deleteFrom|compileInsert(?:<[^>]*>)?)\(\s*'(\w+)|\b(?:addRow|removeRows|increment)\(\w+, '(\w+)|`(?:update|insert into|delete from) (\w+)/g

describe('the source code', () => {
  it('has imports in every package', () => {
    expect(packages.toSorted()).toEqual(Object.keys(allowed).toSorted())
    expect(packages.filter((name) => !imports.some(({ from }) => from === name))).toEqual([])
    expect(filesWith(({ name }) => name === 'kysely')).toContain('core/src/storage/database.ts')
  })

  it.each(packages)('of %s imports only packages of lower layers', (name) => {
    const rules = allowed[name]
    expect(rules, 'a package has its rules').toBeDefined()
    const taken = imports.filter(({ from, name: to }) => from === name && to.startsWith('@skillstead/'))
    const wrong = taken.filter(({ name: to }) => ![...rules!, name].includes(to.slice('@skillstead/'.length)))
    expect(wrong).toEqual([])
  })

  it('never imports from another package by a relative path', () => {
    const outside = imports.filter(({ file, from, specifier }) => {
      return specifier.startsWith('.') && !join(file, '..', specifier).startsWith(`${from}/src/`)
    })
    expect(outside).toEqual([])
  })

  it.each(packages)('of %s has no import cycle between folders, type imports included', (name) => {
    expect(listWithin(name).length).toBeGreaterThan(0)
    expect(findFolderCycles(listWithin(name))).toEqual([])
  })

  it('of each folder of core imports only from lower folders', () => {
    const folders = readdirSync(join(root, 'core/src'), { withFileTypes: true })
    const names = folders.map((entry) => entry.name)
    expect(names.toSorted()).toEqual([...rooms, ...rootFiles].toSorted())
    const upward = listWithin('core').filter(([from, to]) => {
      const [lower, upper] = [from, to].map((path) => rooms.indexOf(path.split('/')[0]!))
      return lower !== -1 && (upper === -1 || upper! > lower!)
    })
    expect(upward).toEqual([])
  })

  it.each(packages)('of %s has no import cycle between files, type imports included', (name) => {
    expect(findFileCycles(listWithin(name))).toEqual([])
  })

  it('of the tests has no import cycle between files, type imports included', () => {
    const found = listTestImports()
    expect(found.map(([, to]) => to)).toContain('support/harness.ts')
    expect(findFileCycles(found)).toEqual([])
  })

  it('of migrations imports nothing that a later release may change', () => {
    const frozen = new Set(['kysely', '../dialect.ts', './migration.ts'])
    const found = imports.filter(({ file }) => file.startsWith('core/src/storage/migrations/'))
    expect(found.length).toBeGreaterThan(20)
    expect(found.filter(({ specifier }) => !frozen.has(specifier))).toEqual([])
  })

  it('is in folders that have 3 to 30 files each', () => {
    const files = globSync('*/src/**/*.{ts,tsx}', { cwd: root })
    const sizes = [...Map.groupBy(files, dirname)].map(([folder, all]) => [folder, all.length] as const)
    expect(sizes.length).toBeGreaterThan(50)
    expect(sizes.filter(([, size]) => size > 30)).toEqual([])
    // A folder around others may have fewer files of its own.
    const leaves = sizes.filter(([folder]) => !sizes.some(([other]) => other.startsWith(`${folder}/`)))
    expect(leaves.filter(([, size]) => size < 3)).toEqual([])
  })

  it('of the scanner is in folders of at most 20 files, and has at most 15 files next to them', () => {
    const folders = Map.groupBy(globSync('**/*.{ts,yaml}', { cwd: join(root, 'scanner/src') }), dirname)
    expect(folders.size).toBeGreaterThan(10)
    const large = [...folders].filter(([folder, files]) => files.length > (folder === '.' ? 15 : 20))
    expect(large.map(([folder]) => folder)).toEqual([])
  })

  it.each(['protocol', 'client'])('of %s imports no Node modules, because browsers run the package', (name) => {
    expect(imports.filter((found) => found.from === name && isBuiltin(found))).toEqual([])
    const globals = readdirSync(join(root, name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .filter((path) => /\b(?:Buffer|process)\./.test(readFileSync(join(root, name, 'src', path), 'utf8')))
    expect(globals).toEqual([])
  })

  it('imports h3, listhen and srvx only in the server', () => {
    const files = filesWith(({ name }) => ['h3', 'listhen', 'srvx'].includes(name))
    expect(files.length).toBeGreaterThan(0)
    expect(files.filter((file) => !file.startsWith('server/src/'))).toEqual([])
  })

  it('of the gateway for one protocol imports neither other gateways nor the database', () => {
    const protocols = new Set<string>(gatewayNames)
    const leading = listWithin('gateways').filter(([from, to]) => {
      return protocols.has(protocolOf(to)) && protocolOf(from) !== protocolOf(to) && from !== 'index.ts'
    })
    expect(leading).toEqual([])
    expect(imports.filter(({ from, name }) => from === 'gateways' && ['kysely', 'h3'].includes(name))).toEqual([])
  })

  it('imports better-sqlite3 and pg only in core/src/storage', () => {
    const files = filesWith(({ name }) => name === 'better-sqlite3' || name === 'pg')
    expect(files.filter((file) => !file.startsWith('core/src/storage/'))).toEqual([])
    expect(files).toEqual(expect.arrayContaining(['core/src/storage/postgres.ts', 'core/src/storage/sqlite/sqlite.ts']))
  })

  it('of mirror writes only the tables of the mirror', () => {
    const folder = join(root, 'mirror/src')
    const own = /const tables[^=]*= \{([^]*?)\n\}/.exec(
      readFileSync(join(folder, 'tables/table-rules.ts'), 'utf8'),
    )![1]!
    const owned = new Set([...own.matchAll(/^  (\w+):/gm)].map(([, table]) => table))
    expect(owned).toContain('upstream_log')
    const writes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => {
        const text = readFileSync(join(folder, path), 'utf8')
        const calls = text.matchAll(/\b(?:insertInto|updateTable|deleteFrom|compileInsert(?:<[^>]*>)?)\((?:'(\w+)')?/g)
        return [...calls].map(([call, table]) => ({ path, call, table }))
      })
    expect(writes.length).toBeGreaterThan(10)
    // `deleteUpstream` deletes from a list of tables that it names by the mirror's own types.
    const others = writes.filter(({ table, call }) => !owned.has(table) && call !== 'deleteFrom(')
    expect(others).toEqual([])
  })

  it('of core and maintenance writes each database table in only one folder', () => {
    // Migrations create tables, and a restore or an import moves whole databases.
    const files = [...listFiles('core'), ...listFiles('maintenance')].filter(
      (path) => !/^(?:core\/src\/storage\/migrations|maintenance\/src\/transfer)\//.test(path),
    )
    const writes = files
      .flatMap((path) =>
        [...readFileSync(join(root, path), 'utf8').matchAll(writePattern)].map((found) => {
          const room = path.startsWith('core/') ? path.split('/')[2]! : 'maintenance'
          return { room, table: found.slice(1).find((table) => table !== undefined)! }
        }),
      )
      .filter(({ table }) => table in tables)
    const roomsOf = Map.groupBy(writes, ({ table }) => table)
    expect(roomsOf.size).toBeGreaterThan(40)
    const shared = [...roomsOf].map(([table, all]) => [table, ...new Set(all.map(({ room }) => room))])
    expect(shared.filter((row) => row.length > 2)).toEqual([])
  })

  it('imports minisearch in only one file of the registry and one file of the dashboard', () => {
    const folders = filesWith(({ name }) => name === 'minisearch').map((path) => path.split('/')[0])
    expect(folders.toSorted()).toEqual(['core', 'dashboard'])
  })

  it('of a package imports only declared dependencies', () => {
    const missing = packages.flatMap((name) => {
      const manifest = JSON.parse(readFileSync(join(root, name, 'package.json'), 'utf8')) as {
        dependencies?: Record<string, string>
        devDependencies?: Record<string, string>
      }
      // The published packages contain the code of their development dependencies, but not of the tools that pack them.
      const bundled = Object.keys(manifest.devDependencies ?? {}).filter((one) => !/^(?:vite|rolldown)/.test(one))
      const declared = new Set([...Object.keys(manifest.dependencies ?? {}), ...bundled])
      return imports
        .filter((found) => found.from === name && found.name !== '' && !isBuiltin(found))
        .filter((found) => !declared.has(found.name) && found.name !== `@skillstead/${name}`)
        .map(({ file, specifier }) => `${file}: ${specifier}`)
    })
    expect(missing).toEqual([])
  })
})

describe('findFolderCycles', () => {
  it('finds cycles between folders at every level, and none within a folder', () => {
    expect(
      findFolderCycles([
        ['a/one.ts', 'b/two.ts'],
        ['b/two.ts', 'c/three.ts'],
        ['c/three.ts', 'a/one.ts'],
        ['d/e/one.ts', 'd/two.ts'],
        ['d/two.ts', 'd/e/one.ts'],
        ['f/one.ts', 'f/two.ts'],
        ['f/two.ts', 'f/one.ts'],
        ['g/one.ts', 'f/one.ts'],
      ]),
    ).toEqual(['a, b, c', 'd/e, d/two.ts'])
  })
})

describe('file names', () => {
  it.each(packages)('of %s are unique within the package', (name) => {
    const names = readdirSync(join(root, name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => path.slice(path.lastIndexOf('/') + 1))
    expect(names.filter((file, i) => names.indexOf(file) !== i)).toEqual([])
  })
})

describe('exported functions and classes', () => {
  it.each(packages)('of %s have names that are unique within the package', (name) => {
    const paths = globSync(`${name}/src/**/*.{ts,tsx}`, { cwd: root })
    const names = paths.flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      const found = text.matchAll(/^export (?:default )?(?:abstract )?(?:async )?(?:function\*?|class) (\w+)/gm)
      // Overloads of a function declare its name more than once.
      return [...new Set([...found].map(([, exported]) => exported!))]
    })
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((exported, i) => names.indexOf(exported) !== i)).toEqual([])
  })
})

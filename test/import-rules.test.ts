import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

interface Import {
  /** Below `packages`, as in `core/src/index.ts`. */
  readonly file: string
  /** The package of the file. */
  readonly from: string
  readonly specifier: string
  /** The package that is imported, without a path in it; '' for a file of the same package. */
  readonly name: string
}

const root = join(import.meta.dirname, '..', 'packages')
/** DESIGN, "The house": who may import whom. */
const allowed: Record<string, readonly string[]> = {
  protocol: [],
  client: ['protocol'],
  core: ['protocol'],
  server: ['protocol', 'core', 'client'],
  mirror: ['protocol', 'client', 'core'],
  cli: ['protocol', 'client', 'core', 'server', 'mirror'],
  dashboard: ['protocol', 'client'],
}

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

function toPackage(specifier: string): string {
  if (specifier.startsWith('.')) return ''
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!
}

const filesWith = (passes: (found: Import) => boolean) => [...new Set(imports.filter(passes).map(({ file }) => file))]
const isBuiltin = ({ specifier }: Import) => specifier.startsWith('node:') || builtinModules.includes(specifier)

describe('imports', () => {
  it('were found: every package has some, and the ones that everybody knows of', () => {
    expect(packages).toEqual(expect.arrayContaining(['protocol', 'client', 'core', 'server']))
    expect(packages.filter((name) => !imports.some(({ from }) => from === name))).toEqual([])
    expect(filesWith(({ name }) => name === 'kysely')).toContain('core/src/storage/database.ts')
  })

  it.each(packages)('of %s go to the packages that it may take', (name) => {
    const rules = allowed[name]
    expect(rules, 'a package has its rules').toBeDefined()
    const taken = imports.filter(({ from, name: to }) => from === name && to.startsWith('@skillstead/'))
    const wrong = taken.filter(({ name: to }) => ![...rules!, name].includes(to.slice('@skillstead/'.length)))
    expect(wrong).toEqual([])
  })

  it('never lead into another package by a path', () => {
    const outside = imports.filter(({ file, from, specifier }) => {
      return specifier.startsWith('.') && !join(file, '..', specifier).startsWith(`${from}/src/`)
    })
    expect(outside).toEqual([])
  })

  it.each(['protocol', 'client'])('of %s hold nothing of Node, since browsers run it', (name) => {
    expect(imports.filter((found) => found.from === name && isBuiltin(found))).toEqual([])
    const globals = readdirSync(join(root, name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .filter((path) => /\b(?:Buffer|process)\./.test(readFileSync(join(root, name, 'src', path), 'utf8')))
    expect(globals).toEqual([])
  })

  it('of h3, listhen and srvx are the server’s alone', () => {
    const files = filesWith(({ name }) => ['h3', 'listhen', 'srvx'].includes(name))
    expect(files.length).toBeGreaterThan(0)
    expect(files.filter((file) => !file.startsWith('server/src/'))).toEqual([])
  })

  it('of better-sqlite3 and pg are those of core/src/storage alone', () => {
    const files = filesWith(({ name }) => name === 'better-sqlite3' || name === 'pg')
    expect(files.filter((file) => !file.startsWith('core/src/storage/'))).toEqual([])
    expect(files).toEqual(expect.arrayContaining(['core/src/storage/postgres.ts', 'core/src/storage/sqlite.ts']))
  })

  it('of minisearch are in one file', () => {
    expect(filesWith(({ name }) => name === 'minisearch').length).toBeLessThanOrEqual(1)
  })

  it('say what they need in the package’s own dependencies', () => {
    const missing = packages.flatMap((name) => {
      const { dependencies = {} } = JSON.parse(readFileSync(join(root, name, 'package.json'), 'utf8')) as {
        dependencies?: Record<string, string>
      }
      return imports
        .filter((found) => found.from === name && found.name !== '' && !isBuiltin(found))
        .filter((found) => !(found.name in dependencies) && found.name !== `@skillstead/${name}`)
        .map(({ file, specifier }) => `${file}: ${specifier}`)
    })
    expect(missing).toEqual([])
  })
})

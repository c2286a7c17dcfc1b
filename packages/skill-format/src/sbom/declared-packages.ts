import { basename } from 'node:path/posix'
import { setImmediate } from 'node:timers/promises'
import { isRecord, parseForeignJson, toErrorText } from '@skillstead/protocol'
import { parse as parseToml } from 'smol-toml'
import { type DeclaredPackages, FoundPackages, type PackageScope, quote } from './found-packages.ts'
import { readGoMod, readRequirement, readRequirements, toScriptMetadata } from './requirement-lines.ts'

/** A file of a skill, whose bytes are read only if it can declare packages. */
interface SkillFile {
  readonly path: string
  read(): Uint8Array | Promise<Uint8Array>
}

type Table = Readonly<Record<string, unknown>>
type Paths = ReadonlySet<string>

/** The files that declare packages, by name. */
const readers: readonly [name: RegExp, read: (text: string, found: FoundPackages, path: string, all: Paths) => void][] =
  [
    [/^package\.json$/, (text, found) => readPackageJson(parseTable(parseForeignJson(text)), found)],
    [/^deno\.jsonc?$/, (text, found) => readImportMap(parseTable(parseForeignJson(text)), found)],
    [/^pyproject\.toml$/, (text, found) => readPyproject(parseTomlTable(text), found)],
    [/^Cargo\.toml$/, (text, found) => readCargo(parseTomlTable(text), found)],
    [/^go\.mod$/, readGoMod],
    [
      /^(?:.*[-_.])?requirements(?:[-_.].*)?\.(?:txt|in)$/,
      (text, found, path, all) => readRequirements(text, found, path, (other) => all.has(other) && isRead(other)),
    ],
    [
      /\.pyw?$/,
      (text, found) => {
        const metadata = toScriptMetadata(text)
        if (metadata === undefined) found.addUnread('Its block of metadata is not closed, or not valid.')
        else readList(parseTomlTable(metadata)['dependencies'], found)
      },
    ],
  ]

/** Files that declare packages in a form that is not read. */
const otherManifests = new RegExp(
  String.raw`^(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|deno\.lock|import_map\.json|` +
    String.raw`uv\.lock|poetry\.lock|Pipfile(?:\.lock)?|setup\.(?:py|cfg)|environment\.ya?ml|Cargo\.lock|go\.(?:sum|work)|` +
    String.raw`Gemfile(?:\.lock)?|composer\.(?:json|lock)|pom\.xml|build\.gradle(?:\.kts)?|mix\.exs|pubspec\.yaml|` +
    String.raw`Package\.swift|.*\.(?:cs|fs)proj|.*\.gemspec)$`,
)

/** Maximum bytes of TOML: parsing 64 KiB takes 30 ms if an attacker makes them slow to parse. */
const tomlBytesMax = 64 * 1024
/** Maximum bytes to read of all files of a skill together. */
const bytesMax = 512 * 1024

function isRead(path: string): boolean {
  return readers.some(([name]) => name.test(basename(path)))
}

/**
 * Reads the packages that a skill declares: in package.json, deno.json, pyproject.toml, requirements files, the metadata
 * blocks of Python scripts (PEP 723), go.mod and Cargo.toml. Reads what is written and resolves nothing. Throws only what
 * `read` of a file throws: files that are too large, damaged or of another form are listed in `unread`. Yields to the
 * event loop between files.
 */
export async function readDeclaredPackages(files: readonly SkillFile[]): Promise<DeclaredPackages> {
  const found = new FoundPackages()
  const paths = new Set(files.map(({ path }) => path))
  let left = bytesMax
  for (const file of files) {
    const { path } = file
    const name = basename(path)
    found.enter(path)
    if (otherManifests.test(name)) found.addUnread('Files of this kind are not read.')
    const [, read] = readers.find(([pattern]) => pattern.test(name)) ?? []
    if (!read) continue
    await setImmediate()
    const bytes = await file.read()
    const part = /\.pyw?$/.test(name) ? findMetadataBytes(bytes) : bytes
    if (!part) continue
    const max = /\.(?:toml|pyw?)$/.test(name) ? tomlBytesMax : bytesMax
    if (part.length > Math.min(max, left)) {
      found.addUnread(part.length > max ? `It is larger than ${max / 1024} KiB.` : 'The files before it are too large.')
      continue
    }
    left -= part.length
    try {
      read(decoder.decode(part).replaceAll('\r\n', '\n'), found, path, paths)
    } catch (error) {
      // Only the first line of the TOML parser's message: further lines quote the file.
      found.addUnread(`It is not valid: ${quote(toErrorText(error).split('\n', 1)[0]!)}.`)
    }
  }
  return found.toDeclared()
}

const decoder = new TextDecoder('utf-8', { fatal: true })
const metadataStart = '# /// script'
const metadataEnd = '\n# ///'

/** The block of metadata of a Python script, or its first part if it is not closed; undefined if there is no block. */
function findMetadataBytes(bytes: Uint8Array): Uint8Array | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let start = text.indexOf(metadataStart)
  // The block must begin a line. Up to 3 bytes may precede it in the file: a byte order mark.
  while (start > 3 && text[start - 1] !== 0x0a) start = text.indexOf(metadataStart, start + 1)
  if (start === -1) return undefined
  let end = start
  do end = text.indexOf(metadataEnd, end + 1)
  while (end !== -1 && !/^\s?$/.test(text.toString('latin1', end + metadataEnd.length, end + metadataEnd.length + 1)))
  return text.subarray(start, end === -1 ? start + tomlBytesMax : end + metadataEnd.length)
}

function readPackageJson(json: Table, found: FoundPackages): void {
  const fields: Readonly<Record<string, PackageScope>> = {
    dependencies: 'required',
    optionalDependencies: 'optional',
    peerDependencies: 'optional',
    devDependencies: 'excluded',
  }
  for (const [field, scope] of Object.entries(fields)) {
    for (const [name, range] of readMap(json, field, found)) addNpm(found, name, range, scope)
  }
}

/** Adds a package of npm or JSR. For an alias such as `"short": "npm:long@^1"`, adds the package that is installed. */
function addNpm(found: FoundPackages, name: string, range: unknown, scope: PackageScope): void {
  const [, ecosystem, real, aliased = ''] =
    (typeof range === 'string' && /^(npm|jsr):\/?(@?[^@]+)(?:@([^/]*))?(?:\/.*)?$/.exec(range)) || []
  if (ecosystem === undefined) found.add('npm', name, range, scope)
  else found.add(ecosystem === 'jsr' ? 'jsr' : 'npm', real!, aliased, scope)
}

/** Reads the imports of a deno.json from registries. Skips local files; reports other imports as not read. */
function readImportMap(json: Table, found: FoundPackages): void {
  for (const [name, address] of readMap(json, 'imports', found)) {
    if (typeof address === 'string' && /^(?:npm|jsr):/.test(address)) addNpm(found, name, address, 'required')
    else if (typeof address !== 'string' || !/^\.{0,2}\//.test(address))
      found.addUnread(`The import of ${quote(name)} is from no registry.`)
  }
}

function readPyproject(toml: Table, found: FoundPackages): void {
  const project = readTable(toml, 'project', found)
  readList(project['dependencies'], found)
  for (const [, list] of readMap(project, 'optional-dependencies', found)) readList(list, found, 'optional')
  for (const [, list] of readMap(toml, 'dependency-groups', found)) readList(list, found, 'excluded')
  readList(readTable(toml, 'build-system', found)['requires'], found, 'excluded')
  const poetry = readTable(readTable(toml, 'tool', found), 'poetry', found)
  readPoetry(poetry, 'dependencies', found, 'required')
  readPoetry(poetry, 'dev-dependencies', found, 'excluded')
  for (const [, group] of readMap(poetry, 'group', found))
    readPoetry(parseTable(group), 'dependencies', found, 'excluded')
}

function readPoetry(table: Table, field: string, found: FoundPackages, scope: PackageScope): void {
  for (const [name, value] of readMap(table, field, found)) {
    if (name.toLowerCase() === 'python') continue
    const range = toRange(value)
    found.add('pypi', name, range, isOptional(value) ? 'optional' : scope)
  }
}

function readCargo(toml: Table, found: FoundPackages): void {
  const tables = [toml, ...readMap(toml, 'target', found).map(([, target]) => parseTable(target))]
  for (const table of tables) {
    readCrates(table, 'dependencies', found, 'required')
    readCrates(table, 'build-dependencies', found, 'excluded')
    readCrates(table, 'dev-dependencies', found, 'excluded')
  }
  readCrates(readTable(toml, 'workspace', found), 'dependencies', found, 'required')
}

function readCrates(table: Table, field: string, found: FoundPackages, scope: PackageScope): void {
  for (const [name, value] of readMap(table, field, found)) {
    const real = isRecord(value) && typeof value['package'] === 'string' ? value['package'] : name
    found.add('cargo', real, toRange(value), isOptional(value) ? 'optional' : scope)
  }
}

/** The range of a dependency that a table describes; an address or path stands in place of a range. */
function toRange(value: unknown): unknown {
  if (!isRecord(value)) return value
  const { version, git, path, url, workspace } = value
  if (workspace === true) return ''
  return typeof git === 'string' ? `git+${git}` : typeof path === 'string' ? `path:${path}` : (url ?? version ?? '')
}

function isOptional(value: unknown): boolean {
  return isRecord(value) && value['optional'] === true
}

/** Reads a list of requirements of Python. A group may include another group, which is read separately. */
function readList(list: unknown, found: FoundPackages, scope?: PackageScope): void {
  if (list === undefined) return
  if (!Array.isArray(list)) return found.addUnread('Its dependencies are not a list.')
  for (const one of list) {
    if (typeof one === 'string') readRequirement(one, found, scope)
    else if (!isRecord(one) || !('include-group' in one)) found.addUnread('A dependency is not a text.')
  }
}

function readMap(table: Table, field: string, found: FoundPackages): [string, unknown][] {
  return Object.entries(readTable(table, field, found))
}

/** A table within a table; reports a value that is no table. */
function readTable(table: Table, field: string, found: FoundPackages): Table {
  const value = table[field]
  if (value === undefined || isRecord(value)) return value ?? {}
  found.addUnread(`${field} is not a table.`)
  return {}
}

function parseTomlTable(text: string): Table {
  return parseToml(text, { integersAsBigInt: 'asNeeded' })
}

/** Throws for a value that is not a table. */
function parseTable(value: unknown): Table {
  if (isRecord(value)) return value
  throw new Error('a table is needed')
}

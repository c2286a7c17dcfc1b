import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rename, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkPaths,
  ArchiveError,
  openFolder,
  openFolderTree,
  openPlugin,
  openZip,
  readArchive,
  type SkillRecord,
  type SourceItem,
  writeZip,
} from '@skillstead/skill-format/archives'

const utf8 = new TextEncoder()
const skillMd = '---\nname: a\ndescription: b\n---\n'

/** An entry of a hand-built zip; given fields override the true values. */
interface RawEntry {
  /** The headers whose sizes are in the zip64 field. */
  zip64?: 'local' | 'both'
  extra?: Buffer
  name: string | Buffer
  data?: Uint8Array | string
  method?: number
  flags?: number
  mode?: number
  crc?: number
  size?: number
  packedSize?: number
  local?: { name?: string; size?: number; method?: number; flags?: number; crc?: number }
  /** Makes the central directory refer to the local header of an earlier entry. */
  offset?: number
  /** Leaves the entry out of the central directory. */
  isUnlisted?: boolean
}

function zip(
  entries: RawEntry[],
  end: {
    count?: number
    size?: number
    start?: number
    tail?: Buffer
    comment?: string | Uint8Array
    zip64?: { count?: number }
  } = {},
): Uint8Array {
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const name = Buffer.from(entry.name as string)
    const content = Buffer.from((entry.data ?? '') as string)
    const method = entry.method ?? 0
    const packed = method === 8 ? deflateRawSync(content) : content
    const size = entry.size ?? content.length
    const packedSize = entry.packedSize ?? packed.length
    const crc = entry.crc ?? crc32(content)
    const localName = Buffer.from(entry.local?.name ?? name)
    const own = entry.extra ?? Buffer.alloc(0)
    const isBoth = entry.zip64 === 'both'
    const localExtra = Buffer.concat([entry.zip64 ? toZip64Field(size, packedSize) : Buffer.alloc(0), own])
    const centralExtra = Buffer.concat([isBoth ? toZip64Field(size, packedSize, offset) : Buffer.alloc(0), own])
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(entry.local?.flags ?? entry.flags ?? 0, 6)
    local.writeUInt16LE(entry.local?.method ?? method, 8)
    local.writeUInt32LE(entry.local?.crc ?? crc, 14)
    local.writeUInt32LE(entry.zip64 ? 0xffffffff : packedSize, 18)
    local.writeUInt32LE(entry.zip64 ? 0xffffffff : (entry.local?.size ?? size), 22)
    local.writeUInt16LE(localName.length, 26)
    local.writeUInt16LE(localExtra.length, 28)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    central.writeUInt16LE(entry.flags ?? 0, 8)
    central.writeUInt16LE(method, 10)
    central.writeUInt32LE(crc, 16)
    central.writeUInt32LE(isBoth ? 0xffffffff : packedSize, 20)
    central.writeUInt32LE(isBoth ? 0xffffffff : size, 24)
    central.writeUInt16LE(name.length, 28)
    central.writeUInt16LE(centralExtra.length, 30)
    central.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 38)
    central.writeUInt32LE(isBoth ? 0xffffffff : (entry.offset ?? offset), 42)
    if (!entry.isUnlisted) centrals.push(central, name, centralExtra)
    locals.push(local, localName, localExtra, packed)
    offset += local.length + localName.length + localExtra.length + packed.length
  }
  const directory = Buffer.concat(centrals)
  const record = Buffer.alloc(22)
  record.writeUInt32LE(0x06054b50, 0)
  if (end.zip64) {
    const record64 = Buffer.alloc(56)
    record64.writeUInt32LE(0x06064b50, 0)
    record64.writeBigUInt64LE(44n, 4)
    for (const at of [24, 32]) record64.writeBigUInt64LE(BigInt(end.zip64.count ?? entries.length), at)
    record64.writeBigUInt64LE(BigInt(directory.length), 40)
    record64.writeBigUInt64LE(BigInt(offset), 48)
    const locator = Buffer.alloc(20)
    locator.writeUInt32LE(0x07064b50, 0)
    locator.writeBigUInt64LE(BigInt(offset + directory.length), 8)
    locator.writeUInt32LE(1, 16)
    for (const at of [8, 10]) record.writeUInt16LE(end.count ?? 0xffff, at)
    for (const at of [12, 16]) record.writeUInt32LE(0xffffffff, at)
    return Buffer.concat([...locals, directory, record64, locator, record])
  }
  const listed = entries.filter(({ isUnlisted }) => !isUnlisted)
  const comment = Buffer.from((end.comment ?? '') as string)
  record.writeUInt16LE(end.count ?? listed.length, 8)
  record.writeUInt16LE(end.count ?? listed.length, 10)
  record.writeUInt32LE(end.size ?? directory.length, 12)
  record.writeUInt32LE(end.start ?? offset, 16)
  record.writeUInt16LE(comment.length, 20)
  return Buffer.concat([...locals, directory, record, comment, end.tail ?? Buffer.alloc(0)])
}

/** The extra field of zip64. */
function toZip64Field(...numbers: readonly number[]): Buffer {
  return toExtraField(
    0x0001,
    Buffer.concat(numbers.map((number) => Buffer.from(new BigUint64Array([BigInt(number)]).buffer))),
  )
}

/** The extra field with a name in Unicode, for a name. */
function toUnicodePath(name: Uint8Array, unicode: string): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(1, 0)
  head.writeUInt32LE(crc32(name), 1)
  return toExtraField(0x7075, Buffer.concat([head, Buffer.from(unicode)]))
}

function toExtraField(id: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16LE(id, 0)
  head.writeUInt16LE(data.length, 2)
  return Buffer.concat([head, data])
}

/** A tar of one header block and its data, with any type flag. */
function tarEntry(name: string, content: string | Uint8Array = '', type = '0', link = ''): Buffer {
  const data = Buffer.from(content as string)
  const header = Buffer.alloc(512)
  header.write(name, 0)
  header.write('0000644\0', 100)
  header.write(`${data.length.toString(8).padStart(11, '0')}\0`, 124)
  header.write('00000000000\0', 136)
  header.write(type, 156)
  header.write(link, 157)
  header.write('ustar\x0000', 257)
  header.fill(' ', 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, data, Buffer.alloc((512 - (data.length % 512)) % 512)])
}

function toPax(key: string, value: string): string {
  const record = ` ${key}=${value}\n`
  return `${record.length + 3}${record}`
}

function tarGz(...entries: Buffer[]): Uint8Array {
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]))
}

const doc: RawEntry = { name: 'SKILL.md', data: skillMd }

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

async function refusalOf(bytes: Uint8Array, type: 'zip' | 'tar.gz' = 'zip'): Promise<string> {
  const error = await readArchive(bytes, type).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(ArchiveError)
  const { problems } = error as ArchiveError
  return problems.map(({ path, message }) => `${path}: ${message}`).join('\n')
}

function messagesOf(...paths: string[]): string[] {
  return checkPaths(paths.map((path) => ({ path }))).map(({ path, message }) => `${path}: ${message}`)
}

describe('paths of files', () => {
  it('may be any path that every file system can store', () => {
    expect(
      messagesOf(
        'a.txt',
        'scripts/run.py',
        '.env',
        'références/構成.md',
        'a b/c',
        '1/2/3/4/5/6/7/8',
        'con-1',
        'x/SKILL.md',
      ),
    ).toEqual([])
  })

  it.each([
    ['', 'is empty'],
    ['/etc/passwd', 'absolute'],
    ['../x', '`..`'],
    ['a/../b', '`..`'],
    ['./a', '`..`'],
    ['a//b', 'empty'],
    ['a/', 'empty'],
    ['a\\b', 'backslash'],
    ['a\nb', 'control'],
    ['a\u0085b', 'control'],
    ['harmless\u202Etxt.sh', 'reads as another name'],
    ['a\u2067b\u2069.md', 'reads as another name'],
    ['C:/x', 'drive'],
    ['a.txt:stream', 'stream'],
    ['CON', 'device'],
    ['a/nul.txt', 'device'],
    ['com1.tar.gz', 'device'],
    ['LPT¹', 'device'],
    ['aux .txt', 'device'],
    ['a.', 'dot or a space'],
    ['a /b', 'dot or a space'],
    ['e\u0301', 'normalisation form C'],
    ['a\uD800', 'Unicode'],
    ['a'.repeat(256), '255 bytes'],
    ['é'.repeat(128), '255 bytes'],
    ['1/2/3/4/5/6/7/8/9', '8 are allowed'],
    ['skill.MD', 'document itself'],
    ['Skill.md/x', 'document itself'],
  ])('are rejected: %j', (path, message) => {
    expect(messagesOf(path)).toEqual([expect.stringContaining(message)])
  })

  it.each([
    '.git/config',
    'a/.GIT/hooks/x',
    '.Git',
    'git~1/config',
    'a/GIT~2',
    '.git./config',
    '.git . /config',
    '.git::$INDEX_ALLOCATION/config',
    '.g\u200Cit/config',
    'a/.gi\uFEFFt/config',
    '.\u00ADgit\uFE0F/x',
    '.g\u0131t/config',
    '.\uFF47it/config',
    'a\\.git\\config',
  ])('are rejected if a file system treats a segment as .git: %j', (path) => {
    expect(messagesOf(path)).toEqual([expect.stringContaining('treat a segment of the path as `.git`')])
  })

  it('may have a segment that only begins or ends with .git, such as .gitignore', () => {
    expect(
      messagesOf('.gitignore', '.github/workflows/ci.yml', 'git/x', 'a.git/b', '.gitattributes', 'git~/x'),
    ).toEqual([])
  })

  it.each([
    [['HEAD', 'objects/x', 'refs/heads/x', 'config']],
    [['a/b/head', 'a/b/OBJECTS/pack/x', 'a/b/Refs/x']],
    [['a/HE\u200BAD', 'a/objects', 'a/refs']],
    [['w/HEAD', 'w/commondir', 'other/objects/x', 'other/refs/x']],
  ])('are rejected if they form a folder that git treats as a bare repository: %j', (paths) => {
    expect(messagesOf(...paths)).toEqual([expect.stringContaining('git treats the folder as a repository')])
  })

  it('may have the file names of a bare git repository if the files are in different folders', () => {
    expect(messagesOf('HEAD', 'objects/x', 'a/refs/x', 'b/HEAD/objects/x', 'b/HEAD/refs/x')).toEqual([])
  })

  it('are rejected if two paths differ only in case or normalisation, or if one path is both a file and a folder', () => {
    expect(messagesOf('a/B', 'A/b', 'c')).toEqual([
      "A/b: The path equals 'a/B' when case is ignored. Rename one of them.",
    ])
    expect(messagesOf('straße', 'STRASSE')).toHaveLength(1)
    expect(messagesOf('Lib', 'lib/x')).toEqual([
      'Lib: The path is also the folder of another file. Rename one of them.',
    ])
    expect(messagesOf('a', 'a')).toHaveLength(1)
  })

  it('are limited to 512 files of 10 MiB each and 16 MiB in total', () => {
    const many = Array.from({ length: 513 }, (_, i) => ({ path: `f${i}` }))
    expect(checkPaths(many)).toEqual([{ path: '', message: expect.stringContaining('514 files with SKILL.md; 512') }])
    const mib = 1024 * 1024
    expect(
      checkPaths([
        { path: 'a', size: 10 * mib },
        { path: 'b', size: 6 * mib },
      ]),
    ).toEqual([])
    expect(checkPaths([{ path: 'a', size: 10 * mib + 1 }])).toHaveLength(1)
    expect(
      checkPaths([
        { path: 'a', size: 10 * mib },
        { path: 'b', size: 7 * mib },
      ]),
    ).toHaveLength(1)
  })

  it('cause one error for each invalid path', () => {
    const paths = fc.array(fc.string({ unit: 'binary', maxLength: 300 }), { maxLength: 20 })
    fc.assert(
      fc.property(paths, (texts) => {
        expect(messagesOf(...texts).length).toBeLessThanOrEqual(texts.length)
      }),
    )
  })
})

describe('reading an archive', () => {
  it('accepts SKILL.md at the root or in the only folder, in any casing', async () => {
    for (const [prefix, name] of [
      ['', 'SKILL.md'],
      ['pdf/', 'SKILL.md'],
      ['', 'skill.md'],
      ['pdf/', 'Skill.MD'],
    ]) {
      const entries = [`${prefix}${name}`, `${prefix}a/b.txt`]
      const zipped = zip([
        { name: entries[0]!, data: skillMd, method: 8 },
        { name: entries[1]!, data: 'x' },
      ])
      const tarred = tarGz(tarEntry(entries[0]!, skillMd), tarEntry(entries[1]!, 'x'))
      for (const [bytes, type] of [
        [zipped, 'zip'],
        [tarred, 'tar.gz'],
      ] as const) {
        const skill = await readArchive(bytes, type)
        expect(decode(skill.skillMd)).toBe(skillMd)
        expect(skill.files.map((file) => [file.path, decode(file.bytes)])).toEqual([['a/b.txt', 'x']])
      }
    }
  })

  it('leaves out files and folders that operating systems and git create', async () => {
    const names = ['__MACOSX/._SKILL.md', '.DS_Store', 'a/.DS_Store', '.git/config', '._x', 'folder/', '.git/HEAD']
    const zipped = zip([doc, ...names.map((name) => ({ name }))])
    const omitted = ['.DS_Store', '._x', '.git', '__MACOSX', 'a/.DS_Store'].map((path) => ({
      path,
      reason: expect.stringContaining(path === '.git' ? 'run programs' : 'version control or tools'),
    }))
    expect(await readArchive(zipped, 'zip')).toMatchObject({ files: [], omitted, changed: [] })
    const folder = tarEntry('a/', '', '5')
    const tarred = tarGz(
      tarEntry('./', '', '5'),
      tarEntry('./SKILL.md', skillMd),
      folder,
      ...names.map((name) => tarEntry(name)),
    )
    expect(await readArchive(tarred, 'tar.gz')).toMatchObject({ files: [], omitted, changed: [] })
    expect(await readArchive(tarGz(tarEntry('SKILL.md', skillMd)), 'tar.gz')).toMatchObject({
      omitted: [],
      changed: [],
    })
  })

  it('leaves out a .git folder next to SKILL.md, and rejects the archive if .git is anywhere else', async () => {
    const inFolder = [{ ...doc, name: 'pdf/SKILL.md' }, { name: 'pdf/.git/HEAD' }, { name: 'pdf/.git/objects/x' }]
    expect(await readArchive(zip(inFolder), 'zip')).toMatchObject({
      files: [],
      omitted: [leftOut('.git', 'run programs')],
    })
    for (const name of ['a/.git/HEAD', '.GIT/config', 'a/git~1/config', 'a/.git']) {
      expect(await refusalOf(zip([doc, { name }]))).toContain('as `.git`')
      expect(await refusalOf(tarGz(tarEntry('SKILL.md', skillMd), tarEntry(name)), 'tar.gz')).toContain('as `.git`')
    }
    expect(await refusalOf(zip([...inFolder, { name: 'pdf/a/.git/x' }]))).toContain('a/.git: ')
    const bare = ['HEAD', 'objects/x', 'refs/x', 'config'].map((name) => ({ name }))
    expect(await refusalOf(zip([doc, ...bare]))).toContain('HEAD: Next to `objects`')
  })

  it('reads long names and global headers of a tar, and normalises decomposed characters in names', async () => {
    const long = `references/${'x'.repeat(150)}.md`
    const tar = tarGz(
      tarEntry('pax_global_header', '15 comment=abc\n', 'g'),
      tarEntry('repo-1/SKILL.md', skillMd),
      tarEntry('PaxHeader', toPax('path', `repo-1/${long}`), 'x'),
      tarEntry('repo-1/short', 'x'),
      tarEntry('././@LongLink', `repo-1/${long}.gnu\0`, 'L'),
      tarEntry('repo-1/short', 'x'),
      tarEntry('repo-1/e\u0301.md'),
    )
    const { files } = await readArchive(tar, 'tar.gz')
    expect(files.map(({ path }) => path)).toEqual([long, `${long}.gnu`, '\u00E9.md'])
  })

  it.each<[string, RawEntry, string]>([
    ['traversal', { name: '../x' }, '../x: The path contains an empty, `.` or `..`'],
    ['absolute paths', { name: '/etc/x' }, '/etc/x: The path is absolute'],
    ['back-slashes', { name: 'a\\..\\x' }, 'backslash'],
    ['encrypted entries', { name: 'e', flags: 1 }, 'e: Encrypted'],
    ['other methods', { name: 'm', method: 12 }, 'm: The file is compressed by a method'],
    ['entries twice', { name: 'SKILL.md', data: 'other' }, 'SKILL.md: The archive contains this path twice'],
    ['two documents', { name: 'skill.md', data: 'other' }, 'There must be exactly one SKILL.md'],
    ['a wrong checksum', { name: 'c', data: 'x', crc: 1 }, 'c: The checksum'],
    ['a stored size that lies', { name: 's', data: 'x', size: 5 }, 's: The file does not have its declared size'],
    [
      'a deflated file longer than declared',
      { name: 's', data: 'x'.repeat(1e6), method: 8, size: 5 },
      's: The file does not have its declared size',
    ],
    [
      'a deflated file shorter than declared',
      { name: 's', data: 'x', method: 8, size: 5 },
      's: The file does not have its declared size',
    ],
    ['data that is not deflate', { name: 's', data: 'x', method: 8, packedSize: 1 }, 'damaged'],
    ['zip64 sizes that are missing', { name: 'z', size: 0xffffffff }, 'z: The zip archive is damaged'],
    ['zip64 sizes that differ', { name: 'z', data: 'x', zip64: 'local', size: 9 }, 'z: The file does not have'],
    [
      'a second name in Unicode',
      { name: 'a.txt', extra: toUnicodePath(Buffer.from('a.txt'), 'b.txt') },
      "a.txt: The entry has a second name, 'b.txt'",
    ],
    [
      'a name in Unicode that was made for another name',
      { name: Buffer.from([0x67, 0x81]), extra: toUnicodePath(Buffer.from('x'), 'gü') },
      'not UTF-8',
    ],
    ['headers that differ in name', { name: 'n', local: { name: 'o' } }, 'n: The two headers'],
    ['headers that differ in size', { name: 'n', data: 'x', local: { size: 9 } }, 'n: The two headers'],
    ['headers that differ in method', { name: 'n', data: 'x', local: { method: 8 } }, 'n: The two headers'],
    ['headers that differ in checksum', { name: 'n', data: 'x', local: { crc: 9 } }, 'n: The two headers'],
    ['a descriptor in the central header only', { name: 'n', flags: 8, local: { flags: 0, size: 9 } }, 'n: The two'],
    ['a descriptor in the local header only', { name: 'n', local: { flags: 8, crc: 9 } }, 'n: The two headers'],
    ['a folder that has content', { name: 'sub/', data: 'x' }, 'sub/: The folder has content'],
    ['overlapping entries', { name: 'SKILL.md', data: skillMd, offset: 0 }, 'overlaps another'],
    ['names that are not UTF-8', { name: Buffer.from([0x67, 0xb3]) }, 'g\\xb3: The name is not UTF-8'],
    [
      'a declared size over the limit',
      { name: 'b', method: 8, size: 33 * 1024 * 1024 },
      'inflates to more than 32 MiB. Pack only the folder of the skill.',
    ],
    ['entries beyond the end', { name: 'p', packedSize: 1000, size: 1000 }, 'damaged'],
  ])('rejects a zip with %s', async (_, entry, message) => {
    expect(await refusalOf(zip([doc, entry]))).toContain(message)
  })

  it('accepts a zip with empty folders, and a zip with sizes only after the content of each file', async () => {
    const late = { name: 'n', data: 'x', flags: 8, local: { size: 0, crc: 0 } }
    const { files } = await readArchive(zip([doc, late, { name: 'sub/' }]), 'zip')
    expect(files.map(({ path, bytes }) => [path, decode(bytes)])).toEqual([['n', 'x']])
  })

  it('reports all invalid paths of an archive in one error', async () => {
    const refusal = await refusalOf(zip([doc, { name: '../a' }, { name: 'CON' }, { name: 'ok' }]))
    expect(refusal.split('\n').map((line) => line.split(':')[0])).toEqual(['../a', 'CON'])
  })

  it('rejects an archive with too many entries early, without reading them all', async () => {
    const ignored = tarEntry('.git/HEAD')
    const tar = tarGz(...Array.from({ length: 100_000 }, () => ignored))
    // CPU time, so that a busy machine does not affect the result.
    const start = process.cpuUsage()
    expect(await refusalOf(zip([doc], { count: 60_000 }))).toContain('more than 4096 entries. Pack only the folder')
    expect(await refusalOf(tar, 'tar.gz')).toContain('more than 4096 entries')
    const { user, system } = process.cpuUsage(start)
    expect((user + system) / 1000).toBeLessThan(5000)
  })

  it.each(['zip', 'tar.gz'] as const)('refuses a %s with 100,000 entries of any kind', async (type) => {
    const names = Array.from({ length: 100_000 }, (_, i) => `${['', 'node_modules/', 'inner/'][i % 3]}${i}`)
    const whole = ['SKILL.md', 'inner/SKILL.md', ...names]
    const bytes =
      type === 'zip'
        ? zip(
            whole.map((name) => ({ name })),
            { zip64: {} },
          )
        : tarGz(...whole.map((name) => tarEntry(name)))
    expect(await refusalOf(bytes, type)).toContain('The archive has more than 4096 entries. Pack only the folder')
  })

  it('omits pipes, sockets, devices and loops of links of a zip, and drops setuid', async () => {
    const modes = { setuid: 0o104755, sticky: 0o101644, none: 0, pipe: 0o010644, socket: 0o140755, block: 0o060644 }
    const loop = { a: 'b', b: 'c', c: 'a', self: 'self' }
    const { files, omitted } = await readArchive(
      zip([
        doc,
        ...Object.entries(modes).map(([name, mode]) => ({ name, mode })),
        ...Object.entries(loop).map(([name, data]) => ({ name, data, mode: 0o120777 })),
      ]),
      'zip',
    )
    expect(files.map(({ path, executable }) => [path, executable])).toEqual([
      ['setuid', true],
      ['sticky', false],
      ['none', false],
    ])
    expect(omitted.map(({ path }) => path)).toEqual(['a', 'b', 'block', 'c', 'pipe', 'self', 'socket'])
  })

  it('omits loops of links of a tar, and reads the other entries', async () => {
    const loop = ['a', 'b', 'c'].map((name, i, all) => tarEntry(name, '', '2', all[(i + 1) % 3]))
    const self = tarEntry('self', '', '1', 'self')
    const tar = tarGz(tarEntry('SKILL.md', skillMd), ...loop, self, tarEntry('x'))
    const { files, omitted } = await readArchive(tar, 'tar.gz')
    expect(files.map(({ path }) => path)).toEqual(['x'])
    expect(omitted.map(({ path }) => path)).toEqual(['a', 'b', 'c', 'self'])
  })

  it.each(['zip', 'tar.gz'] as const)(
    'counts the files of nested skills towards no limit of the version: %s',
    async (type) => {
      const inner = [
        ['SKILL.md', skillMd],
        ['skills/one/SKILL.md', skillMd],
        ...Array.from({ length: 3 }, (_, i) => [`skills/one/big${i}`, 'x'.repeat(9e6)]),
        ...Array.from({ length: 600 }, (_, i) => [`skills/one/many/${i}.md`, 'x']),
        ['node_modules/x.js', 'x'],
        ['own.md', 'own'],
      ] as [string, string][]
      const bytes =
        type === 'zip'
          ? zip(inner.map(([name, data]) => ({ name, data })))
          : tarGz(...inner.map(([name, data]) => tarEntry(name, data)))
      const { files, omitted } = await readArchive(bytes, type)
      expect(files.map(({ path }) => path)).toEqual(['own.md'])
      expect(omitted.map(({ path }) => path)).toEqual(['node_modules', 'skills/one'])
    },
  )

  it.each([
    ['the local headers', { zip64: 'local' }, {}],
    ['both headers', { zip64: 'both' }, {}],
    ['the end record', {}, { zip64: {} }],
    ['all headers', { zip64: 'both' }, { zip64: {} }],
  ] as const)('reads a zip with zip64 in %s', async (_, entry, end) => {
    const entries = [doc, { name: 'a.txt', data: 'content '.repeat(50), method: 8 }]
    const { files } = await readArchive(
      zip(
        entries.map((one) => ({ ...one, ...entry })),
        end,
      ),
      'zip',
    )
    expect(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])).toEqual([
      ['a.txt', 'content '.repeat(50)],
    ])
  })

  it('reads a name that is not UTF-8 from the extra field for Unicode names', async () => {
    const name = Buffer.from([0x67, 0x81])
    const { files } = await readArchive(zip([doc, { name, extra: toUnicodePath(name, 'gü') }]), 'zip')
    expect(files.map(({ path }) => path)).toEqual(['gü'])
  })

  it('rejects damaged end records, multi-part archives, truncated archives, and bytes after the end of an archive', async () => {
    const locator = Buffer.alloc(20)
    locator.writeUInt32LE(0x07064b50, 0)
    const whole = zip([doc])
    const end = whole.subarray(whole.length - 22)
    expect(await refusalOf(Buffer.concat([whole.subarray(0, -22), locator, end]))).toContain('damaged')
    expect(await refusalOf(zip([doc], { count: 0xffff }))).toContain('more than 4096 entries')
    expect(await refusalOf(zip([doc], { count: 2, zip64: {} }))).toContain('damaged')
    expect(await refusalOf(zip([doc], { zip64: { count: 2 } }))).toContain('damaged')
    expect(await refusalOf(zip([doc], { zip64: { count: 1e15 } }))).toContain('more than 4096 entries')
    expect(await refusalOf(zip([doc], { tail: Buffer.from('garbage') }))).toContain('after the end')
    expect(await refusalOf(whole.subarray(0, -1))).toContain('truncated')
    expect(await refusalOf(Buffer.concat([Buffer.from('garbage'), whole]))).toContain('damaged')
    expect(await refusalOf(zip([doc], { count: 2 }))).toContain('damaged')
    expect(await refusalOf(Buffer.from('PK'))).toContain('not a zip')
    expect(await refusalOf(zip([]))).toContain('no SKILL.md')
    expect(await refusalOf(zip([{ name: 'a/SKILL.md' }, { name: 'b/x' }]))).toContain('no SKILL.md')
  })

  it.each([
    ['at its start', 0],
    ['between two others', 1],
    ['before the directory', 2],
  ])('rejects a zip with an entry %s that its directory does not list', async (_, at) => {
    const hidden = { name: 'hidden.sh', data: 'echo hidden' }
    for (const more of [{}, { method: 8 }, { name: 'SKILL.md' }, { name: 'dir/', data: '' }]) {
      const entries: RawEntry[] = [doc, { name: 'a.txt', data: 'A' }]
      entries.splice(at, 0, { ...hidden, ...more, isUnlisted: true })
      expect(await refusalOf(zip(entries))).toContain('an entry that its directory does not list')
    }
    const listed = [doc, { name: 'inner.zip', data: zip([doc]) }, { name: 'packed.zip', data: zip([doc]), method: 8 }]
    expect((await readArchive(zip(listed), 'zip')).files).toHaveLength(2)
  })

  it('accepts a zip whose comment has the signature of an end record, and rejects a zip with a second end record', async () => {
    const comments = [
      'made by PK\x05\x06',
      'PK\x05\x06',
      `PK\x05\x06${'.'.repeat(200)}`,
      `${'.'.repeat(65_000)}PK\x05\x06!`,
    ]
    for (const comment of comments) {
      const bytes = zip([doc, { name: 'a.txt', data: 'A' }], { comment })
      expect((await readArchive(bytes, 'zip')).files.map(({ path }) => path)).toEqual(['a.txt'])
      expect(await refusalOf(bytes.subarray(0, -1))).toMatch(/after the end|truncated/)
    }
    const other = zip([{ name: 'SKILL.md', data: 'other' }])
    const ends = [
      other,
      other.subarray(Buffer.from(other).lastIndexOf('PK\x05\x06')),
      zip([]),
      Buffer.concat([other, Buffer.from('..')]),
    ]
    for (const comment of ends)
      expect(await refusalOf(zip([doc], { comment }))).toMatch(/after the end|damaged|does not list|no SKILL/)
  })

  it('stops decompressing a decompression bomb at the size limits', async () => {
    const zeros = Buffer.alloc(100 * 1024 * 1024)
    const bomb = { name: 'b', data: zeros, method: 8, size: 1024, crc: 0 }
    expect(await refusalOf(zip([doc, bomb]))).toContain('its declared size')
    const bombs = Array.from({ length: 33 }, (_, i) => ({ name: `b${i}`, data: zeros.subarray(0, 1 << 20), method: 8 }))
    expect(await refusalOf(zip([doc, ...bombs]))).toContain('inflates to more than 32 MiB')
    expect(await refusalOf(zip([doc, ...bombs.slice(0, 20)]))).toContain('16777216 are allowed')
    expect(await refusalOf(tarGz(tarEntry('.git/x', zeros), tarEntry('SKILL.md')), 'tar.gz')).toContain(
      'inflates to more',
    )
  })

  it.each([
    ['traversal', [tarEntry('../x', 'x')], '../x: The path contains'],
    ['absolute paths', [tarEntry('/x', 'x')], '/x: The path is absolute'],
    ['entries twice', [tarEntry('x', 'x'), tarEntry('./x', 'y')], 'x: The archive contains this path twice'],
    ['files over 10 MiB', [tarEntry('x', 'x'.repeat(10 * 1024 * 1024 + 1))], 'x: The file has 10485761 bytes'],
    ['more than 16 MiB', [tarEntry('x', 'x'.repeat(9e6)), tarEntry('y', 'y'.repeat(9e6))], '16777216 are allowed'],
    [
      'more than 512 files',
      Array.from({ length: 512 }, (_, i) => tarEntry(`f${i}`)),
      '513 files with SKILL.md; 512 are allowed',
    ],
  ])('rejects a tar with %s', async (_, entries, message) => {
    expect(await refusalOf(tarGz(tarEntry('SKILL.md', skillMd), ...entries), 'tar.gz')).toContain(message)
  })

  it('omits devices, pipes and hard links that lead out of a tar, and reads other hard links as files', async () => {
    const tar = tarGz(
      tarEntry('pdf/SKILL.md', skillMd),
      tarEntry('pdf/a.txt', 'A'),
      tarEntry('pdf/docs/same.txt', '', '1', 'pdf/a.txt'),
      tarEntry('pdf/passwd', '', '1', '/etc/passwd'),
      tarEntry('pdf/up', '', '1', '../a.txt'),
      tarEntry('pdf/device', '', '3'),
      tarEntry('pdf/pipe', '', '6'),
    )
    const { files, omitted, changed } = await readArchive(tar, 'tar.gz')
    expect(files.map(({ path, bytes }) => [path, decode(bytes)])).toEqual([
      ['a.txt', 'A'],
      ['docs/same.txt', 'A'],
    ])
    expect(changed).toEqual([leftOut('docs/same.txt', 'The link to a.txt became a file')])
    expect(omitted).toEqual([
      leftOut('device', 'neither a file nor a folder'),
      leftOut('passwd', 'out of the skill'),
      leftOut('pipe', 'neither a file nor a folder'),
      leftOut('up', 'out of the skill'),
    ])
  })

  it('omits devices of a zip, and links whose target is absolute, not UTF-8, or too long', async () => {
    const links = { absolute: '/etc/passwd', long: 'a/../'.repeat(300), bytes: Buffer.from([0xff]), windows: 'C:\\x' }
    const { files, omitted } = await readArchive(
      zip([
        doc,
        { name: 'device', mode: 0o020644 },
        ...Object.entries(links).map(([name, data]) => ({ name, data, mode: 0o120777 })),
      ]),
      'zip',
    )
    expect(files).toEqual([])
    expect(omitted.map(({ path }) => path)).toEqual(['absolute', 'bytes', 'device', 'long', 'windows'])
  })

  it('counts the content of each link, so that links to a large file cannot bypass the limits', async () => {
    const links = Array.from({ length: 3 }, (_, i) => tarEntry(`l${i}`, '', '2', 'big'))
    const tar = tarGz(tarEntry('SKILL.md', skillMd), tarEntry('big', 'x'.repeat(9e6)), ...links)
    expect(await refusalOf(tar, 'tar.gz')).toContain('The files have 36000031 bytes')
  })

  it('refuses a path that leads out of the archive, even in ignored folders, and a name that is not UTF-8', async () => {
    for (const name of ['../SKILL.md', '/SKILL.md', 'node_modules/../../x', 'inner/../../.git/x'])
      expect(await refusalOf(tarGz(tarEntry('SKILL.md', skillMd), tarEntry(name)), 'tar.gz')).toContain(`${name}: `)
    const named = toBadName('bad-?.md')
    expect(await refusalOf(tarGz(tarEntry('SKILL.md', skillMd), named), 'tar.gz')).toContain('The name is not UTF-8')
  })

  it('rejects a truncated or damaged tar', async () => {
    const whole = tarGz(tarEntry('SKILL.md', skillMd))
    expect(await refusalOf(whole.subarray(0, -10), 'tar.gz')).toContain('damaged')
    expect(await refusalOf(gzipSync(tarEntry('SKILL.md', skillMd).subarray(0, 520)), 'tar.gz')).toContain('damaged')
    expect(await refusalOf(gzipSync(Buffer.alloc(2048, 1)), 'tar.gz')).toContain('damaged')
    expect(await refusalOf(zip([doc]), 'tar.gz')).toContain('damaged')
    expect(await refusalOf(new Uint8Array(), 'tar.gz')).toMatch(/damaged|no SKILL/)
  })

  it('throws only an ArchiveError for a damaged archive', async () => {
    const whole = [
      zip([
        { ...doc, method: 8 },
        { name: 'a/b', data: 'x'.repeat(99) },
      ]),
      tarGz(tarEntry('SKILL.md', skillMd)),
    ]
    const changes = fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(fc.nat(1), changes, async (which, edits) => {
        const bytes = Uint8Array.from(whole[which]!)
        for (const [at, value] of edits) bytes[at % bytes.length] = value
        const result = await readArchive(bytes, which === 0 ? 'zip' : 'tar.gz').catch((error: unknown) => error)
        expect(result instanceof ArchiveError || 'skillMd' in (result as object)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('yields to the event loop while it reads an archive of the maximum size', async () => {
    const noise = randomBytes(15 * 1024 * 1024)
    const files = Array.from({ length: 500 }, (_, i) => ({
      name: `f${i}`,
      data: noise.subarray(i * 30_000, (i + 1) * 30_000),
    }))
    const stored = zip([doc, ...files])
    const deflated = zip([doc, ...files.map((file) => ({ ...file, method: 8 }))])
    const tarred = tarGz(tarEntry('SKILL.md', skillMd), ...files.map(({ name, data }) => tarEntry(name, data)))
    for (const bytes of [stored, deflated, tarred]) {
      // Turns of the event loop, not milliseconds, so that a busy machine does not affect the result.
      let turns = 0
      let isReading = true
      const count = (): unknown => isReading && (turns += 1) && setImmediate(count)
      setImmediate(count)
      expect((await readArchive(bytes, bytes === tarred ? 'tar.gz' : 'zip')).files).toHaveLength(500)
      isReading = false
      expect(turns).toBeGreaterThanOrEqual(5)
    }
  })
})

function latin(name: string): Buffer {
  return Buffer.from(name, 'latin1')
}

function text(name: string): string {
  return `---\nname: ${name}\ndescription: b\n---\n`
}

/** A tar entry whose name has a byte that is not UTF-8 in place of `?`. */
function toBadName(name: string, content = ''): Buffer {
  const entry = tarEntry(name, content)
  entry[entry.indexOf('?')] = 0xe9
  entry.fill(' ', 148, 156)
  const sum = entry.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  entry.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return entry
}

/** What is read of an archive of many skills: each id, and `read` or the reason why it was not. */
async function readMany(bytes: Uint8Array, type: 'zip' | 'tar.gz'): Promise<string[][]> {
  const file = join(await mkdtemp(join(tmpdir(), 'skillstead-many-')), 'many')
  await writeFile(file, bytes)
  const items: SourceItem[] = []
  for await (const item of openZip(file, type).items) items.push(item)
  return items.map((item) => [item.id, 'reason' in item ? item.reason : 'read'])
}

describe('an archive of many skills', () => {
  const good: RawEntry = { name: 'good/SKILL.md', data: text('good') }
  const bad: RawEntry = { name: 'bad/SKILL.md', data: text('bad') }

  it.each<[string, RawEntry, string]>([
    ['a name that is not UTF-8', { name: latin('bad/b\xe9.md') }, 'b\\xe9.md: The name is not UTF-8'],
    [
      'an encrypted file',
      { name: 'bad/e', flags: 1 },
      'e: Encrypted files are not allowed. Zip the folder again without',
    ],
    ['another method', { name: 'bad/m', method: 12 }, 'm: The file is compressed by a method other than deflate. Zip'],
    ['a path twice', { name: 'bad/SKILL.md', data: 'x' }, 'SKILL.md'],
    ['a folder with content', { name: 'bad/sub/', data: 'x' }, 'sub/: The folder has content'],
    ['a file that is too large', { name: 'bad/big', data: 'x'.repeat(11e6), method: 8 }, 'read'],
  ])('in a zip loses only the skill with %s', async (_, entry, reason) => {
    const [first, ...others] = await readMany(zip([bad, entry, good]), 'zip')
    expect(first).toEqual(['bad/SKILL.md', expect.stringContaining(reason)])
    expect(others).toEqual([['good/SKILL.md', 'read']])
  })

  it('in a tar loses only the skill with a name that is not UTF-8', async () => {
    const tar = tarGz(tarEntry('bad/SKILL.md', skillMd), toBadName('bad/b?.md'), tarEntry('good/SKILL.md', skillMd))
    expect(await readMany(tar, 'tar.gz')).toEqual([
      ['bad/SKILL.md', expect.stringContaining('The name is not UTF-8')],
      ['good/SKILL.md', 'read'],
    ])
  })

  it.each([
    ['a way out and back', '../nda/steps.md', 'x'],
    ['a way out and back at two levels', '../../j/nda/steps.md', 'x'],
    ['a link to such a link', 'up.md', '../nda/steps.md'],
  ])('omits %s, as an archive of the skill alone does', async (_, target, up) => {
    const mode = 0o120777
    const toZip = (folder: string) =>
      zip([
        { name: `${folder}SKILL.md`, data: skillMd },
        { name: `${folder}steps.md`, data: 'Steps.' },
        { name: `${folder}own.md`, data: target, mode },
        { name: `${folder}up.md`, data: up, mode },
        { name: `${folder}good.md`, data: './steps.md', mode },
      ])
    const file = join(await mkdtemp(join(tmpdir(), 'skillstead-links-')), 'j.zip')
    await writeFile(file, toZip('j/nda/'))
    const items: SourceItem[] = []
    for await (const item of openZip(file).items) items.push(item)
    const alone = await readArchive(toZip(''), 'zip')
    expect(alone.files.map(({ path }) => path)).toEqual(['steps.md', 'good.md'])
    expect(alone.omitted.map(({ path }) => path)).toContain('own.md')
    const { files, omitted, changed } = alone
    expect(items).toEqual([expect.objectContaining({ files, omitted, changed })])
  })

  it('reports a skill whose folder name is not UTF-8, and ignores invalid names in node_modules', async () => {
    const skipped = { name: latin('good/node_modules/\xe9') }
    expect(await readMany(zip([good, skipped, { name: latin('d\xe9/SKILL.md'), data: skillMd }]), 'zip')).toEqual([
      ['good/SKILL.md', 'read'],
      ['d\\xe9/SKILL.md', 'The name is not UTF-8. Rename the file or folder.'],
    ])
    const tar = tarGz(tarEntry('good/SKILL.md', skillMd), toBadName('d?/SKILL.md', skillMd))
    expect(await readMany(tar, 'tar.gz')).toEqual([
      ['good/SKILL.md', 'read'],
      ['d\uFFFD/SKILL.md', 'The name is not UTF-8. Rename the file or folder.'],
    ])
  })

  it('is refused as a whole if a path leads out of the archive, even a path that is not UTF-8', async () => {
    for (const name of ['../x', '../\xe9', 'good/\xe9/../../x', '/\xe9'])
      await expect(readMany(zip([good, { name: latin(name) }]), 'zip')).rejects.toThrow('leads out of the archive')
  })

  const openPluginWith = async (more: Buffer) => {
    const file = join(await mkdtemp(join(tmpdir(), 'skillstead-plugin-')), 'plugin.tgz')
    const $schema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
    const manifest = JSON.stringify({ $schema, name: 'forms', version: '1.0.0', description: 'Forms.' })
    const skills = ['good', 'bad'].map((name) => tarEntry(`skills/${name}/SKILL.md`, text(name)))
    await writeFile(file, tarGz(tarEntry('plugin.json', manifest), ...skills, more))
    return openPlugin(file)
  }

  it.each([
    ['skills/bad/b?.md', [true, false]],
    ['notes?.md', [false, false]],
  ])('stays a plugin with %s, whose name is not UTF-8', async (path, refused) => {
    const plugin = await openPluginWith(toBadName(path))
    const items: SourceItem[] = []
    for await (const item of plugin!.items) items.push(item)
    expect(items.map((item) => 'reason' in item)).toEqual(refused)
  })

  it('is refused as a plugin if it has two manifests', async () => {
    await expect(openPluginWith(tarEntry('plugin.json', 'x'))).rejects.toThrow('contains this path twice')
  })
})

describe('writing an archive', () => {
  const bytes = utf8.encode('x')
  // `nul.md` and its like are refused, since Windows reserves these names.
  const paths = fc
    .stringMatching(/^[a-z]{1,8}(?:\/[a-zé0-9]{1,8}){0,3}\.md$/)
    .filter((path) => !/(?:^|\/)(?:con|prn|aux|nul|com\d|lpt\d)(?:[./]|$)/.test(path))
  const contents = fc.uniqueArray(fc.record({ path: paths, bytes: fc.uint8Array({ maxLength: 300 }) }), {
    selector: ({ path }) => path,
    maxLength: 12,
  })

  it('writes the same bytes for the same files in every release', () => {
    const archive = writeZip([
      { path: 'scripts/é.py', bytes },
      { path: 'A.md', bytes },
      { path: 'SKILL.md', bytes: utf8.encode(skillMd) },
    ])
    expect(createHash('sha256').update(archive).digest('hex')).toBe(
      'f602fc4d3c393a7ff49a718dfa9d1c4ef953d2dc976028ac4115099beea900f3',
    )
  })

  it('writes the same bytes for any order of files, and reading the archive returns the same files', async () => {
    await fc.assert(
      fc.asyncProperty(contents, fc.nat(), async (files, turn) => {
        const all = [{ path: 'SKILL.md', bytes: utf8.encode(skillMd) }, ...files]
        const archive = writeZip(all)
        const turned = [...all.slice(turn % all.length), ...all.slice(0, turn % all.length)]
        expect(writeZip(turned)).toEqual(archive)
        const skill = await readArchive(archive, 'zip')
        expect(skill.skillMd).toEqual(all[0]!.bytes)
        const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
        expect(skill.files.map(({ path }) => path)).toEqual(sorted.map(({ path }) => path))
        for (const [i, file] of sorted.entries()) expect(Buffer.compare(skill.files[i]!.bytes, file.bytes)).toBe(0)
      }),
      { numRuns: 100 },
    )
  })

  it('writes no modification times and no platform, and does not compress', () => {
    const archive = Buffer.from(writeZip([{ path: 'SKILL.md', bytes }]))
    expect(archive.subarray(30, 38).toString()).toBe('SKILL.md')
    expect([archive.readUInt16LE(8), archive.readUInt16LE(10), archive.readUInt16LE(12)]).toEqual([0, 0, 0x21])
  })

  it('rejects two files with the same path', () => {
    expect(() =>
      writeZip([
        { path: 'a', bytes },
        { path: 'a', bytes },
      ]),
    ).toThrow(TypeError)
  })
})

const leftOut = (path: string, why: string) => ({ path, reason: expect.stringContaining(why) })

/** Moves a file or folder away, and puts a link in its place. Returns the place. */
async function swap(place: string, target?: string): Promise<string> {
  await rename(place, `${place}.moved`)
  if (target !== undefined) await symlink(target, place)
  return place
}

function makePipe(place: string): void {
  execFileSync('mkfifo', [place])
}

describe.skipIf(process.platform === 'win32')(
  'reading a folder (skipped on Windows, which lacks symbolic links and names that are not UTF-8)',
  () => {
    async function readFolder(make: (folder: string) => Promise<unknown>) {
      const folder = join(await mkdtemp(join(tmpdir(), 'skillstead-folder-')), 'skill')
      await mkdir(join(folder, 'docs'), { recursive: true })
      await writeFile(join(folder, 'SKILL.md'), skillMd)
      await writeFile(join(folder, 'docs', 'real.md'), 'Real.')
      await make(folder)
      const items: SourceItem[] = []
      for await (const item of openFolder(folder).items) items.push(item)
      return items
    }

    it('replaces links to files of the skill by the content of these files, and reports every link', async () => {
      const [item] = (await readFolder(async (folder) => {
        await writeFile(join(folder, '..', 'outside.md'), 'Outside.')
        const links = {
          own: 'docs/real.md',
          out: '../outside.md',
          gone: 'nowhere',
          self: 'self.md',
          all: 'docs',
          up: '..',
        }
        for (const [name, target] of Object.entries(links)) await symlink(target, join(folder, `${name}.md`))
        await symlink('../docs', join(folder, 'docs', 'loop'))
        await symlink('/etc/passwd', join(folder, 'docs', 'absolute'))
      })) as [SkillRecord]
      const texts = item.files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])
      expect(texts).toEqual([
        ['docs/real.md', 'Real.'],
        ['own.md', 'Real.'],
      ])
      expect(item.omitted).toEqual([
        leftOut('all.md', 'to a folder'),
        leftOut('docs/absolute', 'out of the skill'),
        leftOut('docs/loop', 'to a folder'),
        leftOut('gone.md', 'to no file'),
        leftOut('out.md', 'out of the skill'),
        leftOut('self.md', 'in a loop'),
        leftOut('up.md', 'out of the skill'),
      ])
      expect(item.changed).toEqual([
        { path: 'own.md', reason: 'The link to docs/real.md became a file with the content of docs/real.md.' },
      ])
    })

    it.each<[string, (folder: string, outside: string) => Promise<unknown>]>([
      ['a file becomes a link', (folder, outside) => swap(join(folder, 'docs/a.md'), join(outside, 'a.md'))],
      ['its folder becomes a link', (folder, outside) => swap(join(folder, 'docs'), outside)],
      ['the folder above becomes a link', (folder, outside) => swap(folder, join(outside, '..'))],
      ['a file becomes a folder', (folder) => swap(join(folder, 'docs/a.md')).then((place) => mkdir(place))],
      ['a file is another one', (folder) => swap(join(folder, 'docs/a.md')).then((place) => writeFile(place, 'New.'))],
      ['a file vanishes', (folder) => swap(join(folder, 'docs/a.md'))],
      ['a file becomes a pipe', (folder) => swap(join(folder, 'docs/a.md')).then((place) => makePipe(place))],
    ])('reads no other file where %s after the walk', async (_, change) => {
      const base = await mkdtemp(join(tmpdir(), 'skillstead-swap-'))
      const folder = join(base, 'given', 'skill')
      for (const place of [folder, base]) {
        await mkdir(join(place, 'docs'), { recursive: true })
        await writeFile(join(place, 'docs/a.md'), place === base ? 'Secret.' : 'Own.')
      }
      const { entries, read } = await openFolderTree(folder)
      expect(entries.map(({ path, size }) => [path, size])).toEqual([['docs/a.md', 4]])
      expect(String((await read(entries))[0])).toBe('Own.')
      await change(folder, join(base, 'docs'))
      await expect(read(entries)).rejects.toMatchObject({
        code: 'upstream_failed',
        message: expect.stringContaining('docs/a.md cannot be read, or changed while it was read.'),
      })
    })

    it('reports the omitted nested skills and tool folders, such as node_modules', async () => {
      const [item, inner] = (await readFolder(async (folder) => {
        await mkdir(join(folder, 'examples', 'inner'), { recursive: true })
        await writeFile(join(folder, 'examples', 'inner', 'SKILL.md'), skillMd)
        await mkdir(join(folder, 'node_modules'))
        await writeFile(join(folder, '.DS_Store'), '')
      })) as [SkillRecord, SkillRecord]
      expect(item.files.map(({ path }) => path)).toEqual(['docs/real.md'])
      expect(item.omitted).toEqual([
        leftOut('.DS_Store', 'to no skill'),
        leftOut('examples/inner', 'a skill of its own'),
        leftOut('node_modules', 'to no skill'),
      ])
      expect(inner.id).toBe('skill/examples/inner/SKILL.md')
    })

    it.each([
      [
        'a file',
        async (folder: string) => writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0x61])]), ''),
      ],
      [
        'a folder',
        async (folder: string) => mkdir(Buffer.concat([Buffer.from(`${folder}/docs/`), Buffer.from([0xff, 0x61])])),
      ],
    ])('refuses a skill by the name of %s that is not UTF-8, with its bytes escaped', async (_, make) => {
      const items = await readFolder(make)
      expect(items[0]).toEqual({
        id: 'skill/SKILL.md',
        reason: expect.stringMatching(/^(?:docs\/)?\\xffa: The name is not UTF-8/),
      })
    })

    it('reports every folder if folder names differ only in a byte that is not UTF-8', async () => {
      const items = await readFolder(async (folder) => {
        for (const byte of [0xe8, 0xe9, 0xea])
          await mkdir(Buffer.from(`${folder}/d${String.fromCharCode(byte)}`, 'latin1'))
      })
      expect(items.map(({ id }) => id)).toEqual([
        'skill/SKILL.md',
        ...['e8', 'e9', 'ea'].map((hex) => `skill/d\\x${hex}`),
      ])
    })

    it.each([
      ['UTF-16', Buffer.from(`\ufeff${skillMd}`, 'utf16le')],
      ['UTF-16 without a mark', Buffer.from(skillMd, 'utf16le')],
      ['Latin-1', Buffer.from('---\nname: \u00fc\n---\n', 'latin1')],
    ])('refuses a SKILL.md in %s by name', async (_, bytes) => {
      const items = await readFolder((folder) => writeFile(join(folder, 'SKILL.md'), bytes))
      expect(items).toEqual([{ id: 'skill/SKILL.md', reason: expect.stringContaining('Save it as UTF-8') }])
    })
  },
)

import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { parseManifestLine, toManifest } from '@skillstead/protocol'
import { toContentDigest, verifyFiles } from '@skillstead/client/verify'
import {
  isExecutable,
  readArchive,
  toDigest,
  toPublishFile,
  toVersionDigest,
  writeZip,
} from '@skillstead/skill-format/archives'
import { describe, expect, it } from 'vitest'

const bytes = (text: string) => Buffer.from(text)
const skillMd = { path: 'SKILL.md', bytes: bytes('---\nname: a\ndescription: Does a\n---\n') }
const script = { path: 'scripts/hi.sh', bytes: bytes('#!/bin/sh\necho hi\n') }
const tool = { path: 'bin/tool', bytes: bytes('\x7fELF') }

/** A zip whose entries have these Unix modes in their attributes; 0 for a writer without modes. */
function zipWithModes(files: readonly (typeof script & { mode: number })[]): Uint8Array {
  const zip = Buffer.from(writeZip(files))
  for (const { path, mode } of files) zip.writeUInt32LE(mode * 0x10000, zip.lastIndexOf(path) - 46 + 38)
  return zip
}

async function readModes(archive: Uint8Array, type: 'zip' | 'tar.gz') {
  const { files } = await readArchive(archive, type)
  return Object.fromEntries(files.map((file) => [file.path, isExecutable(file)]))
}

const modes: [mode: number, expected: boolean][] = [
  [0o100755, true],
  [0o100644, false],
  [0o100700, true],
  [0o100645, true],
  [0o106755, true],
  [0o106644, false],
  [0o101777, true],
  [0o100000, false],
]

describe('the mode of a file in an archive', () => {
  it.each(modes)('%o in a zip makes the file executable: %s', async (mode, expected) => {
    const files = [script, tool].map((file) => ({ ...file, mode }))
    const zip = zipWithModes([{ ...skillMd, mode: 0o100644 }, ...files])
    expect(await readModes(zip, 'zip')).toEqual({ 'bin/tool': expected, 'scripts/hi.sh': expected })
  })

  it.each(modes)('%o in a tar.gz makes the file executable: %s', async (mode, expected) => {
    const entries = [skillMd, script, tool].map(({ path, bytes: body }) => ({
      header: { name: `a/${path}`, size: body.length, mode: mode & 0o7777 },
      body,
    }))
    const tar = gzipSync(await packTar(entries))
    expect(await readModes(tar, 'tar.gz')).toEqual({ 'bin/tool': expected, 'scripts/hi.sh': expected })
  })

  it('may be missing in a zip; then a file that starts with `#!` is executable', async () => {
    const zip = zipWithModes([skillMd, script, tool].map((file) => ({ ...file, mode: 0 })))
    expect(await readModes(zip, 'zip')).toEqual({ 'bin/tool': false, 'scripts/hi.sh': true })
  })

  it.each([0o020755, 0o060755, 0o010755])('%o marks a device or pipe, which is reported as omitted', async (mode) => {
    const zip = zipWithModes([
      { ...skillMd, mode: 0o100644 },
      { ...script, mode },
    ])
    expect(await readArchive(zip, 'zip')).toMatchObject({
      files: [],
      omitted: [{ path: script.path, reason: 'The entry is neither a file nor a folder.' }],
    })
  })
})

describe('a written zip', () => {
  it('has mode 0755 for executable files, and the same bytes as in earlier releases without executable files', async () => {
    const plain = [skillMd, script, tool]
    expect(toDigest(writeZip(plain.map((file) => ({ ...file, executable: false }))))).toBe(toDigest(writeZip(plain)))
    expect(toDigest(writeZip(plain))).toBe('sha256:a9890eda933b97812b58dcb3f3f560dcda57806340d65857da2b9389b9ffdde3')
    const zip = writeZip([skillMd, script, { ...tool, executable: true }])
    expect(await readModes(zip, 'zip')).toEqual({ 'bin/tool': true, 'scripts/hi.sh': false })
    expect(toDigest(zip)).not.toBe(toDigest(writeZip(plain)))
  })
})

const lines = ({ executable = false } = {}) =>
  toManifest(
    [skillMd, script, tool].map(({ path, bytes: { length }, bytes: content }) => ({
      path,
      size: length,
      digest: toDigest(content),
      executable: executable && path === 'bin/tool',
    })),
  )

describe('the digest of a version', () => {
  it('is the same as in the format without modes if no file is executable', () => {
    const files = [skillMd, script, tool].map((file) => ({ ...file, executable: false }))
    expect(toVersionDigest(files)).toBe('sha256:5a2756ca82d5c8d6b3fca1bebaa44e541070b45741c5793ade7513db57757475')
    expect(toContentDigest(files)).toBe(toVersionDigest(files))
    expect(toDigest(lines())).toBe(toVersionDigest(files))
  })

  it('depends on which files are executable, and is equal in all implementations', () => {
    const digests = [[], [script], [tool], [script, tool]].map((programs) => {
      const files = [skillMd, script, tool].map((file) => ({ ...file, executable: programs.includes(file) }))
      expect(toContentDigest(files)).toBe(toVersionDigest(files))
      return toVersionDigest(files)
    })
    expect(new Set(digests).size).toBe(4)
  })

  it('ignores a mode of SKILL.md', () => {
    const [plain, marked] = [false, true].map((executable) => [{ ...skillMd, executable }])
    expect(toVersionDigest(marked!)).toBe(toVersionDigest(plain!))
    expect(toContentDigest(marked!)).toBe(toContentDigest(plain!))
  })

  it('is computed from lines that differ for every two different files', () => {
    expect(lines({ executable: true })).toContain(' 4+x bin/tool\n')
    const digest = toDigest('')
    const files = [
      { path: 'x', size: 4, digest, executable: true },
      { path: 'x', size: 4, digest },
      { path: '+x x', size: 4, digest },
      { path: '4+x x', size: 4, digest },
    ]
    const texts = files.map((file) => toManifest([file]))
    expect(new Set(texts).size).toBe(files.length)
    expect(texts.map((text) => parseManifestLine(text.trimEnd()))).toEqual(files)
  })

  it.each(['', `${toDigest('')} 4`, `${toDigest('')} 4+X a`, `${toDigest('')} 4 +x`, `${toDigest('')} +x a`])(
    'is not computed from a malformed line: %s',
    (line) => {
      const file = parseManifestLine(line)
      expect(file === undefined || toManifest([file]) === `${line}\n`).toBe(true)
      expect(file?.executable).toBeUndefined()
    },
  )

  it('does not match if a file has another mode than listed; a file without a mode takes the listed mode', () => {
    const listed = lines({ executable: true })
      .trimEnd()
      .split('\n')
      .map((line) => parseManifestLine(line)!)
    const digest = toDigest(lines({ executable: true }))
    const files = (executable?: boolean) => [
      skillMd,
      script,
      { ...tool, ...(executable !== undefined && { executable }) },
    ]
    verifyFiles(files(true), digest, listed)
    verifyFiles(files(), digest, listed)
    verifyFiles(files(true), digest)
    expect(() => verifyFiles(files(false), digest, listed)).toThrow('bin/tool is not executable')
    const more = [skillMd, { ...script, executable: true }, { ...tool, executable: true }]
    expect(() => verifyFiles(more, digest, listed)).toThrow('scripts/hi.sh is executable')
    expect(() => verifyFiles(files(), digest)).toThrow(digest)
  })
})

it('a file of a publish request states its mode only if the mode differs from what `#!` implies', () => {
  const sent = [script, tool].flatMap((file) =>
    [true, false, undefined].map((executable) => toPublishFile({ ...file, executable }).executable),
  )
  expect(sent).toEqual([undefined, false, undefined, true, undefined, undefined])
})

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Registry } from '@skillstead/core'
import { partsOf, signText } from '@skillstead/core/internal'
import { createBundle, type BundleHeader } from '@skillstead/mirror'
import { toCanonical } from './canonical.ts'
import { packTar, unpackTar } from 'modern-tar'
import { onTestFinished } from 'vitest'
import { skillMd } from './answers.ts'
import type { Open, TestRegistry, TestUser } from './harness.ts'

/** A registry with a user who publishes. */
export interface Publisher {
  readonly test: TestRegistry
  readonly registry: Registry
  readonly alice: TestUser
  readonly key: string
  publish(
    name: string,
    version?: string,
    more?: { body?: string; license?: string; files?: ExtraFile[] },
  ): Promise<void>
}

interface ExtraFile {
  readonly path: string
  readonly content: string
}

export async function openPublisher(open: Open, options: Parameters<Open>[0] = {}): Promise<Publisher> {
  const test = await open({ origin: 'origin.example', works: false, ...options })
  const alice = await test.makeUser('alice')
  const [key] = await test.registry.verifierKeys()
  return {
    test,
    registry: test.registry,
    alice,
    key: key!.vkey,
    async publish(name, version = '1.0.0', { body = `# ${name}\n\nDoes it in ${version}.\n`, ...rest } = {}) {
      await alice.api.publishSkill({ skillMd: skillMd(name, { body }), version, ...rest })
    },
  }
}

/** Lets a registry sign with the keys of another one. */
export async function adoptKeys(
  { registry: from }: Pick<Publisher, 'registry'>,
  { registry: to }: Pick<Publisher, 'registry'>,
): Promise<void> {
  const keys = await partsOf(from).database.read.selectFrom('signing_keys').selectAll().execute()
  await partsOf(to).database.writer.write(async (trx) => {
    await trx.deleteFrom('signing_keys').execute()
    await trx.insertInto('signing_keys').values(keys).execute()
  })
  partsOf(to).transparency.keys.clear()
  partsOf(to).transparency.checkpoints.clear()
}

/** A file in a folder that goes when the test ends. */
export async function makeFile(name = 'skills.bundle'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'skillstead-bundle-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, name)
}

/** A bundle of what a publisher has, or had after a position. */
export async function bundleOf(
  { registry }: Pick<Publisher, 'registry'>,
  options: Parameters<typeof createBundle>[2] = {},
) {
  const file = await makeFile()
  await createBundle(registry, file, options)
  return file
}

/** A file of the archive that a bundle is. */
export interface Part {
  name: string
  bytes: Uint8Array
  /** Of the tar header, where it is to be odd. */
  type?: 'symlink' | 'directory'
  pax?: Record<string, string>
}

/** What a bundle is made of, as any program that reads tar sees it. */
export async function readParts(file: string): Promise<Part[]> {
  const entries = await unpackTar(zstdDecompressSync(await readFile(file)), { strict: true })
  return entries.map(({ header, data }) => ({ name: header.name, bytes: data ?? new Uint8Array() }))
}

/** Writes a bundle as any program that writes tar would. */
async function writeParts(file: string, parts: readonly Part[]): Promise<void> {
  const tar = await packTar(
    parts.map(({ name, bytes, type, pax }) => ({
      header: { name, size: bytes.length, type, pax, mode: 0o644, mtime: new Date(0) },
      body: bytes,
    })),
  )
  await writeFile(file, compress(tar))
}

export function compress(bytes: Uint8Array): Buffer {
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } })
}

/** Makes a changed copy of a bundle, as an attacker could who has the signing key of the node. */
export async function alter(
  registry: Registry,
  file: string,
  change: (parts: Part[], header: BundleHeader) => Part[] | void,
): Promise<string> {
  const parts = await readParts(file)
  const header = readHeader(parts)
  const changed = change(parts, header) ?? parts
  const text = `${toCanonical(header)}\n`
  const signature = (await signText(partsOf(registry), text)).map((line) => `${line}\n`).join('')
  replace(changed, 'bundle.json', text)
  replace(changed, 'bundle.sig', signature)
  const altered = await makeFile('altered.bundle')
  await writeParts(altered, changed)
  return altered
}

export function readHeader(parts: readonly Part[]): BundleHeader {
  return JSON.parse(Buffer.from(parts[0]!.bytes).toString()) as BundleHeader
}

/** Gives a part other bytes; one that is not there stays away. */
function replace(parts: Part[], name: string, text: string): void {
  const part = parts.find((one) => one.name === name)
  if (part) part.bytes = Buffer.from(text)
}

import { randomBytes } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { ContentFile } from '@skillstead/client/verify'
import {
  isRegistryError,
  toOneLine,
  type Pack,
  type PathReason,
  type RegistryApi,
  toShortName,
} from '@skillstead/protocol'
import {
  createPluginFacts,
  createPluginFolders,
  pluginFile,
  toPluginManifest,
  writeZip,
} from '@skillstead/skill-format/archives'
import { refuseOtherArchives } from '../files/archive-kinds.ts'
import { writeWhole } from '../files/write-whole.ts'
import { downloadPackage } from '../install/fetch-package.ts'
import { requestOffer, type Say } from '../install/offer.ts'
import { isThere, writeFiles } from '../install/staging.ts'

/** A written plugin. */
export interface WrittenPlugin {
  readonly path: string
  /** The folders below `skills/`. */
  readonly skills: readonly { readonly folder: string; readonly fullName: string; readonly version: string }[]
  /** Skills of the pack that the plugin does not have. */
  readonly omitted: readonly PathReason[]
}

const zipBytesMax = 512 * 1024 * 1024

/**
 * Writes a pack as a plugin of Agent Plugins 1.0.0: a new folder, or a new file where the path ends with `.zip`. The
 * content of each skill is verified. Leaves out skills that cannot be installed. Nothing is left of a plugin that could
 * not be written completely.
 */
export async function writePlugin(api: RegistryApi, pack: Pack, path: string, say: Say): Promise<WrittenPlugin> {
  refuseOtherArchives(path, ['.zip'])
  const target = resolve(path)
  const isZip = /\.zip$/i.test(path)
  requireFree(path, isZip)
  const plugin = isZip ? createZip(target) : createFolder(target)
  const facts = createPluginFacts()
  const toFolder = createPluginFolders()
  const skills = []
  const omitted: PathReason[] = []
  try {
    for (const { fullName, pinnedVersion } of pack.skills) {
      const found = await fetchSkill(api, { name: fullName, version: pinnedVersion ?? undefined }, say)
      if (found.reason !== undefined) {
        omitted.push({ path: fullName, reason: found.reason })
        continue
      }
      const name = toShortName(found.fullName)
      const folder = toFolder({ owner: found.fullName.slice(0, -name.length - 1), name })
      facts.put(folder, found)
      plugin.add(folder, found.files)
      skills.push({ folder, fullName: found.fullName, version: found.version })
    }
    if (skills.length === 0) throw new Error(`The pack ${pack.slug} has no skill that can be installed.`)
    const { slug: name, description, curator } = pack
    plugin.finish(toPluginManifest({ name, description, owner: curator.username, skills: facts }))
  } catch (error) {
    plugin.remove()
    throw error
  }
  return { path, skills, omitted }
}

/** Removes an empty folder at the path, unless a zip is to be written there. Throws if anything is left at the path. */
function requireFree(path: string, isZip: boolean): void {
  if (!isThere(path)) return
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  try {
    if (isFolder && !isZip) return rmdirSync(path)
  } catch {}
  throw new Error(`${path} exists already. Pass a path that does not exist${isZip ? '' : ', or an empty folder'}.`)
}

async function fetchSkill(api: RegistryApi, asked: { name: string; version: string | undefined }, say: Say) {
  try {
    const offer = await requestOffer(api, asked, say)
    if (offer.isDangerous) return { reason: 'The scanner rates it as dangerous.' }
    offer.warnings.forEach(say)
    return { ...offer, reason: undefined, files: (await downloadPackage(api, offer, say)).files }
  } catch (error) {
    if (isRegistryError(error) && (error.code === 'not_found' || error.code === 'taken_down'))
      return { reason: toOneLine(error.message) }
    throw error
  }
}

/** A plugin that is being written. */
interface PluginWriter {
  add(folder: string, files: readonly ContentFile[]): void
  finish(manifest: string): void
  remove(): void
}

function createFolder(target: string): PluginWriter {
  const written = `${target}.${randomBytes(4).toString('hex')}.tmp`
  mkdirSync(dirname(target), { recursive: true })
  mkdirSync(join(written, 'skills'), { recursive: true })
  return {
    add: (folder, files) => writeFiles(join(written, 'skills', folder), files),
    finish(manifest) {
      writeFileSync(join(written, pluginFile), manifest, { flush: true })
      renameSync(written, target)
    },
    remove: () => rmSync(written, { recursive: true, force: true }),
  }
}

function createZip(target: string): PluginWriter {
  const entries: ContentFile[] = []
  let bytesLeft = zipBytesMax
  return {
    add(folder, files) {
      bytesLeft -= files.reduce((sum, { bytes }) => sum + bytes.length, 0)
      if (bytesLeft < 0)
        throw new Error(`The plugin is larger than ${zipBytesMax / 1024 / 1024} MiB. Write it to a folder instead.`)
      entries.push(...files.map((file) => ({ ...file, path: `skills/${folder}/${file.path}` })))
    },
    finish: (manifest) =>
      writeWhole(target, writeZip([{ path: pluginFile, bytes: Buffer.from(manifest) }, ...entries])),
    remove: () => undefined,
  }
}

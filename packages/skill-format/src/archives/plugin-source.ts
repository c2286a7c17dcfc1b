import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isRegistryError, type PathReason } from '@skillstead/protocol'
import { ArchiveError, toArchiveError } from './archive-error.ts'
import type { ArchiveEntry } from './entry-options.ts'
import { checkManifestSize, parsePluginManifest, pluginFile, type PluginManifest } from './plugin-manifest.ts'
import { stripPluginFolder } from './read-archive.ts'
import { hasSkillMd, openFolder, readEntries } from './skill-folder.ts'
import { isSkillMd, isSkippedName, notUtf8, selectSkills, skippedReason, toBounded } from './select-files.ts'
import type { Source, SourceItem } from './skill-records.ts'
import { readManyEntries, toItem } from './skill-zip.ts'

/** A plugin of Agent Plugins 1.0.0, whose skills are the items of a source. */
export interface Plugin extends Source, PluginManifest {
  /** Entries that belong to no skill of the plugin; paths are relative to the plugin. */
  readonly omitted: readonly PathReason[]
}

/**
 * Opens a folder or archive with `plugin.json` at its root. Undefined if it is no plugin: a folder with a SKILL.md is a
 * skill, whatever else it has. Undefined too for an archive that cannot be read.
 *
 * @throws {ArchiveError} that names the field at fault, if the manifest is not valid.
 */
export async function openPlugin(path: string): Promise<Plugin | undefined> {
  if ((await stat(path)).isDirectory()) return openPluginFolder(resolve(path))
  const type = /\.zip$/i.test(path) ? 'zip' : /\.(?:tar\.gz|tgz)$/i.test(path) ? 'tar.gz' : undefined
  return type && openPluginArchive(path, type)
}

/** An entry at the root of a plugin, or of its folder `skills`. */
interface ListedEntry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly isUtf8?: boolean
  readonly hasSkillMd?: boolean
}

async function openPluginFolder(folder: string): Promise<Plugin | undefined> {
  const root = await readEntries(folder)
  const manifest = root.find(({ name }) => name === pluginFile)
  if (!manifest || hasSkillMd(root)) return undefined
  requireFile(manifest)
  checkManifestSize((await stat(join(folder, pluginFile))).size)
  const found = parsePluginManifest(await readFile(join(folder, pluginFile)))
  const skills: ListedEntry[] = []
  if (root.some(isSkillsFolder)) {
    for (const entry of await readEntries(join(folder, 'skills'))) {
      const isRead = entry.kind === 'folder' && entry.isUtf8 && !isSkippedName(entry.name)
      const has = isRead && hasSkillMd(await readEntries(join(folder, 'skills', entry.name)))
      skills.push({ ...entry, hasSkillMd: has })
    }
  }
  const { items, share } = openFolder(folder)
  return toPlugin(found, { root, skills }, { items: keepPluginSkills(items), share })
}

/** Items of a folder whose documents are `FOLDER/skills/NAME/SKILL.md`. */
async function* keepPluginSkills(items: Source['items']): AsyncGenerator<SourceItem> {
  for await (const item of items) {
    const [, skills, , document = '', ...deeper] = item.id.split('/')
    if (skills === 'skills' && isSkillMd(document) && deeper.length === 0) yield item
  }
}

async function openPluginArchive(file: string, type: 'zip' | 'tar.gz'): Promise<Plugin | undefined> {
  const entries = stripPluginFolder(await readManyEntries(file, type).catch(ignoreUnreadable))
  if (!entries) return undefined
  const root = listNames(entries, '')
  const manifest = root.find(({ name }) => name === pluginFile)!
  requireFile(manifest)
  const found = parsePluginManifest(entries.find(({ path }) => path === pluginFile)!.bytes)
  const selected = selectSkills(entries).filter(({ folder }) => /^skills\/[^/]+$/.test(folder))
  const folders = new Set(selected.map(({ folder }) => folder))
  const skills = root.some(isSkillsFolder)
    ? listNames(entries, 'skills/').map((entry) => ({ ...entry, hasSkillMd: folders.has(`skills/${entry.name}`) }))
    : []
  let read = 0
  async function* items(): AsyncGenerator<SourceItem> {
    for (const skill of selected) {
      yield toItem(skill, '')
      read += 1
    }
  }
  return toPlugin(found, { root, skills }, { items: items(), share: () => read / Math.max(1, selected.length) })
}

/** The reader of the archive reports what is wrong with it. */
function ignoreUnreadable(error: unknown): undefined {
  if (!(error instanceof ArchiveError || isRegistryError(error))) throw error
}

function toPlugin(
  manifest: PluginManifest,
  listed: { readonly root: readonly ListedEntry[]; readonly skills: readonly ListedEntry[] },
  source: Source,
): Plugin {
  const omitted = [
    ...listed.root
      .filter((entry) => entry.name !== pluginFile && !isSkillsFolder(entry))
      .map((entry) => ({ path: entry.name, reason: explainRoot(entry) })),
    ...listed.skills
      .filter((entry) => !isSkill(entry))
      .map((entry) => ({ path: `skills/${entry.name}`, reason: explainSkill(entry) })),
  ]
  return { ...manifest, ...source, omitted: toBounded([...manifest.ignored, ...omitted]) }
}

/** The entries directly below a folder of an archive. */
function listNames(entries: readonly ArchiveEntry[], folder: string): ListedEntry[] {
  const found = new Map<string, ListedEntry>()
  for (const { path, kind = 'file' } of entries) {
    if (!path.startsWith(folder)) continue
    const rest = path.slice(folder.length)
    const end = rest.indexOf('/')
    const name = end === -1 ? rest : rest.slice(0, end)
    if (name !== '' && (end !== -1 || !found.has(name))) found.set(name, { name, kind: end === -1 ? kind : 'folder' })
  }
  return [...found.values()]
}

function requireFile({ kind }: ListedEntry): void {
  if (kind !== 'file') throw toArchiveError('The manifest is a link or no file. Replace it by the file.', pluginFile)
}

function isSkillsFolder({ name, kind }: ListedEntry): boolean {
  return name === 'skills' && kind === 'folder'
}

function isSkill({ kind, hasSkillMd: has }: ListedEntry): boolean {
  return kind === 'folder' && has === true
}

/** Why an entry at the root of a plugin is published nowhere. */
function explainRoot(entry: ListedEntry): string {
  const { name, kind } = entry
  if (name === 'skills') return 'The skills of a plugin are in a folder of this name. A link is not followed.'
  if (isSkillMd(name)) return skillsOnly
  if (name === 'mcp.json')
    return 'A pack has no MCP servers. Put the file into the folder of the skill that needs the servers.'
  if (kind === 'folder' && /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i.test(name))
    return 'Files for one client belong to no skill, and are not published.'
  if (clientParts.has(name)) return 'It is for some clients only, no part of Agent Plugins 1.0.0, and is not published.'
  return explainOther(entry) ?? 'It belongs to no skill of the plugin (skills/FOLDER/SKILL.md), and is not published.'
}

function explainSkill(entry: ListedEntry): string {
  if (entry.kind === 'link') return 'It is a link, which is not followed. Replace it by the folder.'
  return explainOther(entry) ?? skillsOnly
}

function explainOther({ name, kind, isUtf8 = true }: ListedEntry): string | undefined {
  if (!isUtf8) return notUtf8
  if (isSkippedName(name)) return skippedReason
  if (kind === 'link') return 'It is a link, which is not followed.'
  return kind === 'other' ? 'It is neither a file nor a folder.' : undefined
}

const skillsOnly = 'A skill of a plugin is skills/FOLDER/SKILL.md, at no other depth.'
const clientParts: ReadonlySet<string> = new Set(
  `.agents .claude-plugin .codex-plugin .cursor-plugin .lsp.json .mcp.json agents bin commands hooks monitors
  output-styles rules settings.json`.split(/\s+/),
)

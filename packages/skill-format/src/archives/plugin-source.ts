import { lstat, stat } from 'node:fs/promises'
import { basename, join, posix, resolve } from 'node:path'
import { isRegistryError, isSkippedName, type PathReason } from '@skillstead/protocol'
import { readValidNamesFirst } from './name-order.ts'
import { ArchiveError, toArchiveError } from './archive-error.ts'
import { openFolderTree, type FolderEntry } from './folder-tree.ts'
import { checkManifestSize, parsePluginManifest, pluginFile, type PluginManifest } from './plugin-manifest.ts'
import { readArchived, stripPluginFolder } from './read-archive.ts'
import { isSkillMd, selectSkills, skippedReason, toBounded, type SourceEntry } from './select-files.ts'
import { readSourceItem, type Source } from './skill-records.ts'
import { readManyEntries } from './skill-zip.ts'

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
interface ListedEntry extends Pick<SourceEntry, 'problem'> {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly hasSkillMd?: boolean
}

async function openPluginFolder(folder: string): Promise<Plugin | undefined> {
  // Most folders are no plugin, and need not be listed here.
  if (!(await lstat(join(folder, pluginFile)).catch(() => undefined))) return undefined
  const tree = await openFolderTree(folder)
  return tree.entries.some(isDocument) ? undefined : readPlugin(tree, basename(folder))
}

function isDocument({ path, kind }: FolderEntry): boolean {
  return isSkillMd(path) && kind !== 'folder' && kind !== 'other'
}

async function openPluginArchive(file: string, type: 'zip' | 'tar.gz'): Promise<Plugin | undefined> {
  const entries = stripPluginFolder(await readManyEntries(file, type).catch(ignoreUnreadable))
  return entries && readPlugin({ entries, read: readArchived }, '')
}

interface PluginEntries<Entry> {
  readonly entries: readonly Entry[]
  /** Whether the entries are in a repository of a node; see {@link selectSkills}. */
  readonly isOfNode?: boolean
  read(entries: readonly Entry[]): readonly Uint8Array[] | Promise<readonly Uint8Array[]>
}

async function readPlugin<Entry extends SourceEntry & Partial<Pick<FolderEntry, 'size' | 'executable'>>>(
  { entries, isOfNode, read }: PluginEntries<Entry>,
  name: string,
): Promise<Plugin | undefined> {
  const root = listNames(entries, '')
  const manifest = entries.find(({ path }) => path === pluginFile)
  if (manifest?.kind !== undefined && manifest.kind !== 'file') throw toArchiveError(noFile, pluginFile)
  const refused = entries.find(({ path, problem }) => path === pluginFile && problem !== undefined)
  if (refused) throw toArchiveError(refused.problem!, pluginFile)
  // No plugin: `plugin.json` is a folder.
  if (!manifest) return undefined
  checkManifestSize(manifest.size ?? 0)
  const [bytes] = await read([manifest])
  const found = parsePluginManifest(bytes!)
  const selected = selectSkills(entries, { isOfNode }).filter(({ folder }) => /^skills\/[^/]+$/.test(folder))
  const folders = new Set(selected.map(({ folder }) => folder))
  const skills = root.some(isSkillsFolder)
    ? listNames(entries, 'skills/').map((entry) => ({ ...entry, hasSkillMd: folders.has(`skills/${entry.name}`) }))
    : []
  let share = 0
  const items = readValidNamesFirst(selected, (skill) => {
    share = Math.min(1, share + 1 / selected.length)
    const id = posix.join(name, skill.document)
    return readSourceItem(skill, { id, path: id }, read)
  })
  return toPlugin(found, { root, skills }, { items, share: () => share })
}

/** Ignores that an archive cannot be read, because the import of its skills reports it. Throws other errors. */
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
function listNames(entries: readonly SourceEntry[], folder: string): ListedEntry[] {
  const found = new Map<string, ListedEntry>()
  for (const { path, kind = 'file', problem } of entries) {
    if (!path.startsWith(folder)) continue
    const rest = path.slice(folder.length)
    const end = rest.indexOf('/')
    const name = end === -1 ? rest : rest.slice(0, end)
    if (name === '' || (end === -1 && found.has(name))) continue
    found.set(name, end === -1 ? { name, kind, ...(problem !== undefined && { problem }) } : { name, kind: 'folder' })
  }
  return [...found.values()]
}

const noFile = 'The manifest is a link or no file. Replace it by the file.'

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

function explainOther({ name, kind, problem }: ListedEntry): string | undefined {
  if (problem !== undefined) return problem
  if (isSkippedName(name)) return skippedReason
  if (kind === 'link') return 'It is a link, which is not followed.'
  return kind === 'other' ? 'It is neither a file nor a folder.' : undefined
}

const skillsOnly = 'A skill of a plugin is skills/FOLDER/SKILL.md, at no other depth.'
const clientParts: ReadonlySet<string> = new Set(
  `.agents .claude-plugin .codex-plugin .cursor-plugin .lsp.json .mcp.json agents bin commands hooks monitors
  output-styles rules settings.json`.split(/\s+/),
)

import { createHash } from 'node:crypto'

/** Kinds of objects, with their numbers in packs. */
export const objectKinds = { commit: 1, tree: 2, blob: 3, tag: 4 } as const
type ObjectKind = keyof typeof objectKinds

/** An object whose bytes are in memory. `id` is its SHA-1 in hex digits. */
export interface GitObject {
  readonly kind: ObjectKind
  readonly id: string
  readonly bytes: Uint8Array
}

/** A file, or a folder that is already a tree, at a path. */
export interface TreeEntry {
  readonly path: string
  readonly id: string
  /** Default: `file`. */
  readonly kind?: 'file' | 'executable' | 'tree'
}

/** The author of a commit or tag: a name of the registry, without the characters that git uses as separators. */
export interface Signature {
  readonly name: string
  /** The time of the commit or tag, in milliseconds since 1970. */
  readonly at: number
}

export function toObject(kind: ObjectKind, bytes: Uint8Array): GitObject {
  return { kind, id: createHash('sha1').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex'), bytes }
}

export function toCommit(commit: { tree: string; parent?: string | undefined; by: Signature; message: string }) {
  const by = toSignature(commit.by)
  const parent = commit.parent === undefined ? '' : `parent ${commit.parent}\n`
  const text = `tree ${commit.tree}\n${parent}author ${by}\ncommitter ${by}\n\n${commit.message}\n`
  return toObject('commit', Buffer.from(text))
}

/** An annotated tag of a commit. */
export function toTag(tag: { name: string; commit: string; by: Signature; message: string }): GitObject {
  const head = `object ${tag.commit}\ntype commit\ntag ${tag.name}\ntagger ${toSignature(tag.by)}`
  return toObject('tag', Buffer.from(`${head}\n\n${tag.message}\n`))
}

/** The time of a commit or tag, in seconds since 1970. */
export function toUnixSeconds({ at }: Signature): number {
  return Math.max(0, Math.floor(at / 1000))
}

/** The author of a commit or tag with its time, as git writes them. The mail address never receives mail (RFC 2606). */
function toSignature(by: Signature): string {
  return `${by.name} <${by.name}@users.noreply.invalid> ${toUnixSeconds(by)} +0000`
}

/** Adds a file to the root of a tree. */
export function addToTree({ bytes }: GitObject, { path, id }: TreeEntry): GitObject {
  const tree = Buffer.from(bytes)
  const name = Buffer.from(path)
  let at = 0
  while (at < tree.length) {
    const end = tree.indexOf(0, at)
    const mode = tree.toString('latin1', at, tree.indexOf(' ', at))
    const found = tree.subarray(at + mode.length + 1, end)
    if (Buffer.compare(mode === treeMode ? Buffer.concat([found, Buffer.from('/')]) : found, name) > 0) break
    at = end + 21
  }
  const entry = [Buffer.from(`${modes.file} ${path}\0`), Buffer.from(id, 'hex')]
  return toObject('tree', Buffer.concat([tree.subarray(0, at), ...entry, tree.subarray(at)]))
}

interface Folder {
  readonly children: Map<string, { readonly mode: string; readonly id: string } | Folder>
}

/** The tree objects of all folders that contain the entries, the root last. */
export function toTrees(entries: readonly TreeEntry[]): GitObject[] {
  const root: Folder = { children: new Map() }
  for (const { path, id, kind = 'file' } of entries) {
    const segments = path.split('/')
    const name = segments.pop()!
    let folder = root
    for (const segment of segments) folder = openTreeFolder(folder, segment)
    folder.children.set(name, { mode: modes[kind], id })
  }
  const trees: GitObject[] = []
  writeTree(root, trees)
  return trees
}

const treeMode = '40000'
const modes = { file: '100644', executable: '100755', tree: treeMode }

function openTreeFolder({ children }: Folder, name: string): Folder {
  const found = children.get(name)
  if (found && 'children' in found) return found
  const made: Folder = { children: new Map() }
  children.set(name, made)
  return made
}

function writeTree(folder: Folder, trees: GitObject[]): string {
  const lines = [...folder.children].map(([name, child]) => {
    const { mode, id } = 'children' in child ? { mode: treeMode, id: writeTree(child, trees) } : child
    // Git sorts a folder as if its name ended with a slash.
    return { mode, name, id, key: Buffer.from(mode === treeMode ? `${name}/` : name) }
  })
  lines.sort((a, b) => Buffer.compare(a.key, b.key))
  const parts = lines.flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')])
  const tree = toObject('tree', Buffer.concat(parts))
  trees.push(tree)
  return tree.id
}

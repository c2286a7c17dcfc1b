import { findSkippedPath } from '@skillstead/protocol'
import { zipSync, type Zippable } from 'fflate'
import { fromEvent, type FileWithPath } from 'file-selector'
import { toCount } from '../../../ui/parts.tsx'

/** A package as the API accepts it. */
export interface Upload {
  readonly contentType: 'application/zip' | 'application/gzip'
  readonly body: Uint8Array<ArrayBuffer>
  /** The name of the folder or file. */
  readonly title: string
  /** Files and folders that are not sent, with the number of files in each folder. */
  readonly leftOut: readonly string[]
}

const bytesMax = 50 * 1024 * 1024

/**
 * The dropped or chosen files as one archive: a zip or tar.gz unchanged, a folder or single files packed into a zip.
 * Throws an Error with a message for the user if they are too large or not one skill.
 */
export async function readDrop(event: Event): Promise<Upload> {
  const found = (await fromEvent(event)).filter((item): item is FileWithPath => item instanceof File)
  const files = found.filter((file) => findSkippedPath(toFilePath(file)) === undefined)
  if (files.length === 0) throw new Error('You dropped no files. Drop the folder of a skill.')
  const total = files.reduce((sum, { size }) => sum + size, 0)
  if (total > bytesMax)
    throw new Error(`The files have ${Math.ceil(total / 2 ** 20)} MiB; a skill can have at most 50 MiB.`)
  if (files.length === 1 && isArchive(files[0]!)) return toArchiveUpload(files[0]!)
  const root = toSkillRoot(files.map(toFilePath))
  refuseNestedGit(found.map(toFilePath), root)
  return { ...(await packDroppedFolder(files, root)), leftOut: listSkipped(found.map(toFilePath), root) }
}

const isArchive = ({ name }: File): boolean => /\.(zip|skill|tgz|tar\.gz)$/i.test(name)

async function toArchiveUpload(file: File): Promise<Upload> {
  const body = new Uint8Array(await file.arrayBuffer())
  const contentType = /\.(zip|skill)$/i.test(file.name) ? 'application/zip' : 'application/gzip'
  return { contentType, body, title: file.name, leftOut: [] }
}

async function packDroppedFolder(files: readonly FileWithPath[], root: string): Promise<Omit<Upload, 'leftOut'>> {
  const paths = files.map(toFilePath)
  const entries: Zippable = {}
  for (const [place, file] of files.entries()) {
    entries[paths[place]!.slice(root.length)] = new Uint8Array(await file.arrayBuffer())
  }
  return { contentType: 'application/zip', body: zipSync(entries), title: root.split('/').at(-2) ?? paths[0]! }
}

/** The folder of the topmost SKILL.md; all other files must be below it. */
function toSkillRoot(paths: readonly string[]): string {
  const documents = paths.filter((path) => /(^|\/)skill\.md$/i.test(path))
  const [topmost] = documents.toSorted((one, other) => one.split('/').length - other.split('/').length)
  if (topmost === undefined) throw new Error('The dropped files contain no SKILL.md. Drop the folder of a skill.')
  const root = topmost.slice(0, topmost.lastIndexOf('/') + 1)
  const outside = paths.find((path) => !path.startsWith(root))
  if (outside !== undefined) {
    throw new Error(`${outside} is outside the skill's folder, ${root}. Drop only that folder.`)
  }
  return root
}

function listSkipped(paths: readonly string[], root: string): string[] {
  const counts = new Map<string, number>()
  for (const path of paths) {
    const skipped = findSkippedPath(path)
    if (skipped === undefined) continue
    const place = skipped === path ? path : `${skipped}/`
    counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  return [...counts].toSorted().map(([place, count]) => {
    const shown = place.startsWith(root) ? place.slice(root.length) : place
    return shown.endsWith('/') ? `${shown.slice(0, -1)} (${toCount(count, 'file')})` : shown
  })
}

/** Throws for a `.git` folder, which the node would also reject. One next to SKILL.md is left out instead. */
function refuseNestedGit(paths: readonly string[], root: string): void {
  const nested = paths.find((path) => path.startsWith(root) && path.slice(root.length).includes('/.git/'))
  if (nested !== undefined) throw new Error(`.git is not allowed inside a skill. Remove ${nested}.`)
}

/** The relative path of a file. Browsers report `./folder/file`, `/folder/file` or `folder/file`. */
const toFilePath = (file: FileWithPath): string =>
  (file.path || file.webkitRelativePath || file.name).replace(/^\.?\//, '')

import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { RegistryError, limits } from '@skillstead/protocol'
import * as v from 'valibot'
import type { SnapshotSource } from '../types.ts'
import { readFolderPlaces } from './folder-source.ts'
import { runGit, type GitOptions } from './git.ts'
import { hidePassword } from '../hide-password.ts'
import { openScratchFolder } from './scratch-folder.ts'
import { isExecutableMode, mayBeGitAttributes, notUtf8, type FolderEntry } from '@skillstead/skill-format/archives'
import { readSkillTree, type SkillTree } from './skill-folders.ts'

export interface GitSourceOptions {
  /** A URL (https, http, ssh, or `user@host:path`), or a path on this machine. */
  readonly location: string
  /** The owner of the imported skills. */
  readonly owner: string
  readonly wants: (skill: { owner: string; name: string }) => boolean
  readonly now: () => number
  readonly signal?: AbortSignal
  /** The git program. Default: `git`. */
  readonly program?: string
}

interface BlobFile extends FolderEntry {
  readonly sha: string
}

interface Repository {
  readonly address: string
  readonly isLocal: boolean
}

const StoredCursor = v.object({ commit: v.string() })
const repositoryBytesMax = 2 * 1024 * 1024 * 1024
const entriesMax = 500_000
/** Maximum length of a link's target: a longer target leads to no file of a skill. */
const targetBytesMax = 1024
const blobsPerRead = 10_000
/** Maximum length of a location. */
const locationCharactersMax = 2000

/**
 * Reads a repository at the newest commit of its default branch, without its history and without a work tree. Reads no
 * submodules. Uses none of the repository's filters, hooks and settings.
 */
export function createGitSource(options: GitSourceOptions): SnapshotSource {
  const { owner, wants } = options
  const repository = parseRepository(options.location)
  let requests = 0

  return {
    async *list(stored, known) {
      requests += 1
      const commit = await readGitHead(repository, options)
      const before = v.safeParse(StoredCursor, stored)
      if (before.success && before.output.commit === commit) return
      const places = readFolderPlaces(stored)
      const folder = await openScratchFolder()
      try {
        requests += 1
        const { tree, cloned } = await fetchTree(repository, folder.path, options)
        for await (const { left, ...batch } of readSkillTree(tree, { owner, places, wants }, known)) {
          await folder.touch()
          yield { ...batch, cursor: stored, estimate: { left, secondsLeft: 0 } }
        }
        yield { releases: [], cursor: { commit: cloned, places } }
      } finally {
        await folder.remove()
      }
    },
    get requests() {
      return requests
    },
  }
}

/**
 * Parses the location of a repository. Throws `invalid_request` for a text that git would interpret as an option,
 * another transport, or a program to run.
 */
function parseRepository(location: string): Repository {
  const refuse = () => {
    const detail = `${hidePassword(location).slice(0, 100)} is not a repository. Pass an https, http or ssh URL, user@host:path, or a path.`
    return new RegistryError('invalid_request', detail)
  }
  if (location.length > locationCharactersMax || location.startsWith('-') || /\p{Cc}/u.test(location)) throw refuse()
  if (/^(?:https?|ssh):\/\/[^-/]/i.test(location)) return { address: location, isLocal: false }
  if (/^file:\/\//i.test(location)) return toLocal(fileURLToPath(location))
  if (/^[a-z]+:/i.test(location) && !isAbsolute(location)) throw refuse()
  if (/^[\w.-]+@[\w][\w.-]*:(?!\/\/)/.test(location)) return { address: location, isLocal: false }
  if (location.includes('::')) throw refuse()
  return toLocal(location)
}

/** A repository on this machine. Its path becomes a URL, because git would hard-link files of a path into the clone. */
function toLocal(path: string): Repository {
  return { address: pathToFileURL(resolve(path)).href, isLocal: true }
}

async function readGitHead({ address, isLocal }: Repository, options: GitSourceOptions): Promise<string> {
  const output = await runGit(['ls-remote', '--', address, 'HEAD'], { ...toGitOptions(options), isLocal })
  const [, commit] = /^([0-9a-f]{40,64})\tHEAD$/m.exec(output.toString()) ?? []
  if (commit === undefined)
    throw new RegistryError('upstream_failed', `${hidePassword(options.location)} has no commits, or no HEAD.`)
  return commit
}

async function fetchTree({ address, isLocal }: Repository, folder: string, options: GitSourceOptions) {
  const git: GitOptions = { ...toGitOptions(options), folder, isLocal }
  const flags = ['--bare', '--depth=1', '--single-branch', '--no-tags', '--template=', '--quiet']
  await runGit(['clone', ...flags, '--', address, folder], { ...git, folderBytesMax: repositoryBytesMax })
  const head = await runGit(['log', '-1', '--format=%H %ct', 'HEAD'], git)
  const [cloned = '', seconds] = head.toString().trim().split(' ')
  const listing = await runGit(['ls-tree', '-r', '-z', '-l', '--full-tree', cloned], git)
  const tree: SkillTree<BlobFile> = {
    entries: await readSmallBlobs(parseListing(listing.toString()), git),
    rootName:
      options.location
        .replace(/\/+$|\.git\/?$/g, '')
        .split(/[/:]/)
        .at(-1) ?? '',
    // Authors choose the date of a commit. It is limited to now, because a future date would come first in every list.
    publishedAt: Math.min(Number(seconds) * 1000, options.now()),
    ...(/^https?:\/\/[^@]*$/.test(address) && { repository: address.replace(/\.git$/, '') }),
    read: (files) => readGitBlobs(files, git),
  }
  return { tree, cloned }
}

/** Parses entries `mode type sha size<tab>path`, ended by NUL. Modes: 100... file, 120000 link, 160000 submodule. */
function parseListing(text: string): BlobFile[] {
  const lines = text.split('\0')
  if (lines.length > entriesMax)
    throw new RegistryError('upstream_failed', `The repository has more than ${entriesMax} files.`)
  return lines.flatMap((line) => {
    const [, mode, sha, size, path] = /^(\d{6}) \w+ ([0-9a-f]{40,64}) +(\d+|-)\t(.*)$/s.exec(line) ?? []
    if (mode === undefined || sha === undefined || path === undefined) return []
    const file: BlobFile = { sha, size: size === '-' ? 0 : Number(size), path, ...readGitMode(mode) }
    return [path.includes('\uFFFD') ? { ...file, problem: notUtf8 } : file]
  })
}

function readGitMode(mode: string): Pick<BlobFile, 'kind' | 'executable'> {
  if (mode === '120000') return { kind: 'link' }
  return mode.startsWith('100') ? { executable: isExecutableMode(Number.parseInt(mode, 8)) } : { kind: 'other' }
}

/**
 * Reads small blobs: those of links, which contain the target, and each `.gitattributes` that a node may have
 * generated.
 */
async function readSmallBlobs(files: readonly BlobFile[], git: GitOptions): Promise<BlobFile[]> {
  const contents = new Map<BlobFile, Uint8Array>()
  const small = files.filter((file) =>
    file.kind === 'link' ? file.size <= targetBytesMax : file.kind === undefined && mayBeGitAttributes(file),
  )
  for (let i = 0; i < small.length; i += blobsPerRead) {
    const batch = small.slice(i, i + blobsPerRead)
    for (const [at, bytes] of (await readGitBlobs(batch, git)).entries()) contents.set(batch[at]!, bytes)
  }
  return files.map((file) => {
    const bytes = contents.get(file)
    if (file.kind === 'link') return { ...file, target: bytes && Buffer.from(bytes).toString(), size: 0 }
    return bytes ? { ...file, bytes } : file
  })
}

/**
 * Reads files by `git cat-file --batch`. Its output has for each file `sha type size`, a newline, the bytes, and
 * another newline.
 */
async function readGitBlobs(files: readonly BlobFile[], git: GitOptions): Promise<Uint8Array[]> {
  const input = files.map(({ sha }) => `${sha}\n`).join('')
  const outputBytesMax = limits.versionBytesMax + files.length * 200
  const output = await runGit(['cat-file', '--batch'], { ...git, input, outputBytesMax })
  const blobs: Uint8Array[] = []
  let at = 0
  for (const { sha, size, path } of files) {
    const header = `${sha} blob ${size}\n`
    if (output.toString('latin1', at, at + header.length) !== header) {
      throw new RegistryError('upstream_failed', `The content of ${path} is missing from the repository.`)
    }
    at += header.length
    blobs.push(new Uint8Array(output.subarray(at, at + size)))
    at += size + 1
  }
  return blobs
}

function toGitOptions({ program, signal }: GitSourceOptions): GitOptions {
  return { ...(program !== undefined && { program }), ...(signal && { signal }) }
}

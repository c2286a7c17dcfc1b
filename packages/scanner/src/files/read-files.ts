import { findGitProblems } from '@skillstead/skill-format/archives'
import { inspectBytes, type BinaryFile } from './binary.ts'
import type { EngineRuleId } from '../rules/engine-rules.ts'
import type { ScanFile } from './scan-file.ts'
import { UnpackBudget } from './unpack.ts'

/** Maximum depth of nested archives; a tar in a gzip counts as two. */
const archivesDepthMax = 3

/** A text of a file. A file has several texts if its bytes have several readings, or if it is an archive. */
export interface TextFile {
  readonly path: string
  readonly text: string
  /** Rules of the engine that the bytes of the file match. */
  readonly found: readonly EngineRuleId[]
  /** The file of the skill that contains the text. */
  readonly of: { readonly path: string }
}

/** Receives the path of a part that is not scanned, and the reason as a sentence. */
type OnCut = (path: string, reason?: string) => void

/** Returns all texts of the files of a skill, at least one of each; unreadable files do not affect the others. */
export function readTextFiles(files: readonly ScanFile[], onCut: OnCut): readonly TextFile[] {
  const reader = new Reader(files, onCut)
  const inGit = new Set(findGitProblems([...reader.paths]).map(({ path }) => path))
  return files.flatMap((file) => {
    const [first, ...more] = reader.read(file)
    return [inGit.has(file.path) ? { ...first!, found: [...first!.found, 'git-folder' as const] } : first!, ...more]
  })
}

class Reader {
  readonly paths: ReadonlySet<string>
  readonly #budget = new UnpackBudget()
  readonly #onCut: OnCut

  constructor(files: readonly ScanFile[], onCut: OnCut) {
    this.paths = new Set(files.map(({ path }) => path))
    this.#onCut = onCut
  }

  read(file: ScanFile): TextFile[] {
    const { path } = file
    if ('unread' in file) this.#onCut(path, file.unread)
    if (!('bytes' in file)) return [{ path, text: 'text' in file ? file.text : '', found: [], of: file }]
    try {
      return this.#readBytes(file, archivesDepthMax)
    } catch {
      this.#onCut(path)
      return [{ path, text: '', found: [], of: file }]
    }
  }

  /** Returns at least one possible text of a file of bytes, and the files in it if it is an archive. */
  #readBytes(file: BinaryFile, depth: number): TextFile[] {
    const { path } = file
    const { texts, words = [], found, inner = [], cut } = inspectBytes(file, this.paths, this.#budget)
    if (cut) this.#onCut(path, cut)
    if (depth === 0 && inner.length > 0) this.#onCut(path, 'It is packed too many times over.')
    const unpacked = depth === 0 ? [] : inner.flatMap((each) => this.#readBytes(each, depth - 1))
    const [text = '', ...others] = texts
    return [
      { path, text, found, of: file },
      ...others.map((other) => ({ path, text: other, found: [], of: file })),
      ...words.map((each) => ({ path: `${path}!/metadata.txt`, text: each, found: [], of: file })),
      ...unpacked,
    ]
  }
}

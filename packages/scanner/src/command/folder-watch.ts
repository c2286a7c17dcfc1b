import { EventEmitter } from 'node:events'
import { watch, type FSWatcher } from 'node:fs'
import { join } from 'node:path'

/**
 * Watches folders, each without those in it, and emits `change`. The recursive mode of `fs.watch` would also watch
 * every file of `node_modules` and `.git`, which exceeds the limits of Linux.
 */
export class FolderWatch extends EventEmitter<{ change: [] }> {
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #added = new Set<string>()
  readonly #onProblem: (folder: string, problem: string) => void
  #changes = new Set<string>()

  constructor(onProblem: (folder: string, problem: string) => void) {
    super()
    this.#onProblem = onProblem
  }

  get hasChanges(): boolean {
    return this.#changes.size > 0
  }

  /** Watches a folder. Add it before it is read, so that no change is missed. */
  add(folder: string): void {
    this.#added.add(folder)
    if (this.#watchers.has(folder)) return
    try {
      const watcher = watch(folder, (_, name) => {
        this.#changes.add(name === null ? folder : join(folder, name))
        this.emit('change')
      })
      watcher.on('error', () => this.#drop(folder))
      this.#watchers.set(folder, watcher)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT') this.#onProblem(folder, `it cannot be watched: ${code}.`)
    }
  }

  /** Ends watching the folders that were not added since the last call. */
  dropOthers(): void {
    for (const folder of this.#watchers.keys()) if (!this.#added.has(folder)) this.#drop(folder)
    this.#added.clear()
  }

  /** The paths that have changed since the last call. */
  takeChanges(): readonly string[] {
    const changes = [...this.#changes]
    this.#changes = new Set()
    return changes
  }

  close(): void {
    for (const folder of this.#watchers.keys()) this.#drop(folder)
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }
}

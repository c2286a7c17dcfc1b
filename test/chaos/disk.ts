import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NodeProcess } from './node-process.ts'

/** The disk with a node's data, which a test can fill and free. */
export interface Disk {
  readonly folder: string
  /** A description of how the disk is filled. */
  readonly kind: string
  fill(node: NodeProcess): Promise<void>
  free(node: NodeProcess): Promise<void>
  remove(): void
}

const sizeMebibytes = 512

/** Mounts a small tmpfs. Without the permission to mount, `fill` limits the pages of the SQLite database. */
export function openDisk(): Disk {
  const home = mkdtempSync(join(tmpdir(), 'skillstead-chaos-'))
  const folder = join(home, 'data')
  mkdirSync(folder)
  let isMounted = false
  const remove = () => {
    process.off('exit', remove)
    if (isMounted) execFileSync('umount', ['--lazy', folder])
    isMounted = false
    rmSync(home, { recursive: true, force: true })
  }
  // Unmount the file system also when the run is aborted.
  process.once('exit', remove)
  try {
    const options = `size=${sizeMebibytes}m`
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'skillstead-chaos', folder], { stdio: 'ignore' })
    isMounted = true
  } catch {
    return {
      folder,
      kind: "SQLite's max_page_count, as this user may not mount a file system",
      fill: (node) => node.change({ isFull: true }),
      free: (node) => node.change({ isFull: false }),
      remove,
    }
  }
  const filler = join(folder, 'filler')
  return {
    folder,
    kind: `a file system of ${sizeMebibytes} MiB in memory`,
    fill: async () => fill(filler),
    free: async () => rmSync(filler, { force: true }),
    remove,
  }
}

function fill(file: string): void {
  const descriptor = openSync(file, 'a')
  try {
    for (let size = 1 << 20; size >= 512; size /= 2) {
      const block = Buffer.alloc(size)
      while (writeBlock(descriptor, block));
    }
  } finally {
    closeSync(descriptor)
  }
}

function writeBlock(descriptor: number, block: Buffer): boolean {
  try {
    return writeSync(descriptor, block) === block.length
  } catch {
    return false
  }
}

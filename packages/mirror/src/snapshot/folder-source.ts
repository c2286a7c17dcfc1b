import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import type { SnapshotSource } from '../types.ts'
import { openFolderTree } from '@skillstead/skill-format/archives'
import { readSkillTree, type Places } from './skill-folders.ts'

export interface FolderSourceOptions {
  /** A path, or a `file:` URL. */
  readonly location: string
  /** The owner of the imported skills, because folders name no owner. */
  readonly owner: string
  readonly wants: (skill: { owner: string; name: string }) => boolean
}

const StoredCursor = v.object({ places: v.record(v.string(), v.string()) })

/** Reads the skills of a folder: folders at any depth with a SKILL.md. Links are followed only within a skill. */
export function createFolderSource({ location, owner, wants }: FolderSourceOptions): SnapshotSource {
  return {
    async *list(stored, known) {
      const places = readFolderPlaces(stored)
      const folder = resolve(location.startsWith('file:') ? fileURLToPath(location) : location)
      const tree = { ...(await openFolderTree(folder)), rootName: basename(folder) }
      for await (const { left, ...batch } of readSkillTree(tree, { owner, places, wants }, known)) {
        yield { ...batch, cursor: stored, estimate: { left, secondsLeft: 0 } }
      }
      yield { releases: [], cursor: { places } }
    },
    requests: 0,
  }
}

/** The folder of each skill at the last sync. */
export function readFolderPlaces(stored: unknown): Places {
  const parsed = v.safeParse(StoredCursor, stored)
  return parsed.success ? { ...parsed.output.places } : {}
}

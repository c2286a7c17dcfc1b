import { describeEdits, readFolderState } from './folder-state.ts'
import type { LockedSkill } from './lock.ts'
import { toTargetPath } from './install-place.ts'
import type { Session } from './session.ts'

/** A folder of an installed skill, compared with the lock. */
interface TargetState {
  readonly target: string
  readonly state: 'intact' | 'edited' | 'missing'
  /** The difference, if any. */
  readonly edits?: string
}

/** An installed skill with the state of its folders. */
export interface InstalledSkill extends Omit<LockedSkill, 'targets'> {
  readonly fullName: string
  readonly targets: readonly TargetState[]
}

/** Reads the folders of installed skills. Needs no network. */
export async function listInstalled(
  session: Session,
  locked: readonly (readonly [fullName: string, LockedSkill])[],
): Promise<InstalledSkill[]> {
  const skills: InstalledSkill[] = []
  for (const [fullName, { targets, ...skill }] of locked) {
    const states: TargetState[] = []
    for (const target of targets) states.push(await readTarget(session, target, skill.digest))
    skills.push({ fullName, ...skill, targets: states })
  }
  return skills
}

async function readTarget({ place, cache }: Session, target: string, digest: string): Promise<TargetState> {
  const state = await readFolderState(toTargetPath(place, target), [digest])
  if (state.kind === 'missing') return { target, state: 'missing' }
  if (state.kind === 'version' && state.digest === digest) return { target, state: 'intact' }
  return { target, state: 'edited', edits: describeEdits(state, digest, await cache.find(digest)) ?? '' }
}

import { toOneLine, type Recalled } from '@skillstead/protocol'
import type { Arguments } from '../command/command.ts'
import type { Output } from '../terminal/output.ts'
import { describeEdits, readFolderState } from './folder-state.ts'
import { toTargetPath } from './install-place.ts'
import type { LockedSkill } from './lock.ts'
import { endWithRecall } from './recall-text.ts'
import { openSession, type Session } from './session.ts'

/** The installed skills, compared with the lock. */
export interface InstalledReport {
  readonly ok: boolean
  readonly installed: readonly InstalledSkill[]
}

/** Compares every installed file with the lock. Needs no network. Throws if nothing is installed. */
export async function verifyInstalled(given: Arguments, output: Output): Promise<InstalledReport> {
  const session = await openSession(given, output)
  const locked = Object.entries(session.lock.skills)
  if (locked.length === 0)
    throw new Error('There is no skills.lock with skills here. Pass the FILE or the NAME of a skill to verify.')
  const installed = await listInstalled(session, locked)
  return { ok: installed.every((skill) => skill.targets.every(({ state }) => state === 'intact')), installed }
}

/** The report as lines of text. */
export function showInstalledReport({ ok, installed }: InstalledReport): string[] {
  const problems = installed.flatMap(({ fullName, version, targets }) =>
    targets
      .filter(({ state }) => state !== 'intact')
      .map(
        ({ target, state, edits }) =>
          `  ${target}, ${fullName}@${version}, ${toOneLine(edits ? `${state}: ${edits}` : `is ${state}`)}.`,
      ),
  )
  const count =
    installed.length === 1 ? 'The installed skill matches' : `All ${installed.length} installed skills match`
  const warnings = installed.flatMap(({ fullName, version, recalled }) =>
    recalled ? [`Warning: ${fullName}@${version} was ${endWithRecall(recalled)} Stop using it.`] : [],
  )
  if (ok) return [`${count} skills.lock, byte for byte.`, ...warnings]
  return [
    'The installed skills do not match skills.lock:',
    ...problems,
    ...warnings,
    'Run `skillstead install` to restore missing files, and with --force also edited ones.',
  ]
}

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
  /** The recall of the version that its registry reported last. */
  readonly recalled?: Recalled | undefined
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
    const recalled = session.recalls.find({ fullName, ...skill })
    skills.push({ fullName, ...skill, targets: states, ...(recalled && { recalled }) })
  }
  return skills
}

async function readTarget({ place, cache }: Session, target: string, digest: string): Promise<TargetState> {
  const state = await readFolderState(toTargetPath(place, target), [digest], cache)
  if (state.kind === 'missing') return { target, state: 'missing' }
  if (state.kind === 'version' && state.digest === digest) return { target, state: 'intact' }
  return { target, state: 'edited', edits: describeEdits(state, digest, await cache.find(digest)) ?? '' }
}

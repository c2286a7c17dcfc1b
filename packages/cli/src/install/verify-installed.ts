import type { Arguments } from '../command/command.ts'
import { toOneLine, type Output } from '../terminal/output.ts'
import { listInstalled, type InstalledSkill } from './installed-state.ts'
import { openSession } from './session.ts'

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
  if (ok) return [`${count} skills.lock, byte for byte.`]
  return [
    'The installed skills do not match skills.lock:',
    ...problems,
    'Run `skillstead install` to restore missing files, and with --force also edited ones.',
  ]
}

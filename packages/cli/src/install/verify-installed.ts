import type { Arguments } from '../command.ts'
import { toOneLine, type Output } from '../output.ts'
import { listInstalled, type InstalledSkill } from './installed-state.ts'
import { openSession } from './session.ts'

/** What is installed against the lock. */
export interface InstalledReport {
  readonly ok: boolean
  readonly installed: readonly InstalledSkill[]
}

/** Compares every installed file with what the lock says, without a network. Throws where nothing is installed. */
export async function verifyInstalled(given: Arguments, output: Output): Promise<InstalledReport> {
  const session = await openSession(given, output)
  const locked = Object.entries(session.lock.skills)
  if (locked.length === 0)
    throw new Error(
      'There is no skills.lock here that names skills. Say what to verify: a FILE or the NAME of a skill.',
    )
  const installed = await listInstalled(session, locked)
  return { ok: installed.every((skill) => skill.targets.every(({ state }) => state === 'intact')), installed }
}

/** The report in lines. */
export function showInstalledReport({ ok, installed }: InstalledReport): string[] {
  const problems = installed.flatMap(({ fullName, version, targets }) =>
    targets
      .filter(({ state }) => state !== 'intact')
      .map(
        ({ target, state, edits }) =>
          `  ${target}, ${fullName}@${version}, ${toOneLine(edits ? `${state}: ${edits}` : `is ${state}`)}.`,
      ),
  )
  const count = installed.length === 1 ? 'The installed skill is' : `All ${installed.length} installed skills are`
  if (ok) return [`${count} what skills.lock says, to the byte.`]
  return [
    'What is installed is not what skills.lock says:',
    ...problems,
    'skillstead install puts back what is missing; with --force, also what was edited.',
  ]
}

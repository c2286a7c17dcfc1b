import { recordAudit, type Registry, systemCaller, type Tell } from '@skillstead/core/internal'
import { backupsCheck } from './check-backups.ts'
import { contentsCheck } from './check-contents.ts'
import { countersCheck } from './check-counters.ts'
import { databaseCheck } from './check-database.ts'
import { documentsCheck } from './check-documents.ts'
import { entriesCheck } from './check-entries.ts'
import { Faults, restoreAdvice, type Check, type Finding } from './finding.ts'
import { toCheck } from './extension-check.ts'
import { namesCheck } from './check-names.ts'
import { outboxCheck } from './check-outbox.ts'
import {
  blobsCheck,
  diskCheck,
  logCheck,
  quickDatabaseCheck,
  reputationCheck,
  scansCheck,
  searchCheck,
} from './quick-checks.ts'
import { sketchesCheck } from './check-sketches.ts'
import { textCheck } from './check-text.ts'
import { versionsCheck } from './check-versions.ts'

const quickChecks: readonly Check[] = [
  quickDatabaseCheck,
  diskCheck,
  blobsCheck,
  searchCheck,
  logCheck,
  scansCheck,
  reputationCheck,
  outboxCheck,
]

/** Everything that is stored against everything that it follows from. */
const deepChecks: readonly Check[] = [
  databaseCheck,
  diskCheck,
  blobsCheck,
  contentsCheck,
  versionsCheck,
  logCheck,
  entriesCheck,
  namesCheck,
  documentsCheck,
  textCheck,
  sketchesCheck,
  countersCheck,
  scansCheck,
  reputationCheck,
  outboxCheck,
]

interface CheckOptions {
  /** Reads everything that is stored, and computes anew what can be; takes minutes for a large registry. */
  readonly deep?: boolean
  /** Told what is looked at, and how far that is. */
  readonly tell?: Tell
}

/** Looks at what can be wrong with a registry without changing anything. */
export async function checkRegistry(registry: Registry, options: CheckOptions = {}): Promise<Finding[]> {
  const { deep = false, tell = () => {} } = options
  const findings: Finding[] = []
  const extensionChecks = registry.extensions.flatMap(({ checks = [] }) => checks.map(toCheck))
  for (const check of deep ? [...deepChecks, ...extensionChecks, backupsCheck] : quickChecks) {
    findings.push(await runCheck(check, registry, (line) => tell(`${check.name}: ${line}`)))
  }
  return findings
}

/**
 * What a look finds, and a second one finds again: a node that goes on meanwhile may change something between two rows
 * that are compared.
 */
async function runCheck(check: Check, registry: Registry, tell: Tell): Promise<Finding> {
  const faults = new Faults()
  const found = await look(check, registry, tell, faults)
  if (found.ok) return found
  return look(check, registry, tell, faults.isEmpty ? new Faults() : new Faults(faults))
}

/** A look that breaks off over what it looks at is a finding too, and the next one goes on. */
async function look(check: Check, registry: Registry, tell: Tell, faults: Faults): Promise<Finding> {
  try {
    return { name: check.name, ...(await check.run(registry, tell, faults)) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const repairable = check.repair ? { repairable: true as const } : {}
    return { name: check.name, ok: false, detail: `It cannot be read: ${reason}. ${restoreAdvice}`, ...repairable }
  }
}

/** Puts right those findings of {@link checkRegistry} that are `repairable`: what they are about is computed anew. */
export async function repairRegistry(registry: Registry, findings: readonly Finding[]): Promise<void> {
  const wanted = new Set(findings.filter(({ ok, repairable }) => !ok && repairable).map(({ name }) => name))
  const checks = [...deepChecks, ...quickChecks].filter(({ name, repair }) => repair && wanted.has(name))
  for (const [name, check] of new Map(checks.map((one) => [one.name, one]))) {
    await check.repair!(registry)
    if (name !== 'reputation') await note(registry, name)
  }
}

function note({ database, clock }: Registry, subject: string): Promise<void> {
  return database.writer.write((trx) =>
    recordAudit(trx, { caller: systemCaller, action: 'doctor.repair', subject, at: clock.now() }),
  )
}

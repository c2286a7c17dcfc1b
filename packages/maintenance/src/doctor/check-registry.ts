import { toErrorText } from '@skillstead/protocol'
import { type Registry, systemCaller } from '@skillstead/core'
import { type CatalogueContext, partsOf, recordAudit, type Report } from '@skillstead/core/internal'
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
  keysCheck,
  logCheck,
  quickDatabaseCheck,
  reputationCheck,
  scansCheck,
  searchCheck,
} from './quick-checks.ts'
import { sketchesCheck } from './check-sketches.ts'
import { termsCheck } from './check-terms.ts'
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
  keysCheck,
  outboxCheck,
]

/** Compares everything stored with the data it is derived from. */
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
  termsCheck,
  textCheck,
  sketchesCheck,
  countersCheck,
  scansCheck,
  reputationCheck,
  keysCheck,
  outboxCheck,
]

interface CheckOptions {
  /** Read and verify all stored data. Takes minutes for a large registry. */
  readonly deep?: boolean
  /** Called with the name and progress of each check. */
  readonly report?: Report
}

/** Checks a registry without changing anything. */
export async function checkRegistry(registry: Registry, options: CheckOptions = {}): Promise<Finding[]> {
  const { deep = false, report = () => {} } = options
  const findings: Finding[] = []
  const context = partsOf(registry)
  const extensionChecks = context.extensions.flatMap(({ checks = [] }) => checks.map(toCheck))
  for (const check of deep ? [...deepChecks, ...extensionChecks, backupsCheck] : quickChecks) {
    findings.push(await runCheck(check, context, (line) => report(`${check.name}: ${line}`)))
  }
  return findings
}

/** Reports only faults that a second run confirms: a running node may change rows between two reads of a comparison. */
async function runCheck(check: Check, context: CatalogueContext, report: Report): Promise<Finding> {
  const faults = new Faults()
  const found = await attemptCheck(check, context, report, faults)
  if (found.ok) return found
  return attemptCheck(check, context, report, faults.isEmpty ? new Faults() : new Faults(faults))
}

/** Runs a check. A check that throws is reported as a finding, and the next check runs. */
async function attemptCheck(check: Check, context: CatalogueContext, report: Report, faults: Faults): Promise<Finding> {
  try {
    return { name: check.name, ...(await check.run(context, report, faults)) }
  } catch (error) {
    const reason = toErrorText(error)
    const repairable = check.repair ? { repairable: true as const } : {}
    return { name: check.name, ok: false, detail: `The check failed: ${reason}. ${restoreAdvice}`, ...repairable }
  }
}

/** Repairs the findings of {@link checkRegistry} that are `repairable`, by rebuilding the derived data. */
export async function repairRegistry(registry: Registry, findings: readonly Finding[]): Promise<void> {
  const context = partsOf(registry)
  const wanted = new Set(findings.filter(({ ok, repairable }) => !ok && repairable).map(({ name }) => name))
  const checks = [...deepChecks, ...quickChecks].filter(({ name, repair }) => repair && wanted.has(name))
  for (const [name, check] of new Map(checks.map((one) => [one.name, one]))) {
    await check.repair!(context)
    if (name !== 'reputation') await auditCheck(context, name)
  }
}

function auditCheck({ database, clock }: CatalogueContext, subject: string): Promise<void> {
  return database.writer.write((trx) =>
    recordAudit(trx, { caller: systemCaller, action: 'doctor.repair', subject, at: clock.now() }),
  )
}

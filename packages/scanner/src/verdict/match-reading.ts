import type { CodeRule, FactsOf } from '../rules/load-rules.ts'
import { isToStranger } from '../rules/issuers.ts'
import { findSecretStore } from '../code/known-places.ts'
import type { CodeFact, CodeReading } from '../code/reading.ts'

/** A position in code to which a rule applies, and the values that reach it, as far as they are known. */
interface Found extends Pick<CodeFact, 'start' | 'end'> {
  readonly sources: readonly string[]
}

/** Finds the facts in code at which a rule applies. A rule about a flow applies at the fact that the flow reaches. */
export function matchReading(rule: CodeRule, { facts, flows }: CodeReading): Found[] {
  const { from } = rule
  if (!from) return facts.filter((fact) => isMeant(fact, rule.to)).map((fact) => ({ ...fact, sources: [] }))
  const found = flows.filter((flow) => isMeant(flow.from, from) && isMeant(flow.to, rule.to) && isStrange(rule, flow))
  return Array.from(
    Map.groupBy(found, ({ to }) => to),
    ([to, all]) => ({
      ...to,
      sources: all.map((flow) => flow.from.value ?? ''),
    }),
  )
}

/** Maximum characters of a value to match, because expressions of added rules are only fast on short texts. */
const valueCharactersMax = 2048

function isMeant({ kind, value = '' }: CodeFact, { kinds, value: wanted, except }: FactsOf): boolean {
  const text = value.slice(0, valueCharactersMax)
  return kinds.includes(kind) && (wanted?.test(text) ?? true) && !except?.test(text)
}

/** Whether data flows where it does not belong: a stored secret may go to its own service, other data by the rule. */
function isStrange(rule: CodeRule, { from, to }: CodeReading['flows'][number]): boolean {
  if (from.kind === 'secret-read') return !findSecretStore(from.value ?? '')?.hosts?.test(toAddressHost(to.value ?? ''))
  return !rule.toStranger || isToStranger(from.value ?? '', to.value ?? '')
}

function toAddressHost(address: string): string {
  return address
    .replace(/^\w+:\/\//, '')
    .split(/[/:?#]/, 1)[0]!
    .toLowerCase()
}

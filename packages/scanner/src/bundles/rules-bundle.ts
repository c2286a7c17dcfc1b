import { createHash } from 'node:crypto'
import { verifyNote } from '@skillstead/client/verify'
import { firstIssueOnly, parseForeignJson, toOneLine } from '@skillstead/protocol'
import * as v from 'valibot'
import { checkRules } from './check-rules.ts'
import type { AddedRules } from '../rules/added-rules.ts'
import { bundleLimits } from '../rules/bundle-limits.ts'
import { RulesDocument } from '../rules/rule-document.ts'
import { signNote } from './signing-key.ts'

/** A verified bundle of rules. */
export interface RulesBundle extends AddedRules {
  readonly release: number
  /** The date of the release, as `YYYY-MM-DD`. */
  readonly date: string
  readonly rules: RulesDocument['rules']
  /** The keys that signed the bundle, as `<name>+<hash>`. */
  readonly signers: readonly string[]
}

/**
 * Checks the rules of a document (JSON) and signs them. Returns the bundle: the document on one line, as a signed note.
 * Throws an error that names the fault.
 */
export async function signBundle(json: string, signingKey: string): Promise<string> {
  const document = parseDocument(json)
  await checkRules(document)
  // No line of the text is empty, since the signatures of a note follow an empty line.
  const note = signNote(`${JSON.stringify(document)}\n`, signingKey)
  requireSize(note)
  return note
}

/** Verifies a bundle: that one of the keys signed it, and its rules. Throws an error that names what is wrong. */
export async function verifyBundle(note: string, keys: readonly string[]): Promise<RulesBundle> {
  requireSize(note)
  const { text, signers } = verifyNote(note, keys, 'the bundle of rules')
  const document = parseDocument(text)
  await checkRules(document)
  const { release, date, rules } = document
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return {
    id: `${release}.${digest}`,
    text,
    release,
    date,
    rules,
    signers: signers.map(({ name, hash }) => `${name}+${hash}`),
  }
}

function requireSize(note: string): void {
  if (Buffer.byteLength(note) > bundleLimits.bytesMax)
    throw new TypeError(`The bundle of rules is larger than ${bundleLimits.bytesMax / 1024} KiB.`)
}

function parseDocument(json: string): RulesDocument {
  if (json.length > bundleLimits.bytesMax) requireSize(json)
  let value: unknown
  try {
    value = parseForeignJson(json)
  } catch (cause) {
    throw new TypeError('The rules are not JSON.', { cause })
  }
  const parsed = v.safeParse(RulesDocument, value, firstIssueOnly)
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  const place = v.getDotPath(issue)
  throw new TypeError(
    `The rules are not in the form skillstead-rules/v1: ${place ? `\`${place}\`: ` : ''}${toOneLine(issue.message)}`,
  )
}

import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { type ListedVerification, toTimestamp, type Verification } from '@skillstead/protocol'
import { invalidField } from '../kernel/field-errors.ts'
import type { VerificationRow } from '../storage/tables.ts'

/** Converts a stored verification to the response for the user who requested it. */
export function toVerification(row: VerificationRow): Verification {
  return {
    id: row.id,
    method: row.method,
    status: row.status,
    token: row.token,
    instructions: toInstructions(row),
    checkedAt: row.checked_at === null ? null : toTimestamp(row.checked_at),
  }
}

/** Converts a verification for a list: with the user, the proof, and the note of the administrator or check. */
export function toListedVerification(row: VerificationRow & { username: string }): ListedVerification {
  const { username, proof, note } = row
  return { ...toVerification(row), username, proof, note, createdAt: toTimestamp(row.created_at) }
}

function toInstructions({ method, status, proof, token }: VerificationRow): string {
  if (status === 'verified') return 'Verified: nothing left to do.'
  if (status === 'rejected') return 'This verification is closed. Request a new one to try again.'
  if (method === 'manual') return 'An administrator reviews your statement and decides.'
  const place =
    method === 'github'
      ? `on a line of its own into ${proof}`
      : `into a TXT record of ${proof} or _skillstead.${proof}, or on a line of its own into ${toWellKnown(proof)}`
  return `Put ${token} ${place}. The node checks several times within two days, and at once when you repeat the request.`
}

export type ProofMethod = VerificationRow['method']

/** URL of the file in which a domain publishes the token. */
export function toWellKnown(domain: string): string {
  return `https://${domain}/.well-known/skillstead-verify.txt`
}

/**
 * Converts a proof to the canonical form in which it is stored and compared. Throws `invalid_request` about the field
 * `proof`.
 */
export function normalizeProof(method: ProofMethod, proof: string): string {
  return normalizers[method](proof)
}

const normalizers: Record<ProofMethod, (proof: string) => string> = {
  domain: normalizeDomain,
  github: normalizeGithub,
  manual: (proof) => proof.trim() || refuseProof('must state who you are and how an administrator can verify it'),
}

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const domainPattern = new RegExp(String.raw`^(?=.{4,240}$)(?:${label}\.)+(?=[a-z])${label}$`)

function normalizeDomain(proof: string): string {
  const message = 'must be a domain name such as example.com, without a scheme, a port or a path'
  if (/[\s/\\:@?#%[\]]/.test(proof)) refuseProof(message)
  const domain = domainToASCII(proof).replace(/\.$/, '')
  if (isIP(domain) !== 0 || !domainPattern.test(domain)) refuseProof(message)
  return domain
}

/** The GitHub account in a URL: only this account can publish content under the URL. */
const account = '[A-Za-z0-9][A-Za-z0-9-]{0,38}'
const step = '[A-Za-z0-9_.+~-]+'
const raw = String.raw`^https://raw\.githubusercontent\.com/${account}/${step}/refs/heads/${step}(?:/${step})+$`
const gist = String.raw`^https://gist\.githubusercontent\.com/${account}/[0-9a-f]+/raw(?:/[0-9a-f]{40}(?=/|$))?(?:/${step})?$`
const rawPattern = new RegExp(raw)
const gistPattern = new RegExp(gist)

/**
 * GitHub serves commits of a fork under the URL of the original repository, so only URLs of a branch are accepted. The
 * revision in a gist's URL is removed for the same reason.
 */
function normalizeGithub(proof: string): string {
  // A URL that the parser has to normalise (dot segments, for example) might be read differently by GitHub.
  const isPlain = URL.canParse(proof) && new URL(proof).href === proof
  if (isPlain && rawPattern.test(proof)) return proof
  if (isPlain && gistPattern.test(proof)) return proof.replace(/\/raw\/[0-9a-f]{40}(?=\/|$)/, '/raw')
  return refuseProof(
    'must be https://gist.githubusercontent.com/<account>/<gist>/raw/<file> or ' +
      'https://raw.githubusercontent.com/<account>/<repository>/refs/heads/<branch>/<file>',
  )
}

function refuseProof(message: string): never {
  throw invalidField('proof', message)
}

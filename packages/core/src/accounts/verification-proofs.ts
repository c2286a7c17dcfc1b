import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { RegistryError } from '@skillstead/protocol'
import type { VerificationRow } from '../storage/rows-trust.ts'

export type Method = VerificationRow['method']

/** A proof in the one form that it is kept and compared in; throws `invalid_request` that names `proof`. */
export function normalizeProof(method: Method, proof: string): string {
  return normalizers[method](proof)
}

/** Where the file of a domain is that holds the token. */
export function toWellKnown(domain: string): string {
  return `https://${domain}/.well-known/skillstead-verify.txt`
}

const normalizers: Record<Method, (proof: string) => string> = {
  domain: normalizeDomain,
  github: normalizeGithub,
  manual: (proof) => proof.trim() || refuse('must tell who you are and how that can be seen'),
}

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const domainPattern = new RegExp(String.raw`^(?=.{4,240}$)(?:${label}\.)+(?=[a-z])${label}$`)

function normalizeDomain(proof: string): string {
  const message = 'must be a domain name such as example.com, without a scheme, a port or a path'
  if (/[\s/\\:@?#%[\]]/.test(proof)) refuse(message)
  const domain = domainToASCII(proof).replace(/\.$/, '')
  if (isIP(domain) !== 0 || !domainPattern.test(domain)) refuse(message)
  return domain
}

/** The one part of an address that GitHub gives to nobody but the account itself. */
const account = '[A-Za-z0-9][A-Za-z0-9-]{0,38}'
const step = '[A-Za-z0-9_.+~-]+'
const raw = String.raw`^https://raw\.githubusercontent\.com/${account}/${step}/refs/heads/${step}(?:/${step})+$`
const gist = String.raw`^https://gist\.githubusercontent\.com/${account}/[0-9a-f]+/raw(?:/[0-9a-f]{40}(?=/|$))?(?:/${step})?$`
const rawPattern = new RegExp(raw)
const gistPattern = new RegExp(gist)

/**
 * Commits of a fork can be read under the address of what was forked, so only what a branch holds counts; the revision in
 * the address of a gist is left out for the same reason.
 */
function normalizeGithub(proof: string): string {
  // What the parser has to put right (dots, for one) might mean something else to others.
  const isPlain = URL.canParse(proof) && new URL(proof).href === proof
  if (isPlain && rawPattern.test(proof)) return proof
  if (isPlain && gistPattern.test(proof)) return proof.replace(/\/raw\/[0-9a-f]{40}(?=\/|$)/, '/raw')
  return refuse(
    'must be https://gist.githubusercontent.com/<account>/<gist>/raw/<file> or ' +
      'https://raw.githubusercontent.com/<account>/<repository>/refs/heads/<branch>/<file>',
  )
}

function refuse(message: string): never {
  throw new RegistryError('invalid_request', `proof ${message}.`, { errors: [{ path: 'proof', message }] })
}

import {
  type Access,
  matchesPattern,
  type MemberRole,
  type Policy,
  type PolicyRefusal,
  type Security,
} from '@skillstead/protocol'

/** The properties of a skill that a policy judges. */
export interface Submission {
  readonly name: string
  readonly license: string
  readonly category: string
  readonly keywords: readonly string[]
  readonly repository: string
  /** Whether the change makes the skill public. */
  readonly becomesPublic: boolean
  /** The roles of the publisher on the skill. */
  readonly roles: readonly MemberRole[]
  /** The version; undefined if only settings change. */
  readonly version?:
    | { readonly size: number; readonly verdict: Security['verdict']; readonly access: Access }
    | undefined
}

type Rule = (policy: Policy, submission: Submission) => string | false | undefined

/** The rules, each with the field of the policy that it reads; a rule returns why a submission breaks it. */
const rules: Readonly<Partial<Record<keyof Policy, Rule>>> = {
  verdict: ({ verdict: worst }, { version }) =>
    worst !== undefined &&
    version !== undefined &&
    (version.verdict === 'dangerous' || (version.verdict === 'caution' && worst === 'safe')) &&
    `The scan says ${version.verdict}; at most ${worst} is accepted.`,
  licenses: ({ licenses }, { license }) =>
    licenses?.every((one) => one.toLowerCase() !== license.toLowerCase()) &&
    `The licence ${license === '' ? 'is missing' : `is ${license}`}; accepted are ${licenses.join(', ') || 'none'}.`,
  withoutAccess({ withoutAccess = [] }, { version }) {
    const used = withoutAccess.filter((kind) => version !== undefined && version.access[kind].length > 0)
    return (
      used.length > 0 && `It uses ${used.map((kind) => `${kind} (${version!.access[kind].join(', ')})`).join(' and ')}.`
    )
  },
  hosts({ hosts }, { version }) {
    const others = version?.access.hosts.filter((host) => hosts?.every((pattern) => !matchesPattern(pattern, host)))
    return (
      hosts &&
      others &&
      others.length > 0 &&
      `It contacts ${others.join(', ')}; accepted are ${hosts.join(', ') || 'none'}.`
    )
  },
  requires({ requires = [] }, submission) {
    const missing = requires.filter((field) => submission[field].length === 0)
    return missing.length > 0 && `It has no ${missing.join(', ')}.`
  },
  sizeMax: ({ sizeMax }, { version }) =>
    sizeMax !== undefined &&
    version !== undefined &&
    version.size > sizeMax &&
    `It has ${version.size} bytes; at most ${sizeMax} are accepted.`,
  namePattern: ({ namePattern }, { name }) =>
    namePattern !== undefined &&
    !matchesPattern(namePattern, name) &&
    `The name ${name} does not match ${namePattern}.`,
  publicBy: ({ publicBy }, { becomesPublic, roles }) =>
    becomesPublic &&
    publicBy?.every((role) => !roles.includes(role)) &&
    `Only ${publicBy.join(' or ') || 'no role'} may make a skill public.`,
}

/** Every rule of a policy that a submission breaks. */
export function findRefusals(policy: Policy, submission: Submission): PolicyRefusal[] {
  return Object.entries(rules).flatMap(([field, rule]) => {
    const message = rule(policy, submission)
    return message ? [{ path: `policy.${field}`, message }] : []
  })
}

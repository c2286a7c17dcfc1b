import type { Content, SkillDetails } from '@skillstead/protocol'
import { addresses } from '../../addresses.ts'
import { toAddress } from '../../data/use-address.ts'

/** The skill of the page, in the version that is looked at. */
export interface ShownSkill {
  readonly skill: SkillDetails
  readonly name: string
  /** Empty where there is none to look at: a stub, or all are yanked. */
  readonly version: string
  /** The version that the address names; what links lead on to. */
  readonly asked: string | undefined
}

/** The name without its owner, which is also that of its folder. */
export function toShortName({ fullName }: Pick<SkillDetails, 'fullName'>): string {
  return fullName.slice(fullName.indexOf('/') + 1)
}

/** The address of a part of the page, of the same version. */
export function toTab({ name, asked }: ShownSkill, tab: string, fields: Record<string, string | undefined> = {}) {
  return toAddress(addresses.skill(name, tab), { version: asked, ...fields })
}

/** Where the node serves a version's archive, or one of its files. */
export function toApiAddress({ name, version }: ShownSkill, path: string): string {
  return toAddress(`/api/v1/skills/${encodeURIComponent(name)}/${path}`, { version })
}

export function toFileAddress(shown: ShownSkill, path: string): string {
  return toApiAddress(shown, `files/${path.split('/').map(encodeURIComponent).join('/')}`)
}

export function toBytes({ body }: Content): Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return new Uint8Array(body)
  throw new TypeError('The client gives bytes.')
}

/** Null for what is no text: a NUL, or not UTF-8. */
export function toText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
